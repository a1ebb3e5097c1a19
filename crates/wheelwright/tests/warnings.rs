//! `convert` warns of what the other version cannot show, and of nothing else, over the examples.

#[path = "../../evolve/tests/support/lost.rs"]
mod lost;
mod shared;

use std::path::Path;

use lost::Compared;
use shared::aro_hcp;
use wheelwright::{
    Console, Kinds,
    catalog::OnDisk,
    document::Arena,
    evolve::{
        laws::{Generator, Random},
        overlaid_schema,
    },
};

/// How many documents a version.
const DOCUMENTS: usize = 100;

#[test]
#[expect(clippy::print_stdout, reason = "says how many cases there were")]
fn warnings_of_conversions_name_what_is_lost_and_nothing_else() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths = ["crm", "node-pools", "openapi-defaults", "orders"].map(|name| examples.join(name)).to_vec();
    paths.extend(aro_hcp("warnings"));
    let (mut compared, mut random, mut wrong) = (Compared::default(), Random::new(5), Vec::new());
    for path in paths {
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut data, &mut conversation);
        let loaded = Kinds::load(&OnDisk::default(), &[path], &mut console).expect("a console of our own");
        let kinds = loaded.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&conversation)));
        for (kind, declaration) in kinds.iter().zip(kinds.declarations()) {
            for from in kind.history().indexes() {
                let name = &kind.history().version(from).name;
                let Some(declared) = declaration.version(name.as_str()) else { continue };
                let step = declaration.steps.iter().find(|step| step.version.item == declared.name);
                let schema = step.map(|step| overlaid_schema(&declared.schema, step));
                let generator = Generator::new(schema.as_deref().unwrap_or(&declared.schema), declared.root);
                let generator = generator.of_kind(kind.api_version(from).unwrap_or_default(), kind.name());
                for _ in 0..DOCUMENTS {
                    let arena = Arena::new();
                    let document = generator.generate(&mut random, &arena);
                    for to in kind.history().indexes() {
                        wrong.extend(compared.add(kind, (from, to), document).err());
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared:?}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared.warnings > 0 && compared.losses > 0, "{compared:?}");
    println!("{compared:?}");
}
