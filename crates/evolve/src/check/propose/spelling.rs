//! Which conversion makes a field that went one that came, told by names and shapes.

use super::{
    Became, Proposal,
    units::{self, Measured, Quantity},
};
use crate::{
    Bounds, Clamped, Conversion, DocumentFormat, NodeIndex, Scalar, Selector, Shape, Step,
    check::{likeness::names::names_alike, side::Side},
    declaration::is_on_one_side,
};

/// The conversion between two fields, if it is a probable one, and if it could be declared: both are in the same list items
/// or map values, or in none.
pub(crate) fn between(before: &Side<'_>, after: &Side<'_>, gone: NodeIndex, came: NodeIndex) -> Option<Proposal> {
    let (gone, came) = (End { side: before, node: gone }, End { side: after, node: came });
    let names = Names::of(&gone, &came)?;
    let spelled = gone.spelled(&came, &names)?;
    let (from, to) = (gone.selector(&spelled.each), came.selector(&spelled.each));
    let is_of_one_scope = before.version.element_of(gone.node) == after.version.element_of(came.node);
    let can_be_declared = is_of_one_scope && is_on_one_side(&from, &to);
    let Spelled { with, each, is_likely, because } = spelled;
    let with = gone.clamped(&came, with, each.is_some());
    let otherwise = (!is_likely).then(|| super::otherwise_removed(&from));
    can_be_declared.then_some(Proposal { from, became: Became::Respelled(to, with), is_likely, because, otherwise })
}

/// How the names of two fields are alike.
struct Names<'n> {
    old: &'n str,
    new: &'n str,
    /// They are the same.
    same: bool,
    /// They are the same once their units are left out.
    same_stem: bool,
}

impl<'n> Names<'n> {
    fn of(gone: &End<'n>, came: &End<'n>) -> Option<Self> {
        let (old, new) = (gone.name()?, came.name()?);
        let stem = |name: &'n str| units::measured(name).map_or(name, |measured| measured.stem);
        let (same, same_stem) = (old == new, stem(old) == stem(new));
        (same_stem || names_alike(old, new).is_some()).then_some(Self { old, new, same, same_stem })
    }

    fn measured(&self, quantity: Quantity) -> Option<Measured<'n>> {
        [self.new, self.old].into_iter().filter_map(units::measured).find(|found| found.quantity == quantity)
    }
}

/// One of the two fields, in its version.
struct End<'s> {
    side: &'s Side<'s>,
    node: NodeIndex,
}

/// A conversion that fits.
struct Spelled {
    with: Conversion,
    /// What is converted one by one: the items of a list or the values of a map.
    each: Option<Step>,
    is_likely: bool,
    because: String,
}

impl Spelled {
    fn new(with: Conversion, is_likely: bool, because: impl Into<String>) -> Self {
        Self { with, each: None, is_likely, because: because.into() }
    }
}

