//! Edits that clients make: of a list that they send as a whole, or by the operations of a JSON patch.

use serde_json::{Value as Json, json};

use crate::{
    documents::{Maker, instances, set},
    subjects::Subject,
    tags::without,
};

/// A sort of edit of one list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    EditInPlace,
    Remove,
    Insert,
    Duplicate,
    Reorder,
    SwapAndEdit,
    Several,
}

pub(crate) const SORTS: [(Sort, &str); 7] = [
    (Sort::EditInPlace, "edit in place"),
    (Sort::Remove, "remove"),
    (Sort::Insert, "insert"),
    (Sort::Duplicate, "duplicate"),
    (Sort::Reorder, "reorder"),
    (Sort::SwapAndEdit, "swap and edit"),
    (Sort::Several, "several edits"),
];

/// A list after an edit.
pub(crate) struct Edit {
    pub(crate) items: Vec<Json>,
    /// The old item that the client made each of them of.
    pub(crate) origins: Vec<Option<usize>>,
}

/// Edits a list; nothing if there is nothing to edit.
pub(crate) fn edit(sort: Sort, maker: &mut Maker<'_>, list: usize, shown: &[Json]) -> Option<Edit> {
    let mut edit = Edit { items: shown.to_vec(), origins: (0..shown.len()).map(Some).collect() };
    edit.apply(sort, maker, list)?;
    Some(edit)
}

impl Edit {
    fn apply(&mut self, sort: Sort, maker: &mut Maker<'_>, list: usize) -> Option<()> {
        let count = self.items.len();
        let any = |maker: &mut Maker<'_>| (count > 0).then(|| maker.random.below(count));
        match sort {
            Sort::EditInPlace => {
                for _ in 0..1 + maker.random.below(3) {
                    let at = any(maker)?;
                    maker.freshen(list, &mut self.items[at])?;
                }
            }
            Sort::Remove => {
                for _ in 0..1 + maker.random.below(count.clamp(1, 2)) {
                    let at = maker.random.below(self.items.len());
                    (!self.items.is_empty()).then(|| (self.items.remove(at), self.origins.remove(at)))?;
                }
            }
            Sort::Insert => {
                let at = maker.random.below(count + 1);
                self.items.insert(at, maker.plain(list));
                self.origins.insert(at, None);
            }
            Sort::Duplicate => {
                let (from, at) = (any(maker)?, maker.random.below(count + 1));
                self.items.insert(at, self.items[from].clone());
                self.origins.insert(at, None);
            }
            Sort::Reorder => {
                let mut order: Vec<usize> = (0..count).collect();
                maker.random.shuffle(&mut order);
                self.items = order.iter().map(|at| self.items[*at].clone()).collect();
                self.origins = order.iter().map(|at| self.origins[*at]).collect();
            }
            Sort::SwapAndEdit => {
                let (first, second) = (any(maker)?, any(maker)?);
                if first == second {
                    return None;
                }
                maker.freshen(list, &mut self.items[first])?;
                maker.freshen(list, &mut self.items[second])?;
                self.items.swap(first, second);
                self.origins.swap(first, second);
            }
            Sort::Several => {
                for _ in 0..2 + maker.random.below(2) {
                    let next = SORTS[maker.random.below(SORTS.len() - 1)].0;
                    self.apply(next, maker, list);
                }
            }
        }
        Some(())
    }
}

/// A random JSON patch, with the names of its operations.
pub(crate) struct Patch {
    pub(crate) operations: Vec<Json>,
    pub(crate) names: Vec<&'static str>,
}

