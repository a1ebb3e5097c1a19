//! The exchanges in `docs/arm.md`, made one after the other.

use std::{fs, path::Path};

use serde_json::Value as Json;

use crate::{catalogs::shop, client::Served};

#[tokio::test]
async fn the_exchanges_on_the_page_happen() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/arm.md");
    let page = fs::read_to_string(page).unwrap();
    let served = Served::new(shop().served).await;
    let mut made = 0;
    for block in page.split("```http\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        exchange(&served, block).await;
        made += 1;
    }
    assert!(made >= 8, "{made} exchanges");
}

/// A request and what its answer must have, with empty lines between heads and bodies.
async fn exchange(served: &Served, block: &str) {
    let mut parts: Vec<&str> = block.trim().split("\n\n").collect();
    let mut request = parts.remove(0).lines();
    let (method, uri) = request.next().and_then(|line| line.split_once(' ')).expect("a request");
    let headers: Vec<(&str, &str)> = request.map(|line| line.split_once(": ").expect("a header")).collect();
    let body = if parts[0].starts_with('{') { parts.remove(0) } else { "" };
    let mut answer = parts.remove(0).lines();
    let status: u16 = answer.next().and_then(|line| line.parse().ok()).expect("a status");
    let answered = served.send(method, uri, &headers, body.as_bytes()).await;
    let said = String::from_utf8_lossy(&answered.body);
    assert_eq!(answered.status, status, "{block}\n{said}");
    for (name, value) in answer.map(|line| line.split_once(": ").expect("a header")) {
        assert_eq!(answered.header(name), Some(value), "{block}");
    }
    if let [wanted] = parts[..] {
        let [wanted, said]: [Json; 2] = [wanted, &*said].map(|text| serde_json::from_str(text).expect("JSON"));
        assert!(has(&said, &wanted), "{block}\n{said}");
    }
}

/// Whether all of one value is in another.
fn has(said: &Json, wanted: &Json) -> bool {
    match (said, wanted) {
        (Json::Object(said), Json::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| said.get(key).is_some_and(|said| has(said, wanted)))
        }
        (Json::Array(said), Json::Array(wanted)) => {
            said.len() == wanted.len() && said.iter().zip(wanted).all(|(said, wanted)| has(said, wanted))
        }
        _ => said == wanted,
    }
}
