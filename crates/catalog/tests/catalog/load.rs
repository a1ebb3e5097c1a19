//! What catalogs and bare files declare.

use wheelwright_catalog::{Catalog, NullPolicy};
use wheelwright_evolve::{Declaration, OlderWrite};
use wheelwright_schema::Root;

use crate::support::{CARTS, Folder, Memory, SPECS, broken, shown};

fn versions(declaration: &Declaration) -> Vec<&str> {
    declaration.versions.iter().map(|version| version.name.as_str()).collect()
}

#[test]
fn a_catalog_says_everything_about_its_kinds() {
    let text = "\
kinds:
  - crd: crds/carts.yaml
    changes: changes/carts.yaml
    hub: v1
    order: [v2, v1]
    successors: {v1beta1: v1}
    policies: {olderWrite: {versions: {v1: reject}, fields: {spec.quantity: reset}}}
  - openapi:
      2024-06-10: specs/2024-06-10.json
      2025-01-01: ./specs/../specs/2025-01-01.json
    definition: Cart
    arm: Microsoft.Shop/carts
policies: {olderWrite: {default: reset, versions: {v1: preserve, v2: preserve}}, null: clear}
";
    let changes = "v2: {renamed: {spec.qty: spec.quantity}}\n";
    let catalog = Memory::shop(
        [("shop/wheelwright.yaml", text), ("shop/crds/carts.yaml", CARTS), ("shop/changes/carts.yaml", changes)]
            .into_iter()
            .chain([("shop/specs/2024-06-10.json", SPECS[0].1), ("shop/specs/2025-01-01.json", SPECS[1].1)])
            .chain([("shop/specs/common.json", SPECS[2].1)]),
    )
    .load("shop");
    assert_eq!(shown(&catalog), "");
    let [cart, arm] = catalog.kinds() else { panic!("two kinds") };
    assert_eq!(cart.declaration.api_version(&cart.declaration.versions[0].name), "shop.example.com/v1");
    assert_eq!(versions(&cart.declaration), ["v1", "v2"]);
    assert_eq!(cart.declaration.order.as_ref().unwrap()[0].as_str(), "v2");
    assert_eq!(cart.declaration.hub.as_ref().unwrap().item.as_str(), "v1");
    assert_eq!(cart.declaration.steps[0].renamed[0].to.item.to_string(), "spec.quantity");
    assert_eq!(cart.declaration.successors.len(), 1);
    assert_eq!(cart.folder, std::path::Path::new("shop"));
    let policies = &cart.declaration.policies;
    assert_eq!(policies.older_write, OlderWrite::Reset);
    let through: Vec<_> = policies.older_write_through.iter().map(|(name, it)| (name.as_str(), *it)).collect();
    assert_eq!(through, [("v1", OlderWrite::Reject), ("v2", OlderWrite::Preserve)]);
    assert_eq!(policies.older_write_of.len(), 1);
    assert_eq!(cart.policies.null.default, Some(NullPolicy::Clear));
    assert!(cart.declaration.versions.iter().all(|version| version.root == Root::Resource));

    assert_eq!((&*arm.declaration.kind, arm.arm.as_deref()), ("Cart", Some("Microsoft.Shop/carts")));
    assert_eq!(versions(&arm.declaration), ["2024-06-10", "2025-01-01"]);
    assert!(arm.declaration.order.is_none(), "their names tell it");
    assert!(arm.declaration.versions.iter().all(|version| version.root == Root::Definition));
}

#[test]
fn a_span_leads_back_to_its_file() {
    let changes = "v2: {renamed: {spec.qty: spec.quantity}}\n";
    let text = "kinds:\n- {crd: crds/carts.yaml, changes: changes/carts.yaml, hub: v2}\n- {openapi: {a: specs/2025-01-01.json}, definition: Cart}\n";
    let files = [("wheelwright.yaml", text), ("changes/carts.yaml", changes)];
    let catalog = Memory::shop(files).load("");
    let cut = |span| {
        let place = catalog.place(span).unwrap();
        let input = catalog.inputs().find(|input| input.name == place.file).unwrap();
        let text = &input.text()[place.span.start as usize..place.span.end as usize];
        (place.file, text.to_owned(), place.span.line)
    };
    let [cart, other] = catalog.kinds() else { panic!("two kinds") };
    let step = &cart.declaration.steps[0];
    assert_eq!(cut(step.version.span), ("changes/carts.yaml".into(), "v2".into(), 1));
    assert_eq!(cut(step.renamed[0].to.span), ("changes/carts.yaml".into(), "spec.quantity".into(), 1));
    assert_eq!(cut(cart.declaration.hub.as_ref().unwrap().span), ("wheelwright.yaml".into(), "v2".into(), 2));
    assert_eq!(cut(cart.span), ("crds/carts.yaml".into(), "Cart".into(), 6));
    assert_eq!(cut(cart.declaration.versions[1].span), ("crds/carts.yaml".into(), "v2".into(), 21));
    let properties = &other.declaration.versions[0].schema.properties;
    let coupon = properties.get("properties").unwrap().properties.get("coupon").unwrap();
    assert_eq!(cut(coupon.span).0, "specs/common.json");
}

