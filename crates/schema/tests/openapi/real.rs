//! Real documents: what Azure Red Hat OpenShift publishes, where the shared folder is at hand.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Decode, decode_json_spanned};
use wheelwright_findings::Level;
use wheelwright_schema::{Refused, Specification, Tree};

use crate::support::admit;

/// Reads whatever is asked for.
struct Trusting;

impl Tree for Trusting {
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
        Ok(Path::new(from).with_file_name(reference).to_string_lossy().into_owned())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        fs::read(name).map_err(|error| error.to_string())
    }
}

fn documents() -> Vec<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("WHEELWRIGHT_SHARED").map_or_else(beside, PathBuf::from);
    let service =
        "real-apis/aro-hcp/api/redhatopenshift/resource-manager/Microsoft.RedHatOpenShift/hcpopenshiftclusters/preview";
    let Ok(versions) = fs::read_dir(shared.join(service)) else { return Vec::new() };
    let mut found: Vec<_> = versions.filter_map(|version| Some(version.ok()?.path().join("openapi.json"))).collect();
    found.sort();
    found
}

#[test]
fn real_documents_load_whole() {
    for path in documents() {
        let (arena, bytes) = (Arena::new(), fs::read(&path).unwrap());
        let document = decode_json_spanned(&bytes, &arena, &Decode::default()).unwrap();
        let name = path.to_string_lossy();
        let mut specification = Specification::open(&name, &document, &Trusting, &arena).unwrap();
        let (count, problems) = specification.check();
        assert!(count > 70, "{name}: {count}");
        let errors: Vec<_> = problems.iter().filter(|problem| problem.rule.level == Level::Error).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let others: Vec<_> = specification.other_files().map(|(name, _)| name.to_owned()).collect();
        assert!(others.iter().any(|name| name.ends_with("types.json")), "{others:?}");

        let pool = specification.lower("NodePool").unwrap().item;
        let text =
            r#"{"location":"x","id":"y","properties":{"platform":{"vmSize":"z","osDisk":{}},"provisioningState":"w"}}"#;
        let (value, errors, unknown) = admit(&pool, text);
        assert_eq!((errors.len(), unknown.len()), (0, 0), "{name}");
        assert!(value.contains(r#""autoRepair":true"#) && value.contains(r#""sizeGiB":64"#), "{value}");
        assert!(pool.property("id").unwrap().annotations.as_ref().unwrap().read_only);
        let (_, errors, _) =
            admit(&pool, r#"{"location":"x","properties":{"platform":{"vmSize":"z"},"version":{"id":4}}}"#);
        assert_eq!(errors, ["properties.version.id"]);

        let cluster = specification.lower("HcpOpenShiftCluster").unwrap().item;
        let (value, ..) = admit(&cluster, r#"{"properties":{"network":{}}}"#);
        assert!(value.contains(r#""podCidr":"10.128.0.0/14""#), "{value}");
        let identities = r#"{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/a/b":{},"/c":null}}}"#;
        assert!(
            admit(&cluster, identities).0.starts_with(&identities[..identities.len() - 1]),
            "null is allowed there"
        );
        let external = specification.lower("ExternalAuth").unwrap().item;
        assert_eq!(admit(&external, r#"{"properties":{"issuer":5}}"#).1[0], "properties.issuer");
    }
}
