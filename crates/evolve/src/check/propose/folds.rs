//! Richer fields that both versions have, into which a shorthand that went can be folded.

use super::{
    super::{likeness::names::words, side::Side},
    text::{flow, path},
};
use crate::{
    Conversion, Located, NodeIndex, Respelled, Selector, Shape,
    compute::{self, Converter, Hooks},
};

/// Objects are looked into so far.
const DEEPEST: usize = 3;
/// More fields than this are not looked at for one that went.
const MOST: usize = 256;

/// A field of the later version into which one that went can be folded, and how.
pub(crate) struct Fold {
    pub(crate) came: NodeIndex,
    with: Conversion,
}

impl Fold {
    /// The first field that fits: below `object`, of which the names say what the name of the shorthand says.
    pub(crate) fn of(before: &Side<'_>, after: &Side<'_>, gone: NodeIndex, object: NodeIndex) -> Option<Self> {
        let said = words(before.version.structure.node(gone).name()?);
        let structure = &after.version.structure;
        let mut ahead = vec![(object, words(""), 0)];
        let mut looked_at = 0;
        while let Some((node, above, depth)) = ahead.pop() {
            for child in structure.node(node).children.iter().copied() {
                looked_at += 1;
                if looked_at > MOST {
                    return None;
                }
                let own = words(structure.node(child).name().unwrap_or_default());
                let path = above.union(&own).cloned().collect();
                // `priorityClassName` is said by `priorityClassRef.name`, not by `priorityClassNameTemplate`.
                let fold = || Self::between(before, after, gone, child);
                if said.is_subset(&path)
                    && own.is_subset(&said)
                    && let Some(fold) = fold()
                {
                    return Some(fold);
                }
                if structure.node(child).shape == Shape::Object && depth < DEEPEST {
                    ahead.push((child, path, depth + 1));
                }
            }
        }
        None
    }

    /// How a field that went can be folded into one that both versions have, if it can.
    pub(crate) fn between(before: &Side<'_>, after: &Side<'_>, gone: NodeIndex, came: NodeIndex) -> Option<Self> {
        let beside = before.version.counterpart(after.version, came)?;
        let keys = after.version.structure.node(came).keys.iter().map(|key| &**key);
        let keys = keys.chain(["name", "key", "id"]).map(|key| Some(key.into()));
        let fits = |key: &Option<Box<str>>| {
            let located = |path| Located { item: path, span: Default::default() };
            let [from, beside_it] = [gone, beside].map(|node| located(before.version.structure.selector(node)));
            let to = vec![located(after.version.structure.selector(came))];
            let with = Located { item: Conversion::Folded(key.clone()), span: Default::default() };
            let respelled = Respelled { from: vec![from, beside_it], to, with };
            let (from, to) = ([gone, beside], [came]);
            let from = compute::Side { structure: &before.version.structure, fields: &from };
            let to = compute::Side { structure: &after.version.structure, fields: &to };
            Converter::compile(&respelled, from, to, &Hooks::default()).is_ok()
        };
        let key = std::iter::once(None).chain(keys).find(fits)?;
        Some(Self { came, with: Conversion::Folded(key) })
    }

    /// The line of a changes file that declares it.
    pub(crate) fn line(&self, before: &Side<'_>, after: &Side<'_>, from: &Selector) -> Option<String> {
        let beside = before.version.counterpart(after.version, self.came)?;
        let [beside, to] =
            [(before, beside), (after, self.came)].map(|(side, node)| side.version.structure.selector(node));
        let folded = match &self.with {
            Conversion::Folded(Some(key)) => flow(key),
            _ => "true".to_owned(),
        };
        let [from, beside, to] = [from, &beside, &to].map(path);
        Some(format!("reshaped: [{{from: [{from}, {beside}], to: {to}, folded: {folded}}}]"))
    }
}
