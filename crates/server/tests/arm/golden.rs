//! Exchanges as they are on the wire, held against `golden/*.http`. `UPDATE=1` writes these anew.

use std::{env, fmt::Write as _, fs, path::Path};

use serde_json::{Value as Json, json};
use wheelwright_repository::{Name, View};
use wheelwright_server::Limits;

use crate::{
    catalogs::shop,
    client::{Answered, Served},
};

const STORES: &str = "/subscriptions/Sub-1/resourceGroups/Group-1/providers/Example.Shop/stores";
const CARTS: &str = "/subscriptions/Sub-1/resourceGroups/Group-1/providers/Example.Shop/carts";
const OLD: &str = "api-version=2024-06-10";
const NEW: &str = "api-version=2025-01-01";

/// Writes down what is said.
struct Recorded {
    served: Served,
    text: String,
}

impl Recorded {
    async fn new() -> Self {
        Self { served: Served::new(shop().served).await, text: String::new() }
    }

    /// Says why the next requests are made.
    fn note(&mut self, why: &str) {
        let _ = writeln!(self.text, "# {why}\n");
    }

    async fn send(&mut self, method: &str, uri: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let answered = self.served.send(method, uri, headers, body.as_bytes()).await;
        let _ = writeln!(self.text, "> {method} {uri}");
        for (name, value) in headers {
            let _ = writeln!(self.text, "> {name}: {value}");
        }
        if !body.is_empty() {
            let _ = writeln!(self.text, ">\n> {body}");
        }
        let _ = writeln!(self.text, "\n< {}", answered.status);
        for (name, value) in answered.headers.iter().filter(|(name, _)| name != "date") {
            let _ = writeln!(self.text, "< {name}: {value}");
        }
        if !answered.body.is_empty() {
            let body = match serde_json::from_slice::<Json>(&answered.body) {
                Ok(json) => serde_json::to_string_pretty(&json).expect("JSON"),
                Err(_) => String::from_utf8_lossy(&answered.body).into_owned(),
            };
            let _ = writeln!(self.text, "<");
            for line in body.lines() {
                let _ = writeln!(self.text, "< {line}");
            }
        }
        self.text.push('\n');
        answered
    }

    async fn get(&mut self, uri: &str) -> Answered {
        self.send("GET", uri, &[], "").await
    }

    async fn put(&mut self, uri: &str, body: Json) -> Answered {
        self.send("PUT", uri, &[("content-type", "application/json")], &body.to_string()).await
    }

    async fn patch(&mut self, uri: &str, body: Json) -> Answered {
        self.send("PATCH", uri, &[("content-type", "application/merge-patch+json")], &body.to_string()).await
    }

    async fn delete(&mut self, uri: &str) -> Answered {
        self.send("DELETE", uri, &[], "").await
    }

    /// Holds what was said against a file.
    fn is(self, name: &str) {
        let said = normalised(&self.text, &self.served.address.to_string());
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arm/golden").join(format!("{name}.http"));
        if env::var_os("UPDATE").is_some() {
            fs::write(&file, &said).expect("it can be written");
            return;
        }
        let golden = fs::read_to_string(&file).unwrap_or_default();
        assert!(said == golden, "{name}.http is another; UPDATE=1 writes it anew. Now:\n{said}");
    }
}

/// What was said, with the same text for what is another one each time.
fn normalised(text: &str, address: &str) -> String {
    let mut said = String::new();
    for line in text.replace(address, "{server}").lines() {
        let is_of_word = |character: char| character.is_ascii_alphanumeric() || "-:.".contains(character);
        for word in line.split_inclusive(|character| !is_of_word(character)) {
            let bare = word.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
            let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_uuid = bare.len() == 36 && bare.matches('-').count() == 4 && is_hex(&bare.replace('-', ""));
            let is_time = bare.len() >= 20 && bare.ends_with('Z') && bare.contains('T') && bare.starts_with("20");
            let operation = bare.split_once('-').filter(|(unique, _)| unique.len() == 32 && is_hex(unique));
            match operation {
                _ if is_uuid => said.push_str("{uuid}"),
                _ if is_time => said.push_str("{time}"),
                Some((_, resource)) => said.extend(["{unique}-", resource]),
                None => said.push_str(bare),
            }
            said.push_str(&word[bare.len()..]);
        }
        said.push('\n');
    }
    // The address may be longer or shorter.
    let is_length = |line: &&str| !line.starts_with("< content-length:");
    said.lines().filter(is_length).flat_map(|line| [line, "\n"]).collect()
}