#[test]
fn bare_definitions_are_kinds() {
    let catalog = Memory::new([("crds/a.yaml", CARTS), ("crds/readme.yaml", "a: 1"), ("crds/broken.yaml", "{{ x }}")])
        .load("crds");
    assert!(broken(&catalog).is_empty());
    assert_eq!(catalog.kinds().len(), 1);
    assert_eq!(versions(&catalog.kinds()[0].declaration), ["v1", "v2"]);
    assert_eq!(catalog.kinds()[0].folder, std::path::Path::new("crds"));
}

#[test]
fn bare_openapi_documents_are_versions_of_what_is_put() {
    let shop = Memory::shop([]);
    let catalog = Catalog::load_from(&shop, &["specs/2025-01-01.json", "specs/2024-06-10.json"]).unwrap();
    assert_eq!(shown(&catalog), "");
    let [cart] = catalog.kinds() else { panic!("{:?}", catalog.kinds().len()) };
    assert_eq!(&*cart.declaration.kind, "Cart");
    assert_eq!(versions(&cart.declaration), ["2025-01-01", "2024-06-10"]);
    let twice = Catalog::load_from(&shop, &["specs/2025-01-01.json", "specs/2025-01-01.json"]).unwrap();
    assert_eq!(broken(&twice), ["WW118"]);
}

#[test]
fn without_operations_the_definitions_that_nobody_refers_to_are_kinds() {
    let text = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\ncomponents:\n  schemas:\n    A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}\n    B: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}\n    C: {type: object}\n";
    let catalog = Memory::new([("a.yaml", text)]).load("a.yaml");
    let names: Vec<_> = catalog.kinds().iter().map(|kind| &*kind.declaration.kind).collect();
    assert_eq!(names, ["A", "C"]);
}

#[test]
fn documents_whose_versions_are_numbers_are_ordered_by_these() {
    let text = |version: &str| {
        format!(
            "openapi: 3.0.0\ninfo: {{title: t, version: '{version}'}}\ncomponents: {{schemas: {{A: {{type: object}}}}}}\n"
        )
    };
    let [first, second, third] = ["1.2", "1.10", "2.0"].map(text);
    let memory = Memory::new([("c.yaml", &*third), ("a.yaml", &*first), ("b.yaml", &*second)]);
    let catalog = Catalog::load_from(&memory, &["c.yaml", "b.yaml", "a.yaml"]).unwrap();
    let order = catalog.kinds()[0].declaration.order.clone().unwrap();
    assert_eq!(order.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["1.2", "1.10", "2.0"]);
}

#[test]
fn a_catalog_of_nothing_and_a_folder_for_a_definition_are_mistakes() {
    let shown_of = |text: &str| shown(&Memory::shop([("wheelwright.yaml", text)]).load(""));
    assert!(shown_of("kinds: []").contains("a catalog needs kinds"));
    assert!(shown_of("kinds: [{crd: .}]").contains("cannot read .: "));
}

#[test]
fn versions_that_are_locked_may_be_named() {
    let changes = "v0: {}\nv2: {from: v0}\n";
    let text = "kinds: [{crd: crds/carts.yaml, changes: changes/carts.yaml, order: [v0, v1, v2]}]";
    let catalog = Memory::shop([("wheelwright.yaml", text), ("changes/carts.yaml", changes)]).load("");
    assert!(catalog.findings().is_empty());
    assert_eq!(catalog.unknown_versions(|_, _| false).len(), 3);
    assert!(catalog.unknown_versions(|_, name| name.as_str() == "v0").is_empty());
}

#[test]
fn an_order_is_taken_from_the_file_only_where_names_do_not_tell() {
    let text = "kinds: [{openapi: {2025-01-01: specs/2025-01-01.json, old: specs/2024-06-10.json}, definition: Cart}]";
    let catalog = Memory::shop([("wheelwright.yaml", text)]).load("");
    let order = catalog.kinds()[0].declaration.order.clone().unwrap();
    assert_eq!(order.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["2025-01-01", "old"]);
}