impl<'s> End<'s> {
    fn name(&self) -> Option<&'s str> {
        self.side.version.structure.node(self.node).name()
    }

    fn shape(&self) -> Shape {
        self.side.version.structure.node(self.node).shape
    }

    fn element(&self) -> Option<End<'s>> {
        let node = self.side.version.structure.element(self.node)?;
        Some(Self { side: self.side, node })
    }

    fn fields(&self) -> Vec<End<'s>> {
        let children = &self.side.version.structure.node(self.node).children;
        children.iter().map(|node| Self { side: self.side, node: *node }).collect()
    }

    fn field(&self, name: &str) -> Option<End<'s>> {
        let node = self.side.version.structure.child(self.node, name)?;
        Some(Self { side: self.side, node })
    }

    fn selector(&self, each: &Option<Step>) -> Selector {
        let field = self.side.version.structure.selector(self.node);
        Selector::from_steps(field.steps().iter().cloned().chain(each.clone()).collect())
    }

    /// Whether two values are of one shape.
    fn is_like(&self, other: &End<'_>) -> bool {
        let (one, two) = (&self.side.version.structure, &other.side.version.structure);
        one.keeps_shape(self.node, two, other.node) || two.keeps_shape(other.node, one, self.node)
    }

    /// Whether half of the fields of the smaller object are in the other one.
    fn has_fields_of(&self, other: &End<'_>) -> bool {
        let (mine, others) = (self.fields(), other.fields());
        let common = mine.iter().filter(|field| field.name().is_some_and(|name| other.field(name).is_some())).count();
        common > 0 && mine.len().min(others.len()) <= 2 * common
    }

    /// The conversion with numbers clamped, if it makes numbers that the other field may have no room for.
    fn clamped(&self, came: &End<'_>, with: Conversion, is_each: bool) -> Conversion {
        let bounds = |end: &End<'_>| {
            let end = if is_each { end.element() } else { Some(End { side: end.side, node: end.node }) };
            end.and_then(|end| end.side.schema(end.node)).map(Bounds::of).unwrap_or_default()
        };
        let (own, others) = (bounds(self), bounds(came));
        match with {
            Conversion::DurationSeconds | Conversion::Quantity | Conversion::Text | Conversion::Scale(_)
                if own == Bounds::NONE && others != Bounds::NONE =>
            {
                Conversion::Clamped(Clamped { with: Some(Box::new(with)), from: own, to: others })
            }
            with => with,
        }
    }

    fn spelled(&self, came: &End<'_>, names: &Names<'_>) -> Option<Spelled> {
        match (self.shape(), came.shape()) {
            (Shape::Scalar(old), Shape::Scalar(new)) => scalars(old, new, names),
            (Shape::List, Shape::Map) => keyed(self, came, names),
            (Shape::Map, Shape::List) => keyed(came, self, names),
            (Shape::List, Shape::Object) => one_item(self, came),
            (Shape::Object, Shape::List) => one_item(came, self),
            (Shape::List, Shape::Scalar(Scalar::String)) => joined(self),
            (Shape::Scalar(Scalar::String), Shape::List) => joined(came),
            (Shape::Scalar(_), Shape::Object) => with_key(self, came, names).or_else(|| document(self, came, names)),
            (Shape::Object, Shape::Scalar(_)) => with_key(came, self, names).or_else(|| document(came, self, names)),
            (Shape::List, Shape::List) | (Shape::Map, Shape::Map) => {
                let (Shape::Scalar(old), Shape::Scalar(new)) = (self.element()?.shape(), came.element()?.shape())
                else {
                    return None;
                };
                let step = if self.shape() == Shape::List { Step::Items } else { Step::Values };
                Some(Spelled { each: Some(step), ..scalars(old, new, names)? })
            }
            _ => None,
        }
    }
}

fn scalars(old: Scalar, new: Scalar, names: &Names<'_>) -> Option<Spelled> {
    let is_number = |scalar| matches!(scalar, Scalar::Integer | Scalar::Number);
    let between = |one: Scalar, other: Scalar| format!("{} became {}", one.name(), other.name());
    match (old, new) {
        (old, new) if is_number(old) && is_number(new) => scaled(names),
        (Scalar::String, number) | (number, Scalar::String) if is_number(number) => {
            let time = names.measured(Quantity::Time).filter(|time| time.size == units::SECOND);
            let bytes = names.measured(Quantity::Bytes).filter(|bytes| bytes.size == 1);
            Some(if time.is_some() {
                let because = "a text became seconds, or seconds a text, by their names";
                Spelled::new(Conversion::DurationSeconds, names.same_stem, because)
            } else if bytes.is_some() {
                let because = "a quantity became bytes, or bytes a quantity, by their names";
                Spelled::new(Conversion::Quantity, names.same_stem, because)
            } else if [names.old, names.new].into_iter().any(units::is_time) {
                let because = format!("{}, and the name is that of a time", between(old, new));
                Spelled::new(Conversion::DurationSeconds, false, because)
            } else if [names.old, names.new].into_iter().any(units::is_amount) {
                let because = format!("{}, and the name is that of an amount", between(old, new));
                Spelled::new(Conversion::Quantity, false, because)
            } else {
                Spelled::new(Conversion::Text, names.same, between(old, new))
            })
        }
        (Scalar::String, Scalar::Boolean) | (Scalar::Boolean, Scalar::String) => {
            Some(Spelled::new(Conversion::Text, names.same, between(old, new)))
        }
        _ => None,
    }
}

