//! What a server keeps of what it has shown is what it would show if it kept nothing, whoever writes meanwhile.

use serde_json::json;
use wheelwright_server::Limits;

use crate::{objects::server, support::Running};

const ROUNDS: usize = 25;

/// The same chances in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn limits(kept_bytes: usize) -> Limits {
    let mut limits = Limits::default();
    limits.kept_bytes = kept_bytes;
    limits
}

/// What is answered, without what differs from request to request.
async fn shown(server: &Running, path: &str) -> (u16, Vec<u8>) {
    let answered = server.send("GET", path, None).await;
    (answered.status, answered.body)
}

#[tokio::test]
async fn lists_and_objects_are_as_if_nothing_were_kept() {
    let keeping = server().await;
    // One that has no room for all of it, and one that keeps nothing.
    let (cramped, forgetful) = (keeping.beside(limits(400 << 10)).await, keeping.beside(limits(0)).await);
    let names = keeping.create_many().await;
    let mut chance = Chance(7);
    for round in 0..ROUNDS {
        let name = match chance.below(3) {
            0 => format!("other-{}", chance.below(5)),
            _ => names[chance.below(names.len())].clone(),
        };
        let namespace = ["here", "there"][usize::from(chance.below(4) == 0)];
        let (all, one) = (things("v1", namespace, ""), things("v1", namespace, &name));
        let writer = [&keeping, &cramped, &forgetful][chance.below(3)];
        // Some of them do nothing: there is such an object, or there is none.
        match chance.below(4) {
            0 => drop(writer.send("DELETE", &one, None).await),
            1 => drop(
                writer.send("POST", &all, Some(json!({"metadata": {"name": name}, "spec": {"note": "new"}}))).await,
            ),
            2 => drop(writer.send("PATCH", &one, Some(json!({"spec": {"note": format!("{round}")}}))).await),
            _ => {}
        }
        for version in ["v1", "v1beta1"] {
            let everywhere = format!("/apis/lab.example.com/{version}/things");
            for path in [
                everywhere,
                things(version, "here", ""),
                things(version, "there", ""),
                things(version, namespace, &name),
            ] {
                let expected = shown(&forgetful, &path).await;
                assert_eq!(shown(&keeping, &path).await, expected, "{path} in round {round}");
                assert_eq!(shown(&cramped, &path).await, expected, "{path} in round {round}");
            }
        }
    }
}

fn things(version: &str, namespace: &str, name: &str) -> String {
    let slash = if name.is_empty() { "" } else { "/" };
    format!("/apis/lab.example.com/{version}/namespaces/{namespace}/things{slash}{name}")
}