fn store() -> Json {
    json!({"location": "North", "tags": {"team": "a"}, "properties": {"levels": 2, "address": {"street": "Main"}}})
}

#[tokio::test]
async fn resources() {
    let mut said = Recorded::new().await;
    said.note("A cart is created: what it is called is as it was written, in any case.");
    let cart = format!("{CARTS}/My-Cart");
    said.put(&format!("{cart}?{NEW}"), json!({"properties": {"note": "a gift"}, "tags": {"a": "1", "b": "2"}})).await;
    said.get(&format!("{}?{OLD}", cart.to_uppercase().replace("API", "api"))).await;
    said.send("HEAD", &format!("{cart}?{NEW}"), &[], "").await;
    said.note("The same again changes nothing.");
    said.put(&format!("{cart}?{NEW}"), json!({"properties": {"note": "a gift"}, "tags": {"a": "1", "b": "2"}})).await;
    said.note("What is left out goes, as does what is null. Tags are replaced as a whole.");
    said.put(&format!("{cart}?{NEW}"), json!({"properties": {"quantity": 0}, "tags": {"a": "1", "b": "2"}})).await;
    said.patch(&format!("{cart}?{OLD}"), json!({"properties": {"note": "twice", "quantity": null}})).await;
    said.patch(&format!("{cart}?{OLD}"), json!({"tags": {"c": "3"}})).await;
    said.note("It is removed, and there is nothing to remove any more.");
    said.delete(&format!("{cart}?{NEW}")).await;
    said.delete(&format!("{cart}?{NEW}")).await;
    said.get(&format!("{cart}?{NEW}")).await;
    said.patch(&format!("{cart}?{NEW}"), json!({})).await;
    said.is("resources");
}

#[tokio::test]
async fn versions() {
    let mut said = Recorded::new().await;
    let cart = format!("{CARTS}/c");
    said.put(&format!("{cart}?{NEW}"), json!({})).await;
    said.get(&cart).await;
    said.get(&format!("{cart}?api-version=")).await;
    said.get(&format!("{cart}?api-version=latest")).await;
    said.get(&format!("{cart}?api-version=2023-01-01-preview")).await;
    said.note("Parameters have no case; one version is to go, and says so.");
    said.get(&format!("{cart}?API-Version=2024-06-10")).await;
    said.put(&format!("{STORES}/s?{OLD}"), store()).await;
    said.note("So do errors.");
    said.get(&format!("{STORES}/t?{OLD}")).await;
    said.is("versions");
}

#[tokio::test]
async fn paths() {
    let mut said = Recorded::new().await;
    let group = "/subscriptions/s/resourceGroups/g/providers";
    for path in [
        format!("{group}/Example.Shop/baskets/b"),
        format!("{group}/Example.Shop/carts/c/shelves/s"),
        format!("{group}/Example.Bank/accounts/a"),
        "/subscriptions/s/providers/Example.Shop/carts/c".to_owned(),
        "/subscriptions/s/providers/Example.Shop/carts".to_owned(),
        "/subscriptions/s/resourceGroups/g".to_owned(),
        "/subscriptions".to_owned(),
        "/providers/Example.Shop/operations".to_owned(),
        format!("{group}/Example.Shop/carts/.."),
        format!("{group}/Example.Shop/carts/a%2Fb"),
        format!("{group}/Example.Shop/carts//a"),
        format!("{group}/Example.Shop/carts/a%3Fb"),
        format!("{group}/Example.Shop/carts/a%00b"),
        "/subscriptions/s/providers/Example.Shop/operationStatuses/x".to_owned(),
    ] {
        said.get(&format!("{path}?{NEW}")).await;
    }
    said.note("Other methods are refused.");
    said.send("POST", &format!("{CARTS}/c?{NEW}"), &[], "").await;
    said.put(&format!("{CARTS}?{NEW}"), json!({})).await;
    said.is("paths");
}