#[test]
fn what_declares_nothing_is_refused() {
    let memory = Memory::new([("a.yaml", "a: 1"), ("empty/b.yaml", ""), ("crd.yaml", CARTS)]);
    let refused = |path: &str| Catalog::load_from(&memory, &[path]).unwrap_err().to_string();
    let nothing = "it declares no kind: there is no catalog, no CustomResourceDefinition and no OpenAPI document";
    assert_eq!(refused("a.yaml"), format!("cannot read a.yaml: {nothing}"));
    assert_eq!(refused("empty"), format!("cannot read empty: {nothing}"));
    assert!(refused("none.yaml").starts_with("cannot read none.yaml: "));
    let both = Catalog::load_from(&memory, &["crd.yaml", "a.yaml"]).unwrap();
    assert_eq!((both.kinds().len(), both.without_kinds()), (1, &["a.yaml".to_owned()][..]));
}

#[test]
fn what_is_broken_is_found_and_not_refused() {
    let old = CARTS.replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1");
    let files = [
        ("old.yaml", &*old),
        ("crd.yaml", "CustomResourceDefinition: ]"),
        ("wheelwright.yaml", "]"),
        ("e/wheelwright.yaml", ""),
    ];
    let memory = Memory::new(files);
    for (path, rule) in
        [("old.yaml", "WW002"), ("crd.yaml", "WW001"), ("wheelwright.yaml", "WW001"), ("", "WW001"), ("e", "WW110")]
    {
        assert_eq!(broken(&memory.load(path)), [rule], "{path}");
    }
}

#[test]
fn catalogs_are_found_on_disk() {
    let folder = Folder::new();
    folder.write("crds/carts.yaml", CARTS);
    folder.write("shop.yaml", "kinds: [{crd: crds/carts.yaml}]");
    let catalog = Catalog::load(&[folder.0.join("shop.yaml")]).unwrap();
    assert_eq!((catalog.kinds().len(), shown(&catalog)), (1, String::new()));
    let bare = Catalog::load(&[folder.0.join("crds")]).unwrap();
    assert_eq!(bare.kinds().len(), 1);
    folder.write("wheelwright.yaml", "kinds: []");
    assert_eq!(Catalog::load(&[&folder.0]).unwrap().kinds().len(), 0);
}

#[test]
fn what_a_definition_says_of_serving_is_kept_with_what_the_catalog_adds() {
    let definition = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: carts.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Cart, plural: carts, shortNames: [ct], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {qty: {type: integer}}}}}}
  - name: v2
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.qty, statusReplicasPath: .status.qty}}
    additionalPrinterColumns: [{name: Quantity, type: integer, jsonPath: .spec.qty, priority: 1}]
    selectableFields: [{jsonPath: .spec.qty}]
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {qty: {type: integer}}}}}}
";
    let text =
        "kinds:\n- {crd: carts.yaml, changes: changes.yaml, deprecated: {v1: {on: 2026-09-01, sunset: 2027-09-01}}}\n";
    let files =
        [("wheelwright.yaml", text), ("carts.yaml", definition), ("changes.yaml", "v2: {default: {spec.qty: 7}}\n")];
    let catalog = Memory::new(files).load("");
    assert_eq!(shown(&catalog), "");
    let [served] = &catalog.kinds()[0].kubernetes[..] else { panic!("one resource") };
    assert_eq!((&*served.plural, &*served.singular, &*served.list_kind), ("carts", "cart", "CartList"));
    assert!(served.is_namespaced && *served.short_names == ["ct".into()] && *served.categories == ["all".into()]);
    let [v1, v2] = &served.versions[..] else { panic!("two versions") };
    let warning = "shop.example.com/v1 Cart is deprecated since 2026-09-01, and will be gone on 2027-09-01";
    assert_eq!((v1.is_deprecated, v1.deprecation_warning.as_deref()), (true, Some(warning)));
    assert!(!v1.has_status && v2.has_status && !v2.is_deprecated);
    assert_eq!(v2.scale.as_ref().map(|scale| &*scale.spec_path), Some(".spec.qty"));
    assert_eq!((&*v2.columns[0].name, v2.columns[0].priority), ("Quantity", 1));
    assert_eq!(*v2.selectable_fields, [".spec.qty".into()]);
    let published = |version: &wheelwright_catalog::KubernetesVersion| {
        let arena = wheelwright_document::Arena::new();
        String::from_utf8(wheelwright_document::encode(version.schema.share(&arena))).unwrap()
    };
    assert!(published(v2).contains(r#"{"type":"integer","default":7}"#), "{}", published(v2));
    assert!(!published(v1).contains("default"));
}
