//! Values as they are written in the tables.

use wheelwright_document::{Value, encode_into};
use wheelwright_expr::Val;

pub(crate) fn of(value: Val<'_>) -> String {
    match value {
        Val::Null => "null".to_owned(),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => format!("{value}u"),
        Val::Double(value) => format!("{value:?}"),
        Val::String(text) => format!("{text:?}"),
        Val::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        Val::Timestamp(moment) => format!("timestamp({:?})", moment.to_string()),
        Val::Duration(span) => format!("duration({:?})", span.to_string()),
        Val::List(items) => {
            format!("[{}]", items.iter().map(|item| of(*item)).collect::<Vec<_>>().join(", "))
        }
        Val::Map(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", of(*key), of(*value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Val::Optional(None) => "optional.none()".to_owned(),
        Val::Optional(Some(value)) => format!("optional.of({})", of(*value)),
        Val::Type(name) => name.to_owned(),
        Val::Url(text) => format!("url({text:?})"),
        Val::Ip(address) => format!("ip(\"{address}\")"),
        Val::Cidr(network) => format!("cidr(\"{network}\")"),
        Val::Items(items, _) => json(Value::Array(items)),
        Val::Fields(entries, _) => json(Value::Object(entries)),
        other => format!("a {}", other.type_name()),
    }
}

fn json(value: Value<'_>) -> String {
    let mut text = Vec::new();
    encode_into(value, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
