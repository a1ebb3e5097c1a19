//! What people see of mistakes in catalogs and changes files; `UPDATE_GOLDEN=1` writes it anew.

use std::{env, fs, path::Path};

use crate::support::{CARTS, Memory, shown};

const CATALOG: &str = "\
kinds:
  - crd: crds/carts.yaml
    changes: changes/carts.yaml
    hub: v3
    order: [v2, v2]
    successors: {v0: v1alpha1, v1alpha1: v1beta1, v1beta1: v0}
    polices: {olderWrite: preserve}
  - crd: crds/orders.yaml
  - crd: crds/carts.yaml
    kind: Crat
  - crd: crds/two.yaml
    hub: v1
  - openapi: {2024-06-10: specs/2024-06-10.json, 2025-01-01: specs/2025-01-01.json}
    definition: Carts
    arm: Shop
  - openapi: {v1: crds/carts.yaml}
    definition: Cart
  - changes: changes/carts.yaml
  - crd: crds/carts.yaml
    policies: {olderWrite: {default: keep, versions: {v9: reject}, fields: {spec..x: reset}}, null: clear}
  - [crds/carts.yaml]
policies: {olderWrite: {fields: {spec.x: reset}}}
";

const CHANGES: &str = "\
v2:
  from: 1
  renmaed: {}
  renamed: {spec.qty: spec.quantity, '[\"spec\"].qty': spec.amount, spec.a: spec.a, spec.b: 'spec.items[0]'}
  removed: [spec.qty, spec., 7]
  converted: {spec.timeout: {with: duration}}
  keys: {spec.items: [], spec.list: name, spec.other: [id, id]}
  union: {spec.source: {discriminator: type}, spec.other: [git, http]}
  default: [spec.x]
  writers: omit-empty
  olderWrite: [preserve]
v3:
'v 4': {}
";

#[test]
fn mistakes_are_shown_where_they_are_made() {
    let two = format!("{CARTS}---\n{}", CARTS.replace("Cart", "Basket").replace("carts", "baskets"));
    let files = [("wheelwright.yaml", CATALOG), ("changes/carts.yaml", CHANGES), ("crds/two.yaml", &two)];
    compare("mistakes.txt", &shown(&Memory::shop(files).load("wheelwright.yaml")));
}

const STORED: &str = "\
kinds:
  - openapi: {2024-06-10: specs/2024-06-10.json, 2025-01-01: specs/2025-01-01.json}
    definition: Cart
    arm: Example.Shop/carts
    oldestWriter: 2025-01-02
    adopt: {version: 2024-01-01, key: shop/carts}
    external:
      stock:
        version: 2025-01-01
        fields: [properties, properties.quantity, properties.colour, tags, 'properties.items[].name']
        missing: [absent, 0]
      prices: {fields: [properties.total]}
      none: {version: 2030-01-01, fields: [properties.x]}
";

#[test]
fn mistakes_in_what_is_said_of_the_store_are_shown() {
    let catalog = Memory::shop([("wheelwright.yaml", STORED)]).load("wheelwright.yaml");
    compare("stored.txt", &shown(&catalog));
    let unknown = catalog.unknown_versions(|_, _| false);
    let messages: Vec<&str> = unknown.iter().map(|finding| &*finding.message).collect();
    assert_eq!(
        messages,
        ["2024-01-01", "2030-01-01", "2025-01-02"].map(|version| format!("Cart has no version \"{version}\""))
    );
}

#[test]
fn prefixes_that_are_no_beginning_of_keys_or_are_shared_are_shown() {
    let baskets = CARTS.replace("Cart", "Basket").replace("carts", "baskets");
    let messages = |carts: &str, other: &str| {
        let kinds = format!(
            "kinds: [{{crd: crds/carts.yaml, adopt: {{prefix: '{carts}'}}}}, {{crd: baskets.yaml, adopt: {{prefix: '{other}'}}}}]"
        );
        let files = [("wheelwright.yaml", &*kinds), ("baskets.yaml", &*baskets)];
        let catalog = Memory::shop(files).load("wheelwright.yaml");
        catalog.findings().iter().map(|finding| finding.message.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(messages("shop/carts", "shop/cartsandbaskets"), [""; 0]);
    for wrong in ["$wheelwright/sweeps", "shop//carts", "shop/", "/shop", "a#b", ""] {
        assert_eq!(messages(wrong, "shop/baskets").len(), 1, "{wrong}");
    }
    for (one, other) in [("shop", "shop/carts"), ("shop/carts", "shop"), ("shop", "shop")] {
        let found = messages(one, other);
        assert!(found.len() == 1 && found[0].contains("records of the other"), "{found:?}");
    }
}

#[test]
fn kinds_and_versions_that_are_there_twice_are_shown_with_both_places() {
    let other = CARTS.replace("name: v2", "name: v1");
    let catalog = Memory::new([("crds/a.yaml", CARTS), ("crds/b.yaml", &other), ("crds/c.yaml", CARTS)]).load("crds");
    assert_eq!(catalog.kinds().len(), 1, "the first of them is kept, and copies are the same");
    compare("twice.txt", &shown(&catalog));
    compare("twice-in-one.txt", &shown(&Memory::new([("b.yaml", &*other)]).load("b.yaml")));
}

fn compare(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalog/golden").join(name);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "{name} differs; UPDATE_GOLDEN=1 writes it anew");
}
