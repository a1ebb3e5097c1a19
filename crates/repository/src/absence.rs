//! What a document lacks that it lacked before.

use std::collections::HashSet;

use wheelwright_document::{FieldPath, ItemOrigins, Path, Value};
use wheelwright_evolve::{NodeIndex, Shape, Structure, match_items, match_known};

/// The fields of a version that are absent from objects of a new document and from the same objects of the old one. Items
/// of lists are matched as everywhere, and never by their place alone, unless a JSON patch named it.
pub(crate) fn absent_in_both(
    structure: &Structure,
    new: Value<'_>,
    old: Value<'_>,
    origins: Option<&ItemOrigins<'_>>,
) -> HashSet<FieldPath> {
    let mut walk = Walk { structure, found: HashSet::new() };
    walk.value(structure.root(), new, (old, origins), &Path::Root);
    walk.found
}

struct Walk<'w> {
    structure: &'w Structure,
    found: HashSet<FieldPath>,
}

impl Walk<'_> {
    fn value(
        &mut self,
        node: NodeIndex,
        new: Value<'_>,
        (old, origins): (Value<'_>, Option<&ItemOrigins<'_>>),
        path: &Path<'_>,
    ) {
        let origins_of = |name: &str| origins.and_then(|origins| origins.field(name));
        let element = self.structure.element(node);
        match (new, old, self.structure.node(node).shape) {
            (Value::Object(_), Value::Object(_), Shape::Object) => {
                for child in &self.structure.node(node).children {
                    let Some(name) = self.structure.node(*child).name() else { continue };
                    let path = &Path::Child(path, name);
                    match (new.get(name), old.get(name)) {
                        (None, None) => drop(self.found.insert(path.to_field_path())),
                        (Some(new), Some(old)) => self.value(*child, new, (old, origins_of(name)), path),
                        _ => {}
                    }
                }
            }
            (Value::Object(new), Value::Object(_), Shape::Map) => {
                for entry in new {
                    if let (Some(element), Some(old)) = (element, old.get(entry.key)) {
                        self.value(element, entry.value, (old, origins_of(entry.key)), &Path::Key(path, entry.key));
                    }
                }
            }
            (Value::Array(new), Value::Array(old), Shape::List) => {
                let Some(element) = element else { return };
                let keys = &self.structure.node(node).keys;
                let known = || match_known(new, old, keys, origins?.items()?);
                let matched = known().unwrap_or_else(|| match_items(new, old, keys));
                for (index, (item, old_item)) in new.iter().zip(matched).enumerate() {
                    if let Some(old_item) = old_item {
                        let origins = origins.and_then(|origins| origins.item_of(index, Some(old_item)));
                        self.value(element, *item, (old[old_item], origins), &Path::Index(path, index));
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode, decode_json_spanned};
    use wheelwright_schema::{Root, lower_schema};

    use super::*;

    #[test]
    fn items_are_matched_and_not_their_places() {
        let arena = Arena::new();
        let schema = br#"{"type":"object","properties":{"disks":{"type":"array","items":{"type":"object",
            "properties":{"name":{"type":"string"},"tier":{"type":"string"}}}}}}"#;
        let schema = lower_schema(&decode_json_spanned(schema, &arena, &Decode::default()).unwrap()).item;
        let structure = Structure::of(&schema, Root::Value);
        let absent = |new: &'static str, old: &'static str| {
            let [new, old] = [new, old].map(|text| decode(text.as_bytes(), &arena).unwrap());
            let mut found: Vec<String> =
                absent_in_both(&structure, new, old, None).iter().map(ToString::to_string).collect();
            found.sort_unstable();
            found
        };
        let old = r#"{"disks":[{"name":"a","tier":"x"},{"tier":"y"}]}"#;
        assert_eq!(absent(r#"{"disks":[{"tier":"y"}]}"#, old), ["disks[0].name"]);
        assert_eq!(
            absent(r#"{"disks":[{"name":"a","tier":"x"},{"tier":"y"},{"tier":"new"}]}"#, old),
            ["disks[1].name"]
        );
        assert_eq!(absent("{}", old), [""; 0]);
        assert_eq!(absent("{}", "{}"), ["disks"]);
    }
}