#[tokio::test]
async fn contents() {
    let mut said = Recorded::new().await;
    let cart = format!("{CARTS}/c?{NEW}");
    let json = [("content-type", "application/json")];
    for body in ["", "{", "[]", "{\"properties\": {}, \"properties\": {}}", "{\"properties\": {\"note\": 1e}}"] {
        said.send("PUT", &cart, &json, body).await;
    }
    said.send("PUT", &cart, &[("content-type", "text/yaml")], "{}").await;
    said.send("PATCH", &cart, &[("content-type", "application/json-patch+json")], "[]").await;
    said.note("All that is wrong is told at once.");
    said.put(&cart, json!({"properties": {"note": "far too long for a note", "quantity": "two"}})).await;
    said.put(&cart, json!({"colour": "red", "properties": {"price": 1}})).await;
    said.put(&cart, json!({"tags": {"a": 1}})).await;
    said.put(&format!("{STORES}/s?{OLD}"), json!({"properties": {"address": {}, "colour": "Pink"}})).await;
    said.note("What only the service writes is passed over.");
    said.put(&format!("{STORES}/s?{OLD}"), json!({"id": "x", "name": "y", "type": "z", "systemData": {}, "etag": "e",
        "location": "North", "properties": {"visitors": 7, "provisioningState": "Failed", "address": {"street": "Main"}}}))
        .await;
    said.note("What is set only once may be said again or left out, and not changed.");
    said.put(&format!("{STORES}/s?{OLD}"), json!({"properties": {"address": {"street": "Main"}}})).await;
    said.patch(
        &format!("{STORES}/s?{NEW}"),
        json!({"location": "South", "properties": {"address": {"street": "Side"}}}),
    )
    .await;
    said.note("Lines have no tags.");
    said.put(&cart, json!({})).await;
    said.put(&format!("{CARTS}/c/lines/l?{NEW}"), json!({"tags": {"a": "b"}, "properties": {"article": "x"}})).await;
    said.put(&format!("{CARTS}/c/lines/l?{NEW}"), json!({"properties": {}})).await;
    said.is("contents");
}

#[tokio::test]
async fn preconditions() {
    let mut said = Recorded::new().await;
    let cart = format!("{CARTS}/c?{NEW}");
    let json = ("content-type", "application/json");
    said.note("Only if it is there.");
    said.send("PUT", &cart, &[json, ("if-match", "*")], "{}").await;
    said.note("Only if it is not there.");
    said.send("PUT", &cart, &[json, ("if-none-match", "*")], "{}").await;
    let first = said.send("PUT", &cart, &[json, ("if-none-match", "*")], "{}").await;
    assert_eq!(first.code(), "PreconditionFailed");
    let tag = said.get(&cart).await.header("etag").unwrap().to_owned();
    said.note("Whoever has it already is not sent it again.");
    said.send("GET", &cart, &[("if-none-match", &tag)], "").await;
    said.note("Only if nobody else has changed it.");
    let changed = r#"{"properties": {"quantity": 1}}"#;
    said.send("PUT", &cart, &[json, ("if-match", &tag)], changed).await;
    said.send("PUT", &cart, &[json, ("if-match", &tag)], "{}").await;
    said.send("PATCH", &cart, &[json, ("if-match", &tag)], "{}").await;
    said.send("DELETE", &cart, &[("if-match", &tag)], "").await;
    let tag = said.get(&cart).await.header("etag").unwrap().to_owned();
    said.send("DELETE", &cart, &[("if-match", &format!("\"other\", W/{tag}"))], "").await;
    said.send("DELETE", &cart, &[("if-match", "*")], "").await;
    said.note("The tag is in the resource where its version has a place for it.");
    said.put(&format!("{STORES}/s?{NEW}"), json!({"location": "North"})).await;
    said.is("preconditions");
}

