//! Formats with names, and what is wrong with a text that is not of one.

use wheelwright_text::NamedFormat;

use super::{Answer, Cost, Kind, Overload, TEXTS, global, member, strings::text_at, tenth};
use crate::{Failure, evaluate::Evaluator, value::Val};

const ONE: Cost = Cost::Fixed(1);

macro_rules! formats {
    ($($name:literal $variant:ident),* $(,)?) => {
        pub(super) const CONSTANTS: &[Overload] = &[
            $(global(concat!("format.", $name), &[], Kind::Format, ONE, |_, _| {
                Ok(Val::Format(NamedFormat::$variant))
            })),*
        ];
    };
}

formats! {
    "dns1123Label" Dns1123Label,
    "dns1123Subdomain" Dns1123Subdomain,
    "dns1035Label" Dns1035Label,
    "qualifiedName" QualifiedName,
    "dns1123LabelPrefix" Dns1123LabelPrefix,
    "dns1123SubdomainPrefix" Dns1123SubdomainPrefix,
    "dns1035LabelPrefix" Dns1035LabelPrefix,
    "labelValue" LabelValue,
    "uri" Uri,
    "uuid" Uuid,
    "byte" Byte,
    "date" Date,
    "datetime" DateTime,
}

pub(super) const OVERLOADS: &[Overload] = &[
    global(
        "format.named",
        &[Kind::String],
        Kind::Optional(&Kind::Format),
        Cost::Traversal(1),
        |evaluator, arguments| {
            Ok(match NamedFormat::named(text_at(arguments, 0)?) {
                Some(format) => evaluator.some(Val::Format(format)),
                None => Val::Optional(None),
            })
        },
    ),
    member("validate", &[Kind::Format, Kind::String], Kind::Optional(&TEXTS), ONE, validate),
];

/// What is wrong with a text; nothing if it is of the format.
fn validate<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let Val::Format(format) = arguments[0] else { return Err(Failure::no_such_overload("validate")) };
    let text = text_at(arguments, 1)?;
    evaluator.charge(tenth(text.len() as u64).saturating_mul(format.regex_size().div_ceil(4).max(1)))?;
    let problems = format.validate(text);
    if problems.is_empty() {
        return Ok(Val::Optional(None));
    }
    let problems: Vec<_> = problems.iter().map(|problem| Val::String(evaluator.arena.text(problem))).collect();
    Ok(evaluator.some(Val::List(evaluator.arena.slice(&problems))))
}
