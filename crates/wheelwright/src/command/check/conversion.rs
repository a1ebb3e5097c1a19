//! What Kubernetes drops from now on: nothing converts between versions any more, or another version is stored.

use wheelwright_catalog::Kind;
use wheelwright_evolve::{
    Declaration, History, VersionIndex,
    check::{Lost, lost_under_none},
};
use wheelwright_schema::KubernetesResource;

/// The loss of a conversion webhook, with the first field that depended on it. Versions with the same fields need none.
pub(super) fn lost_webhook(old: &KubernetesResource, new: &KubernetesResource, kind: &Kind) -> Option<String> {
    if !old.has_webhook || new.has_webhook {
        return None;
    }
    let in_use = new.versions.iter().filter(|version| version.is_served || version.is_storage);
    let names: Vec<&str> = in_use.map(|version| &*version.name).collect();
    let what = names.windows(2).find_map(|pair| difference(&kind.declaration, pair[0], pair[1]))?;
    Some(format!("its conversion strategy is None, not Webhook: {what}"))
}

/// The version that is stored now instead of another one, with the first field that it lacks, unless a webhook converts.
pub(super) fn narrower_storage<'r>(
    old: &KubernetesResource,
    new: &'r KubernetesResource,
    kind: &Kind,
) -> Option<(&'r str, String)> {
    let (was, is) = (stored_version(old)?, stored_version(new)?);
    if was == is || new.has_webhook {
        return None;
    }
    let (lost, _) = lost_between(&kind.declaration, was, is)?;
    let field = &lost.fields.first()?.field;
    Some((is, format!("{is} is stored, not {was}, and lacks {field}: without a webhook, every write drops it")))
}

fn stored_version(resource: &KubernetesResource) -> Option<&str> {
    resource.versions.iter().find(|version| version.is_storage).map(|version| &*version.name)
}

/// The first field that one of two versions drops of documents of the other, or that has another shape in it.
fn difference(declaration: &Declaration, a: &str, b: &str) -> Option<String> {
    let (there, back) = lost_between(declaration, a, b)?;
    for lost in [there, back] {
        if let Some(lost_field) = lost.fields.first() {
            return Some(format!("{} drops {} of {}", lost.through, lost_field.field, lost.version));
        }
    }
    let (history, [a, b]) = history_of(declaration, [a, b])?;
    let (one, other) = (history.version(a), history.version(b));
    let mut fields = one.structure.fields().filter_map(|node| {
        let field = one.structure.selector(node);
        let there = other.structure.find(&field)?;
        (!one.structure.keeps_shape(node, &other.structure, there)).then_some(field)
    });
    let field = fields.next()?;
    Some(format!("{field} has one shape in {} and another in {}", one.name, other.name))
}

/// What Kubernetes drops of documents of each of two versions, where it converts them itself.
fn lost_between(declaration: &Declaration, a: &str, b: &str) -> Option<(Lost, Lost)> {
    let (history, [a, b]) = history_of(declaration, [a, b])?;
    let loss = lost_under_none(declaration, &history, a, b);
    Some((loss.there, loss.back))
}

fn history_of(declaration: &Declaration, names: [&str; 2]) -> Option<(History, [VersionIndex; 2])> {
    let (history, _) = History::derive(declaration, None);
    let [a, b] = names.map(|name| history.find(name).filter(|_| declaration.version(name).is_some()));
    Some((history, [a?, b?]))
}
