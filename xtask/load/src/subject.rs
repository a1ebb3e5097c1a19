//! What is read and written: gadgets in the words of Kubernetes, and widgets in those of Azure's resource manager.

use std::{fmt::Write as _, fs, io, path::Path, rc::Rc};

/// The version that is stored, and another one.
pub(crate) const GADGET_VERSIONS: [&str; 2] = ["v2", "v1"];
/// As [`GADGET_VERSIONS`].
pub(crate) const WIDGET_VERSIONS: [&str; 2] = ["2026-01-01", "2025-01-01"];

/// Where gadgets of a namespace are.
pub(crate) fn gadgets(version: &str, namespace: &str) -> String {
    format!("/apis/load.example.com/{version}/namespaces/{namespace}/gadgets")
}

/// Where a widget is; all of them for none.
pub(crate) fn widget(version: &str, name: &str) -> String {
    let group = "/subscriptions/load/resourceGroups/load/providers/Example.Load/widgets";
    format!("{group}{}{name}?api-version={version}", if name.is_empty() { "" } else { "/" })
}

/// A gadget, in the newer version.
pub(crate) fn gadget_body(name: &str) -> String {
    let spec = properties(name);
    format!(
        r#"{{"apiVersion":"load.example.com/v2","kind":"Gadget","metadata":{{"name":"{name}","labels":{{"app":"load"}}}},"spec":{spec}}}"#
    )
}

/// A widget, in the newer version.
pub(crate) fn widget_body(name: &str, owner: usize) -> String {
    let properties = properties(name).replacen("\"load\"", &format!("\"load {owner}\""), 1);
    format!(r#"{{"location":"here","tags":{{"app":"load"}},"properties":{properties}}}"#)
}

/// What makes a document of a kilobyte, with its defaults and metadata.
fn properties(name: &str) -> String {
    let mut text = format!(
        r#"{{"source":{{"image":"images.example.com/load/{name}:1.2.3"}},"replicas":3,"owner":"load","notes":"{}","ports":["#,
        "what somebody wrote about it, at some length. ".repeat(8)
    );
    for port in 0..3 {
        let comma = if port > 0 { "," } else { "" };
        let _ = write!(text, r#"{comma}{{"name":"port-{port}","port":{},"protocol":"TCP"}}"#, 8080 + port);
    }
    text.push_str(r#"],"environment":{"LOG_LEVEL":"info","REGION":"somewhere","CACHE_MEGABYTES":"256"}}"#);
    text
}

/// A request without a body.
pub(crate) fn get(path: &str) -> Rc<[u8]> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n").into_bytes().into()
}

/// A request with a body.
pub(crate) fn send(method: &str, path: &str, content_type: &str, body: &str) -> Rc<[u8]> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\n");
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes().into()
}

/// Writes the catalog into a folder.
pub(crate) fn write_catalog(folder: &Path) -> io::Result<()> {
    for (name, text) in [
        ("wheelwright.yaml", include_str!("../catalog/wheelwright.yaml")),
        ("gadgets.yaml", GADGETS),
        ("gadgets.changes.yaml", include_str!("../catalog/gadgets.changes.yaml")),
        ("widgets-2025-01-01.yaml", include_str!("../catalog/widgets-2025-01-01.yaml")),
        ("widgets-2026-01-01.yaml", include_str!("../catalog/widgets-2026-01-01.yaml")),
        ("widgets.changes.yaml", include_str!("../catalog/widgets.changes.yaml")),
    ] {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Writes a catalog of so many kinds into a folder.
pub(crate) fn write_many_kinds(folder: &Path, count: usize) -> io::Result<()> {
    let mut catalog = "kinds:\n".to_owned();
    for number in 0..count {
        let text = GADGETS.replace("Gadget", &format!("Gadget{number}")).replace("gadget", &format!("gadget{number}"));
        fs::write(folder.join(format!("gadgets{number}.yaml")), text)?;
        let _ = writeln!(catalog, "  - {{crd: gadgets{number}.yaml, changes: gadgets.changes.yaml}}");
    }
    fs::write(folder.join("gadgets.changes.yaml"), include_str!("../catalog/gadgets.changes.yaml"))?;
    fs::write(folder.join("wheelwright.yaml"), catalog)
}

const GADGETS: &str = include_str!("../catalog/gadgets.yaml");