#[tokio::test]
async fn children() {
    let mut said = Recorded::new().await;
    said.note("What belongs to a resource needs it.");
    said.put(&format!("{CARTS}/Mine/lines/First?{NEW}"), json!({"properties": {"article": "x"}})).await;
    said.get(&format!("{CARTS}/Mine/lines?{NEW}")).await;
    said.put(&format!("{CARTS}/Mine?{NEW}"), json!({})).await;
    said.put(&format!("{CARTS}/mine/lines/First?{NEW}"), json!({"properties": {"article": "x"}})).await;
    said.get(&format!("{CARTS}/MINE/LINES/FIRST?{OLD}")).await;
    said.get(&format!("{CARTS}/mine/lines?{NEW}")).await;
    said.note("It goes with it.");
    said.delete(&format!("{CARTS}/mine?{NEW}")).await;
    said.get(&format!("{CARTS}/mine/lines/first?{NEW}")).await;
    said.is("children");
}

#[tokio::test]
async fn lists() {
    let mut said = Recorded::new().await;
    for (group, name) in [("G1", "A"), ("g1", "b"), ("G2", "c"), ("other", "d")] {
        let uri = format!("/subscriptions/S/resourceGroups/{group}/providers/Example.Shop/stores/{name}?{NEW}");
        said.served.put(&uri, &json!({"location": "North"})).await.with_status(&[201]);
    }
    said.get(&format!("/subscriptions/T/providers/Example.Shop/stores?{NEW}")).await;
    said.get(&format!("/subscriptions/s/resourceGroups/g1/providers/Example.Shop/stores?{OLD}")).await;
    said.note("Page by page.");
    let page =
        said.get(&format!("/subscriptions/S/providers/example.shop/Stores?{OLD}&$top=3")).await.with_status(&[200]);
    let next = page["nextLink"].as_str().unwrap().split_once("/subscriptions").unwrap().1.to_owned();
    said.get(&format!("/subscriptions{next}")).await;
    said.get(&format!("/subscriptions/S/providers/Example.Shop/stores?{NEW}&$top=0")).await;
    said.get(&format!("/subscriptions/S/providers/Example.Shop/stores?{NEW}&$skiptoken=nonsense")).await;
    said.is("lists");
}

#[tokio::test]
async fn callers() {
    let mut said = Recorded::new().await;
    let cart = format!("{CARTS}/c?{NEW}");
    let json = ("content-type", "application/json");
    said.note("The resource manager says who it is.");
    let ann = r#"{"createdBy": "ann", "createdByType": "User", "createdAt": "2026-01-01T00:00:00Z"}"#;
    said.send("PUT", &cart, &[json, ("x-ms-arm-resource-system-data", ann)], "{}").await;
    said.note("Else, whoever is before us does.");
    let changed = r#"{"properties": {"quantity": 1}}"#;
    said.send("PUT", &cart, &[json, ("x-ms-client-principal-name", "bob")], changed).await;
    for data in ["{", "{}", r#"{"createdBy": "ann", "createdAt": "now"}"#] {
        said.send("PUT", &cart, &[json, ("x-ms-arm-resource-system-data", data)], "{}").await;
    }
    said.note("Requests can be found again.");
    let ids = [
        ("x-ms-correlation-request-id", "all-of-it"),
        ("x-ms-client-request-id", "mine"),
        ("x-ms-return-client-request-id", "true"),
    ];
    said.send("GET", &cart, &ids, "").await;
    said.send("GET", &cart, &ids[1..2], "").await;
    said.send("GET", "/subscriptions", &ids, "").await;
    said.is("callers");
}

