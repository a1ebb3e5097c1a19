//! Every cell of create × write × read version × PUT and PATCH × value, zero, null and absence, for every field and policy of
//! the examples, of catalogs that have every type, and of ARO-HCP's NodePool where it is there. What must come of each is told
//! by an oracle that knows the schemas and the history, and asks no lens.

mod hooks;
mod json;
mod oracle;
mod run;
mod sample;
#[path = "../../../wheelwright/tests/shared/mod.rs"]
mod shared;
mod subject;
#[path = "../repository/unchecked.rs"]
mod unchecked;

use std::path::Path;

use crate::{
    oracle::{INPUTS, Input, METHODS},
    run::Counts,
    shared::aro_hcp,
    subject::{POLICIES, Policies, example, own, subject},
};

/// Tries the cells of a kind, of documents that every n-th version has created; under other policies than the usual ones, a third
/// as many, unless all are wanted. Under another null policy only nulls and absence are written: values are none of its business.
async fn counted(folder: &Path, kind: &str, policies: &[Policies], every: usize) -> Counts {
    let mut counts = Counts::default();
    for policies in policies {
        let subject = subject(folder, kind, *policies);
        let inputs = if policies.null == "reset" { &INPUTS[..] } else { &[Input::Null, Input::Absent] };
        let writes = METHODS.iter().flat_map(|method| inputs.iter().map(|input| (*method, *input)));
        let is_usual = *policies == POLICIES[0];
        if is_usual {
            counts.append(subject.try_creates().await);
        }
        let every = if is_usual || is_full() { every } else { every * 3 };
        // The newest first: its documents have something that older versions cannot say.
        let mut creators: Vec<_> = subject.versions().collect();
        creators.reverse();
        let creators: Vec<_> = creators.into_iter().step_by(every).collect();
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
const POLICY_CELLS: [&str; 16] = [
    "olderWrite preserve: done",
    "olderWrite reset: done",
    "olderWrite reject: done",
    "olderWrite reject: refused: olderWrite",
    "null reset: done",
    "null reject: refused: NullRefused",
    "null clear: done",
    "null clear: refused: WouldRefill",
    "null zero: done",
    "JsonPatch, null reject: done",
    "JsonPatch, null clear: done",
    "JsonPatch, null zero: done",
    "JsonPatch, olderWrite reset: done",
    "JsonPatch, olderWrite reject: done",
    "JsonPatch, olderWrite reject: refused: olderWrite",
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
async fn ranges_of_which_parts_are_said_otherwise() {
    let counts = counted(&own("ranges"), "Range", &POLICIES, 1).await;
    let may_not_be = |sort: &&str| !matches!(*sort, "null clear: refused: WouldRefill");
    has(&counts, &POLICY_CELLS.into_iter().filter(may_not_be).collect::<Vec<_>>());
    has(&counts, &["reset: of a part that came later", "reset: what is said otherwise stays"]);
}

#[tokio::test]
async fn orders() {
    has(&counted(&example("orders"), "Order", &POLICIES, 1).await, &POLICY_CELLS);
}

#[tokio::test]
async fn node_pools() {
    has(&counted(&example("openapi-defaults"), "NodePool", &POLICIES, 1).await, &POLICY_CELLS);
}

#[tokio::test]
async fn databases_of_a_front_and_a_back_end() {
    has(&counted(&example("front-and-back"), "Database", &POLICIES, 1).await, &POLICY_CELLS);
}

#[tokio::test]
async fn clusters_and_node_pools_of_four_versions() {
    has(&counted(&example("node-pools"), "NodePool", &POLICIES, 1).await, &POLICY_CELLS);
    has(&counted(&example("node-pools"), "Cluster", &POLICIES, 1).await, &["olderWrite preserve: done"]);
}

/// No version of theirs has a field that an older one cannot say, and nothing is filled in.
#[tokio::test]
async fn persons_whose_addresses_a_hook_splits() {
    let counts = counted(&example("hooks"), "Person", &POLICIES, 1).await;
    let may_not_be = ["olderWrite reject: refused: olderWrite", "null clear: refused: WouldRefill"];
    let applies = |sort: &&str| may_not_be.iter().all(|other| !sort.ends_with(other));
    has(&counts, &POLICY_CELLS.into_iter().filter(applies).collect::<Vec<_>>());
    has(&counts, &["hook: both spellings", "hook: no counterpart"]);
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
    let Some(folder) = aro_hcp("cells") else { return };
    let policies = if is_full() { &POLICIES[..] } else { &POLICIES[..1] };
    has(&counted(&folder, "NodePool", policies, 1).await, &["olderWrite preserve: refused: NotWritable"]);
}
