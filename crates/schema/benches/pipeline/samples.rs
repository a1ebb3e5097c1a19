//! The documents to measure with.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Decode, decode, decode_json_spanned, encode};
use wheelwright_schema::{Program, Root, lower_schema};

/// A document, its schema, and what comes out.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    /// How many times as fast as `serde_json` the pipeline has to be.
    pub(crate) goal: f64,
    /// The schema has rules in CEL.
    pub(crate) has_rules: bool,
}

pub(crate) fn all() -> Vec<Sample> {
    match shared() {
        Some(folder) => {
            let kinds = ["app", "httproute"].into_iter();
            let sizes = ["small", "medium", "large"];
            kinds
                .flat_map(|kind| sizes.map(|size| (kind, size)))
                .map(|(kind, size)| {
                    let schema = read(&folder.join(format!("{kind}.schema.json")));
                    let input = read(&folder.join(format!("{kind}_{size}.json")));
                    Sample::new(format!("{kind} {size}"), &schema, input)
                })
                .collect()
        }
        None => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/pipeline/data");
            let schema = read(&folder.join("fleet.schema.json"));
            let item = read(&folder.join("member.json"));
            let sizes = [("small", 1), ("medium", 12), ("large", 240)];
            sizes.map(|(size, count)| Sample::new(format!("fleet {size}"), &schema, fleet(&item, count))).into()
        }
    }
}

impl Sample {
    fn new(name: String, schema: &[u8], input: Vec<u8>) -> Self {
        let arena = Arena::new();
        let source = decode_json_spanned(schema, &arena, &Decode::default()).expect("the schema is JSON");
        let program = Program::compile(&lower_schema(&source).item, Root::Resource);
        let output = {
            let document = decode(&input, &arena).expect("the document is JSON");
            let admitted = program.admit(document, &arena).expect("metadata is well-formed");
            assert!(admitted.errors.is_empty(), "{name}: {:?}", admitted.errors);
            encode(admitted.value)
        };
        let goal = if input.len() < 5_000 { 1.0 } else { 1.3 };
        let has_rules = schema.windows(RULES.len()).any(|part| part == RULES);
        Self { name, program, input, output, goal, has_rules }
    }
}

const RULES: &[u8] = b"x-kubernetes-validations";

fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from).join("bench");
    folder.join("app.schema.json").exists().then_some(folder)
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A resource with as many members as the size takes.
fn fleet(member: &[u8], count: usize) -> Vec<u8> {
    let member = String::from_utf8_lossy(member).trim().to_owned();
    let members: Vec<String> = (0..count).map(|number| member.replace("NUMBER", &number.to_string())).collect();
    let members = members.join(",");
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Fleet","metadata":{{"name":"all"}},"spec":{{"members":[{members}]}}}}"#
    )
    .into_bytes()
}
