//! What people do in a day with kubectl, at every version of some kinds.

use std::{fs, path::Path};

use super::Kubectl;
use crate::support::{Running, recordings};

/// A version of a kind, and what is done to a document of it.
struct Case {
    /// As commands name it.
    resource: &'static str,
    /// How commands print it.
    printed: &'static str,
    api_version: &'static str,
    kind: &'static str,
    /// The spec, and the same with a change. Lists have all defaults in them: kubectl replaces lists as a whole.
    spec: &'static str,
    changed: &'static str,
    /// What an editor is told, as `sed` understands it, and what it leads to.
    edit: (&'static str, &'static str),
    /// A merge patch of the spec, and where to find what it leads to.
    patch: (&'static str, &'static str),
    /// What is at the top of a table.
    columns: &'static str,
    /// A field, and its type.
    explained: (&'static str, &'static str),
}

const ORDERS: [Case; 3] = [
    Case {
        resource: "orders.v1.shop.example.com",
        printed: "order.shop.example.com",
        api_version: "shop.example.com/v1",
        kind: "Order",
        spec: r#"{"city": "Ulm", "coupon": "SPRING", "lines": [{"sku": "B-1", "gift": false}]}"#,
        changed: r#"{"city": "Bonn", "coupon": "SPRING", "lines": [{"sku": "B-1", "gift": false}]}"#,
        edit: ("s/qty: 1/qty: 3/", "{.spec.qty}=3"),
        patch: (r#"{"spec": {"street": "Main"}}"#, "{.spec.street}=Main"),
        columns: "NAME AGE",
        explained: ("spec.qty", "<integer>"),
    },
    Case {
        resource: "orders.v2.shop.example.com",
        printed: "order.shop.example.com",
        api_version: "shop.example.com/v2",
        kind: "Order",
        spec: r#"{"city": "Ulm", "priority": "low", "lines": [{"article": "B-1", "gift": false}]}"#,
        changed: r#"{"city": "Bonn", "priority": "low", "lines": [{"article": "B-1", "gift": false}]}"#,
        edit: ("s/priority: low/priority: high/", "{.spec.priority}=high"),
        patch: (r#"{"spec": {"street": "Main"}}"#, "{.spec.street}=Main"),
        columns: "NAME AGE",
        explained: ("spec.quantity", "<integer>"),
    },
    Case {
        resource: "orders.v3.shop.example.com",
        printed: "order.shop.example.com",
        api_version: "shop.example.com/v3",
        kind: "Order",
        spec: r#"{"delivery": {"city": "Ulm"}, "lines": [{"article": "B-1", "gift": false}]}"#,
        changed: r#"{"delivery": {"city": "Bonn"}, "lines": [{"article": "B-1", "gift": false}]}"#,
        edit: ("s/quantity: 1/quantity: 3/", "{.spec.quantity}=3"),
        patch: (r#"{"spec": {"delivery": {"street": "Main"}}}"#, "{.spec.delivery.street}=Main"),
        columns: "NAME AGE",
        explained: ("spec.delivery.country", "<string>"),
    },
];

const RECORDED: [Case; 4] = [
    Case {
        resource: "widgets.v1.shop.example.com",
        printed: "widget.shop.example.com",
        api_version: "shop.example.com/v1",
        kind: "Widget",
        spec: r#"{"size": "small"}"#,
        changed: r#"{"size": "medium"}"#,
        edit: ("s/replicas: 1/replicas: 3/", "{.spec.replicas}=3"),
        patch: (r#"{"spec": {"note": "x"}}"#, "{.spec.note}=x"),
        columns: "NAME SIZE REPLICAS READY AGE",
        explained: ("spec.options.gift", "<boolean>"),
    },
    Case {
        resource: "gadgets.v1beta1.shop.example.com",
        printed: "gadget.shop.example.com",
        api_version: "shop.example.com/v1beta1",
        kind: "Gadget",
        spec: r#"{"host": "a"}"#,
        changed: r#"{"host": "b"}"#,
        edit: ("s/port: 80/port: 81/", "{.spec.port}=81"),
        patch: (r#"{"spec": {"host": "c"}}"#, "{.spec.host}=c"),
        columns: "NAME AGE",
        explained: ("spec.port", "<integer>"),
    },
    Case {
        resource: "gadgets.v1.shop.example.com",
        printed: "gadget.shop.example.com",
        api_version: "shop.example.com/v1",
        kind: "Gadget",
        spec: r#"{"host": "a"}"#,
        changed: r#"{"host": "b"}"#,
        edit: ("s/port: 80/port: 81/", "{.spec.port}=81"),
        patch: (r#"{"spec": {"host": "c"}}"#, "{.spec.host}=c"),
        columns: "NAME AGE",
        explained: ("spec.rules.weight", "<integer>"),
    },
    Case {
        resource: "clusterthings.v1alpha1.infra.example.com",
        printed: "clusterthing.infra.example.com",
        api_version: "infra.example.com/v1alpha1",
        kind: "ClusterThing",
        spec: r#"{"ports": [{"port": 80, "protocol": "TCP"}]}"#,
        changed: r#"{"ports": [{"port": 81, "protocol": "TCP"}]}"#,
        edit: ("s/max: 10/max: 9/", "{.spec.max}=9"),
        patch: (r#"{"spec": {"maybe": "x"}}"#, "{.spec.maybe}=x"),
        columns: "NAME AGE",
        explained: ("spec.target", ""),
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_with_every_version_of_an_example() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    days(&example, &["wheelwright.yaml", "crd.yaml", "changes.yaml"], &ORDERS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_with_the_kinds_that_a_real_server_was_asked_about() {
    match recordings() {
        Some(recordings) => {
            let files = ["a_widgets.json", "b_gadgets.json", "c_clusterthings.json"];
            days(&recordings.join("crds"), &files, &RECORDED).await;
        }
        None => println!("kubectl with recorded kinds: SKIPPED"),
    }
}

async fn days(from: &Path, files: &[&str], cases: &[Case]) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        fs::copy(from.join(file), folder.path().join(file)).unwrap();
    }
    let running = Running::of(folder.path()).await;
    let kubectl = Kubectl::at(running.address, "shop");
    let listed = kubectl.done(&["api-resources", "--no-headers"]);
    for case in cases {
        assert!(listed.lines().any(|line| line.ends_with(case.kind)), "{} in {listed}", case.kind);
        case.day(&kubectl);
    }
}

impl Case {
    fn day(&self, kubectl: &Kubectl) {
        let Self { resource, printed, .. } = *self;
        self.files(kubectl);
        let word = |outcome: &str| format!("{printed}/demo {outcome}\n");
        let done = |arguments: &[&str]| kubectl.done(arguments);

        assert_eq!(done(&["create", "-f", "document.yaml"]), word("created"));
        let again = kubectl.run(&["create", "-f", "document.yaml"]);
        assert!(again.code == 1 && again.stderr.contains("(AlreadyExists)"), "{again:?}");
        self.read(kubectl);

        assert_eq!(done(&["apply", "-f", "document.yaml"]), word("configured"), "not applied before");
        assert_eq!(done(&["apply", "-f", "document.yaml"]), word("unchanged"));
        let difference = kubectl.run(&["diff", "-f", "changed.yaml"]);
        assert!(difference.code == 1 && difference.stdout.contains("\n+"), "{difference:?}");
        assert_eq!(kubectl.run(&["diff", "-f", "document.yaml"]).code, 0);
        assert_eq!(done(&["apply", "-f", "changed.yaml"]), word("configured"));

        let watched = kubectl.begin(&["get", resource, "demo", "--watch", "--no-headers"]);
        assert!(watched.line().starts_with("demo "));
        assert_eq!(done(&["label", resource, "demo", "tier=one"]), word("labeled"));
        assert!(watched.line().starts_with("demo "), "a change is told");
        drop(watched);
        assert!(done(&["get", resource, "-l", "tier=one", "-o", "name"]).contains("/demo"));
        assert_eq!(done(&["get", resource, "-l", "tier=two", "-o", "name"]), "");
        // Some releases write `annotate`.
        assert!(done(&["annotate", resource, "demo", "note=one"]).starts_with(word("annotate").trim_end()));

        let edited = kubectl.edit(&format!("sed -i '{}'", self.edit.0), &["edit", resource, "demo"]);
        assert_eq!((edited.code, edited.stdout), (0, word("edited")), "{}", edited.stderr);
        self.has(kubectl, self.edit.1);
        assert_eq!(done(&["patch", resource, "demo", "--type=merge", "-p", self.patch.0]), word("patched"));
        self.has(kubectl, self.patch.1);
        let test = r#"[{"op": "add", "path": "/metadata/labels/tier", "value": "two"}]"#;
        assert_eq!(done(&["patch", resource, "demo", "--type=json", "-p", test]), word("patched"));
        let strategic = kubectl.run(&["patch", resource, "demo", "-p", self.patch.0]);
        assert!(strategic.code == 1 && strategic.stderr.contains("application/merge-patch+json"), "{strategic:?}");

        let plural = resource.split('.').next().unwrap();
        let path = format!("{plural}.{}", self.explained.0);
        let explained = done(&["explain", &path, "--api-version", self.api_version]);
        assert!(explained.contains(self.explained.1), "{explained}");
        assert_eq!(done(&["delete", resource, "demo"]), format!("{printed} \"demo\" deleted\n"));
        let gone = kubectl.run(&["get", resource, "demo"]);
        assert!(gone.code == 1 && gone.stderr.contains("(NotFound)"), "{gone:?}");
    }

    /// Tables, YAML and what has been defaulted.
    fn read(&self, kubectl: &Kubectl) {
        let table = kubectl.done(&["get", self.resource]);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = table.lines().map(words).collect();
        assert!(matches!(&lines[..], [top, row] if *top == self.columns && row.starts_with("demo ")), "{table}");
        let yaml = kubectl.done(&["get", self.resource, "demo", "-o", "yaml"]);
        assert!(yaml.starts_with(&format!("apiVersion: {}\nkind: {}\n", self.api_version, self.kind)), "{yaml}");
    }

    /// Waits for a value.
    fn has(&self, kubectl: &Kubectl, wanted: &str) {
        if kubectl.minor >= 23 {
            let wanted = format!("--for=jsonpath={wanted}");
            kubectl.done(&["wait", self.resource, "demo", &wanted, "--timeout=20s"]);
            return;
        }
        let (path, value) = wanted.rsplit_once('=').unwrap();
        let found = kubectl.done(&["get", self.resource, "demo", "-o", &format!("jsonpath={path}")]);
        assert_eq!(found, value);
    }

    fn files(&self, kubectl: &Kubectl) {
        for (name, spec) in [("document.yaml", self.spec), ("changed.yaml", self.changed)] {
            let Self { api_version, kind, .. } = self;
            let metadata = "{name: demo, labels: {app: demo}}";
            let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n");
            kubectl.write(name, &text);
        }
    }
}
