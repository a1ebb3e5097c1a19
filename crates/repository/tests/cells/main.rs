//! Every cell of create × write × read version × PUT and PATCH × value, zero, null and absence, for every field and policy of
//! the examples, of catalogs that have every type, and of ARO-HCP's NodePool where it is there. What must come of each is told
//! by an oracle that knows the schemas and the history, and asks no lens.

mod json;
mod oracle;
mod run;
mod sample;
mod subject;

use std::path::Path;

use crate::{
    oracle::{Input, Method},
    run::{Counts, INPUTS},
    subject::{POLICIES, Policies, aro_hcp, example, own, subject},
};

/// Tries the cells of a kind, of documents that every n-th version has created. A null policy speaks of nulls in merge
/// patches alone, and what becomes of fields that a version cannot say does not depend on how a patch is spelled.
async fn counted(folder: &Path, kind: &str, policies: &[Policies], every: usize) -> Counts {
    let mut counts = Counts::default();
    for policies in policies {
        let subject = subject(folder, kind, *policies);
        let methods: &[Method] = match (policies.older_write, policies.null) {
            ("preserve", "reset") => &[Method::Put, Method::Merge, Method::JsonPatch],
            ("preserve", _) => &[Method::Merge],
            _ => &[Method::Put, Method::Merge],
        };
        let inputs = if methods.len() == 1 { &[Input::Null] } else { &INPUTS[..] };
        let writes = methods.iter().flat_map(|method| inputs.iter().map(|input| (*method, *input)));
        if *policies == POLICIES[0] {
            counts.append(subject.try_creates().await);
        }
        let creators: Vec<_> = subject.versions().step_by(every).collect();
        counts.append(subject.try_writes(&creators, &writes.collect::<Vec<_>>()).await);
    }
    tell(kind, &counts);
    counts
}

/// Whether every cell is wanted, and not only those that take seconds.
fn is_full() -> bool {
    std::env::var_os("WHEELWRIGHT_ALL_CELLS").is_some()
}

#[expect(clippy::print_stdout, reason = "how many cells there were is what a run tells")]
fn tell(kind: &str, counts: &Counts) {
    println!("{kind}: {} cells", counts.cells);
    for (sort, cells) in &counts.of {
        println!("  {cells:>8}  {sort}");
    }
}

/// What every policy must have led to, in kinds with frozen defaults and newer fields.
const POLICY_CELLS: [&str; 11] = [
    "olderWrite preserve: done",
    "olderWrite reset: done",
    "olderWrite reject: done",
    "olderWrite reject: refused: olderWrite",
    "null reset: done",
    "null reject: refused: NullRefused",
    "null clear: done",
    "null clear: refused: WouldRefill",
    "null zero: done",
    "JsonPatch Null",
    "create Zero",
];

/// A sort of cells that applies and of which there was none is a failure, and no success.
fn has(counts: &Counts, sorts: &[&str]) {
    for sort in sorts {
        assert_ne!(counts.of.get(*sort), None, "there was no {sort}");
    }
}

#[tokio::test]
async fn things_with_fields_of_every_type() {
    let counts = counted(&own("things"), "Thing", &POLICIES, 1).await;
    has(&counts, &POLICY_CELLS);
    has(
        &counts,
        &[
            "Object",
            "Map",
            "List",
            "Scalar(Any)",
            "Scalar(Boolean)",
            "Scalar(Integer)",
            "Scalar(IntOrString)",
            "Scalar(Number)",
            "Scalar(String)",
        ],
    );
}

#[tokio::test]
async fn pools_of_which_the_service_writes_a_part() {
    let counts = counted(&own("pools"), "Pool", &POLICIES, 1).await;
    has(&counts, &POLICY_CELLS);
    has(&counts, &["olderWrite preserve: refused: NotWritable"]);
}

#[tokio::test]
async fn orders() {
    has(&counted(&example("orders"), "Order", &POLICIES, 1).await, &POLICY_CELLS);
}

#[tokio::test]
async fn node_pools() {
    has(&counted(&example("nodepools"), "NodePool", &POLICIES, 1).await, &POLICY_CELLS);
}

/// Fourteen versions are half a million cells: all of them in `cargo xtask test --full`, else those of documents that every
/// fifth version has created.
#[tokio::test]
async fn parties() {
    let (policies, every) = if is_full() { (&POLICIES[..], 1) } else { (&POLICIES[..1], 5) };
    let counts = counted(&example("crm"), "Party", policies, every).await;
    has(&counts, &["olderWrite preserve: done"]);
}

#[tokio::test]
async fn node_pools_of_aro_hcp() {
    let Some(folder) = aro_hcp() else { return };
    let policies = if is_full() { &POLICIES[..] } else { &POLICIES[..1] };
    has(&counted(&folder, "NodePool", policies, 1).await, &["olderWrite preserve: refused: NotWritable"]);
}
