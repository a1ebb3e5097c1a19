//! What expressions can use: every operator, function and macro, described for people and for tests.

use crate::library::{self, Kind, Origin, Overload};

/// An operator, a function for arguments of certain types, or a macro.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Function {
    /// Its name; of operators the sign, with `_` for operands where the sign alone would not do.
    pub name: &'static str,
    /// How it is used and what it gives: `string.charAt(int) -> string`.
    pub signature: String,
    /// From which minor version of Kubernetes 1 on the rules of a schema have it; none if they do not.
    pub since: Option<u16>,
}

/// All of them: what the language itself has, then the functions and operators of the libraries, in a fixed order.
pub fn functions() -> Vec<Function> {
    let syntax = SYNTAX.iter().map(|(name, signature, since)| Function {
        name,
        signature: (*signature).to_owned(),
        since: *since,
    });
    syntax.chain(library::all().map(Function::of)).collect()
}

/// What has no overloads, because the operands decide what is evaluated at all, or because it is a macro.
const SYNTAX: &[(&str, &str, Option<u16>)] = &[
    ("&&", "bool && bool -> bool", Some(23)),
    ("||", "bool || bool -> bool", Some(23)),
    ("?:", "bool ? A : A -> A", Some(23)),
    (".", "object.field -> A", Some(23)),
    (".?", "object.?field -> optional(A)", Some(28)),
    ("`", "object.`field` -> A", None),
    ("[]", "[A, …] -> list(A)", Some(23)),
    ("[?]", "[?optional(A), …] -> list(A)", Some(28)),
    ("{}", "{A: B, …} -> map(A, B)", Some(23)),
    ("{?}", "{?A: optional(B), …} -> map(A, B)", Some(28)),
    ("has", "has(object.field) -> bool", Some(23)),
    ("all", "list(A).all(a, bool) -> bool", Some(23)),
    ("all", "list(A).all(index, a, bool) -> bool", Some(32)),
    ("exists", "list(A).exists(a, bool) -> bool", Some(23)),
    ("exists", "list(A).exists(index, a, bool) -> bool", Some(32)),
    ("exists_one", "list(A).exists_one(a, bool) -> bool", Some(23)),
    ("existsOne", "list(A).existsOne(a, bool) -> bool", Some(32)),
    ("existsOne", "list(A).existsOne(index, a, bool) -> bool", Some(32)),
    ("filter", "list(A).filter(a, bool) -> list(A)", Some(23)),
    ("map", "list(A).map(a, B) -> list(B)", Some(23)),
    ("map", "list(A).map(a, bool, B) -> list(B)", Some(23)),
    ("transformList", "list(A).transformList(index, a, B) -> list(B)", Some(32)),
    ("transformList", "list(A).transformList(index, a, bool, B) -> list(B)", Some(32)),
    ("transformMap", "map(A, B).transformMap(a, b, C) -> map(A, C)", Some(32)),
    ("transformMap", "map(A, B).transformMap(a, b, bool, C) -> map(A, C)", Some(32)),
    ("transformMapEntry", "map(A, B).transformMapEntry(a, b, map(C, D)) -> map(C, D)", Some(32)),
    ("transformMapEntry", "map(A, B).transformMapEntry(a, b, bool, map(C, D)) -> map(C, D)", Some(32)),
    ("sortBy", "list(A).sortBy(a, B) -> list(A)", Some(34)),
    ("optMap", "optional(A).optMap(a, B) -> optional(B)", Some(28)),
    ("optFlatMap", "optional(A).optFlatMap(a, optional(B)) -> optional(B)", Some(28)),
    ("cel.bind", "cel.bind(a, A, B) -> B", None),
];

impl Function {
    pub(crate) fn of(overload: &Overload) -> Self {
        Self { name: overload.name, signature: signature(overload), since: since(overload) }
    }
}

fn signature(overload: &Overload) -> String {
    let parameters: Vec<_> = overload.parameters.iter().map(|kind| kind_text(*kind)).collect();
    let name = overload.name;
    let call = match (&*parameters, name) {
        ([operand], "!_" | "-_") => format!("{}{operand}", &name[..1]),
        ([container, index], "_[_]") => format!("{container}[{index}]"),
        ([container, index], "_[?_]") => format!("{container}[?{index}]"),
        ([left, right], _) if name == "in" || !name.starts_with(char::is_alphabetic) => {
            format!("{left} {name} {right}")
        }
        ([target, rest @ ..], _) if overload.is_member => format!("{target}.{name}({})", rest.join(", ")),
        ([], _) if name.starts_with("format.") => format!("{name}()"),
        _ => format!("{name}({})", parameters.join(", ")),
    };
    format!("{call} -> {}", kind_text(overload.result))
}

fn kind_text(kind: Kind) -> String {
    match kind {
        Kind::A => "A".to_owned(),
        Kind::B => "B".to_owned(),
        Kind::List(item) => format!("list({})", kind_text(*item)),
        Kind::Map(key, value) => format!("map({}, {})", kind_text(*key), kind_text(*value)),
        Kind::Optional(value) => format!("optional({})", kind_text(*value)),
        plain => plain.to_type(&crate::Type::Dyn, &crate::Type::Dyn).to_string(),
    }
}

/// The versions in which Kubernetes' rules got the libraries.
fn since(overload: &Overload) -> Option<u16> {
    if overload.origin == Origin::Elsewhere {
        return None;
    }
    let takes =
        |wanted: &[Kind]| overload.parameters.iter().chain([&overload.result]).any(|kind| wanted.contains(kind));
    let is_of_list = matches!(overload.parameters.first(), Some(Kind::List(_)));
    Some(match overload.name {
        "<" | "<=" | ">" | ">=" if overload.parameters[0] != overload.parameters[1] => 28,
        "first" | "last" | "unwrapOpt" | "optional.unwrap" => 34,
        "slice" | "flatten" | "distinct" | "reverse" | "sort" | "lists.range" => 34,
        "isSorted" | "sum" | "min" | "max" | "find" | "findAll" | "isURL" => 24,
        "indexOf" | "lastIndexOf" if is_of_list => 24,
        "isQuantity" => 28,
        "format" | "strings.quote" | "sets.contains" | "sets.equivalent" | "sets.intersects" => 29,
        "isIP" | "isCIDR" | "ip.isCanonical" => 30,
        "isSemver" => 33,
        _ if takes(&[Kind::Url]) => 24,
        _ if takes(&[Kind::Ip, Kind::Cidr]) => 30,
        _ if takes(&[Kind::Format, Kind::Optional(&Kind::Format)]) => 31,
        _ if takes(&[Kind::Semver]) => 33,
        _ if takes(&[Kind::Quantity]) => 28,
        _ if overload.parameters.iter().chain([&overload.result]).any(|kind| matches!(kind, Kind::Optional(_))) => 28,
        _ => 23,
    })
}