/// A JSON patch of the lists on the way to a list. It is applied to the client's document and, with all that items hide, to
/// `everything`.
pub(crate) fn patch(
    maker: &mut Maker<'_>,
    subject: &Subject,
    list: usize,
    shown: &mut Json,
    everything: &mut Json,
) -> Patch {
    let path = &subject.lists[list].path;
    let on_path: Vec<usize> =
        (0..subject.lists.len()).filter(|at| path.starts_with(&subject.lists[*at].path)).collect();
    let is_keyed = on_path.iter().any(|list| !subject.lists[*list].keys.is_empty());
    let mut patch = Patch { operations: Vec::new(), names: Vec::new() };
    // In lists with keys, what is taken away and put back is the same item again.
    let count = if is_keyed { 1 } else { 1 + maker.random.below(4) };
    for _ in 0..count {
        let at = on_path[maker.random.below(on_path.len())];
        // The lists in an item that is replaced are not named any more, so that what operations did there is unknown.
        let names_all = at == list || patch.operations.is_empty();
        let sorts = if names_all { &OPERATIONS[..] } else { &OPERATIONS[..OPERATIONS.len() - 1] };
        if let Some((operation, name)) = operation(maker, subject, (at, sorts), shown, everything) {
            patch.operations.push(operation);
            patch.names.push(name);
            if name == REPLACE && on_path.len() > 1 {
                break;
            }
        }
    }
    patch
}

pub(crate) const OPERATIONS: [&str; 7] =
    ["add", "remove", "move", "copy", "replace a field", "move to another list", REPLACE];
const REPLACE: &str = "replace an item";

fn operation(
    maker: &mut Maker<'_>,
    subject: &Subject,
    (list, sorts): (usize, &[&'static str]),
    shown: &mut Json,
    everything: &mut Json,
) -> Option<(Json, &'static str)> {
    let lists = instances(shown, &subject.lists[list].path);
    let at = maker.random.pick(&lists)?.clone();
    let items = shown.pointer(&at)?.as_array()?.clone();
    let name = sorts[if items.is_empty() { 0 } else { maker.random.below(sorts.len()) }];
    let [from, to] = [(); 2].map(|()| maker.random.below(items.len()));
    let [shown_items, all_items] = [shown, everything].map(|document| (at.clone(), document));
    let list_of = |(at, document): (String, &mut Json), act: &mut dyn FnMut(&mut Vec<Json>)| {
        act(document.pointer_mut(&at).and_then(Json::as_array_mut).expect("both have the list"));
    };
    let mut both = |act: &mut dyn FnMut(&mut Vec<Json>)| {
        list_of((shown_items.0.clone(), shown_items.1), act);
        list_of((all_items.0.clone(), all_items.1), act);
    };
    let here = format!("{at}/{from}");
    let operation = match name {
        "remove" => {
            both(&mut |items| drop(items.remove(from)));
            json!({"op": "remove", "path": here})
        }
        "move" => {
            both(&mut |items| {
                let item = items.remove(from);
                items.insert(to, item);
            });
            json!({"op": "move", "from": here, "path": format!("{at}/{to}")})
        }
        "copy" => {
            both(&mut |items| items.insert(to, without(&items[from])));
            json!({"op": "copy", "from": here, "path": format!("{at}/{to}")})
        }
        "add" => {
            let (item, to) = (maker.plain(list), maker.random.below(items.len() + 1));
            both(&mut |items| items.insert(to, item.clone()));
            let is_last = to == items.len() && maker.random.one_in(2);
            let to = if is_last { "-".to_owned() } else { to.to_string() };
            json!({"op": "add", "path": format!("{at}/{to}"), "value": item})
        }
        "replace a field" | REPLACE => {
            let mut item = items[from].clone();
            let (leaf, value) = maker.freshen(list, &mut item)?;
            both(&mut |items| set(&mut items[from], &leaf.names, value.clone()));
            match (name, &leaf.names[..]) {
                (REPLACE, _) => json!({"op": "replace", "path": here, "value": item}),
                // A field that is added may have been there.
                (_, [field]) => json!({"op": "add", "path": format!("{here}/{field}"), "value": value}),
                (_, [object, ..]) => {
                    json!({"op": "add", "path": format!("{here}/{object}"), "value": item[object]})
                }
                _ => return None,
            }
        }
        _ => {
            let others: Vec<&String> = lists.iter().filter(|other| **other != at).collect();
            let other = (*maker.random.pick(&others)?).clone();
            let mut moved = Json::Null;
            both(&mut |items| moved = without(&items.remove(from)));
            list_of((other.clone(), shown_items.1), &mut |items| items.insert(0, moved.clone()));
            list_of((other.clone(), all_items.1), &mut |items| items.insert(0, moved.clone()));
            json!({"op": "move", "from": here, "path": format!("{other}/0")})
        }
    };
    Some((operation, name))
}