#[tokio::test]
async fn limits() {
    let mut limits = Limits::default();
    limits.body_bytes = 100;
    let served = Served::with_limits(shop().served, limits).await;
    let mut said = Recorded { served, text: String::new() };
    said.put(&format!("{CARTS}/c?{NEW}"), json!({"properties": {"note": "x".repeat(100)}})).await;
    let mut limits = Limits::default();
    limits.requests = 0;
    said.text = normalised(&said.text, &said.served.address.to_string());
    said.served = Served::with_limits(shop().served, limits).await;
    said.get(&format!("{CARTS}/c?{NEW}")).await;
    said.is("limits");
}

#[tokio::test]
async fn operations() {
    let mut said = Recorded::new().await;
    let stores = said.served.repository.kind("Store").unwrap();
    let name = Name::new("sub-1/group-1/s").unwrap();
    let uri = format!("{STORES}/S");
    let path = |link: Option<&str>| {
        let link = link.expect("a link");
        format!("/subscriptions{}", link.split_once("/subscriptions").unwrap().1)
    };
    said.note("What was asked for is not done yet.");
    let created = said.put(&format!("{uri}?{NEW}"), json!({"location": "North East"})).await;
    let operation = path(created.header("azure-asyncoperation"));
    said.get(&operation).await;
    said.note("A back end is at it, and then it is done.");
    for state in ["Provisioning", "Succeeded"] {
        let revision = stores.get(&name, View::Hub).await.unwrap().unwrap().revision;
        let change = |metadata: &mut wheelwright_repository::Metadata, _: &mut _| {
            metadata.provisioning_state = Some(state.into());
        };
        stores.update_metadata(&name, &revision, change).await.unwrap();
        said.get(&operation).await;
    }
    said.note("Tags are nothing that a back end has to do with; the rest is.");
    said.patch(&format!("{uri}?{OLD}"), json!({"tags": {"a": "b"}})).await;
    let patched = said.patch(&format!("{uri}?{OLD}"), json!({"properties": {"levels": 5}})).await;
    let result = path(patched.header("location"));
    said.get(&result).await;
    said.get(&path(patched.header("azure-asyncoperation"))).await;
    let revision = stores.get(&name, View::Hub).await.unwrap().unwrap().revision;
    let change = |metadata: &mut wheelwright_repository::Metadata, _: &mut _| {
        metadata.provisioning_state = Some("Failed".into());
    };
    stores.update_metadata(&name, &revision, change).await.unwrap();
    said.get(&result).await;
    said.get(&path(patched.header("azure-asyncoperation"))).await;
    said.note("It fails, and may be asked for again. What was done before is still known.");
    let put = said.put(&format!("{uri}?{NEW}"), json!({"properties": {"floors": 7}})).await;
    said.get(&operation).await;
    said.note("A store is to go: it stays until a back end removes it, and nobody writes it any more.");
    let deleted = said.delete(&format!("{uri}?{NEW}")).await;
    said.get(&path(put.header("azure-asyncoperation"))).await;
    said.get(&format!("{uri}?{NEW}")).await;
    said.patch(&format!("{uri}?{NEW}"), json!({"tags": {}})).await;
    said.put(&format!("{uri}/shelves/one?{NEW}"), json!({})).await;
    said.delete(&format!("{uri}?{NEW}")).await;
    said.get(&path(deleted.header("location"))).await;
    let revision = stores.get(&name, View::Hub).await.unwrap().unwrap().revision;
    stores.delete(&name, &revision).await.unwrap();
    said.get(&path(deleted.header("location"))).await;
    said.get(&path(deleted.header("azure-asyncoperation"))).await;
    said.note("Of what was done to a store that is gone, nobody knows any more.");
    said.get(&operation).await;
    said.note("Operations are those of their subscription.");
    said.get(&path(deleted.header("azure-asyncoperation")).replace("sub-1", "sub-2").replace("-d", "-w")).await;
    said.send("PUT", &operation, &[], "{}").await;
    said.is("operations");
}