/// A number in two units.
fn scaled(names: &Names<'_>) -> Option<Spelled> {
    let (old, new) = units::measured(names.old).zip(units::measured(names.new))?;
    if !units::differ_in_unit(names.old, names.new) {
        return None;
    }
    let factor = if old.size % new.size == 0 {
        (old.size / new.size).to_string()
    } else {
        decimal(new.size / old.size).filter(|_| new.size % old.size == 0)?
    };
    Some(Spelled::new(Conversion::Scale(factor.into()), true, "the names say the same in two units"))
}

/// One divided by a number, if that is a power of ten.
fn decimal(divisor: u64) -> Option<String> {
    let zeros = divisor.checked_ilog10()?;
    (10_u64.pow(zeros) == divisor).then(|| format!("0.{}1", "0".repeat((zeros as usize).saturating_sub(1))))
}

/// A list of objects and a map by one of their fields.
fn keyed(list: &End<'_>, map: &End<'_>, names: &Names<'_>) -> Option<Spelled> {
    let (item, value) = (list.element()?, map.element()?);
    let is_text = |key: &str| item.field(key).is_some_and(|field| field.shape() == Shape::Scalar(Scalar::String));
    let declared = match &list.side.version.structure.node(list.node).keys[..] {
        [key] => Some(&**key),
        _ => None,
    };
    let is_declared = declared.is_some_and(is_text);
    let key = declared.into_iter().chain(["name", "key", "id"]).find(|key| is_text(key))?;
    let others: Vec<End<'_>> = item.fields().into_iter().filter(|field| field.name() != Some(key)).collect();
    let held = match (value.shape(), &others[..]) {
        (Shape::Object, _) if value.has_fields_of(&item) && value.field(key).is_none() => None,
        (_, [only]) if only.is_like(&value) => Some(only.name()?.into()),
        _ => return None,
    };
    let with = Conversion::KeyedList { key: key.into(), value: held };
    Some(Spelled::new(with, names.same || is_declared, format!("a list of objects and a map by their {key}")))
}

fn one_item(list: &End<'_>, object: &End<'_>) -> Option<Spelled> {
    let item = list.element()?;
    let is_alike = item.shape() == Shape::Object && item.has_fields_of(object);
    is_alike.then(|| Spelled::new(Conversion::OneItem, true, "an object and a list of such objects"))
}

fn joined(list: &End<'_>) -> Option<Spelled> {
    let is_of_texts = list.element()?.shape() == Shape::Scalar(Scalar::String);
    let because = "a text and a list of texts; the delimiter is a guess";
    is_of_texts.then(|| Spelled::new(Conversion::Joined(",".into()), false, because))
}

/// A scalar and an object that has it.
fn with_key(scalar: &End<'_>, object: &End<'_>, names: &Names<'_>) -> Option<Spelled> {
    let fits = |field: &End<'_>| matches!(field.shape(), Shape::Scalar(_)) && field.is_like(scalar);
    let preferred = [names.old, names.new, "name", "value", "id"].into_iter().filter_map(|name| object.field(name));
    let only = Some(object.fields()).filter(|fields| fields.len() == 1).into_iter().flatten();
    let key = preferred.chain(only).find(fits)?.name()?;
    let because = format!("a {} and an object that has one, {key}", scalar.shape().name());
    Some(Spelled::new(Conversion::ObjectWithKey(key.into()), names.same, because))
}

/// A text and an object of any fields, under one name.
fn document(text: &End<'_>, object: &End<'_>, names: &Names<'_>) -> Option<Spelled> {
    let is_open = object.side.version.structure.node(object.node).keeps_unknown
        || object.fields().iter().any(|field| field.side.version.structure.node(field.node).keeps_unknown);
    let fits = names.same && is_open && text.shape() == Shape::Scalar(Scalar::String);
    let because = "a text became an object of any fields, or an object a text: it may contain YAML";
    fits.then(|| Spelled::new(Conversion::Document(DocumentFormat::Yaml), false, because))
}
