//! What an OpenAPI document says of the names of a resource: by the parameter that ends its path.

use wheelwright_document::{Spanned, Value};

use crate::resources::followed;

/// What the names of a resource are like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct NameRule {
    /// What they match.
    pub pattern: Option<Box<str>>,
    /// How many characters they have at least.
    pub min_length: Option<usize>,
    /// How many characters they have at most.
    pub max_length: Option<usize>,
}

impl NameRule {
    /// What the last parameter of a path is like, if the document says anything of it.
    pub(crate) fn of(document: &Spanned<'_>, path: &str, item: &Spanned<'_>) -> Option<Self> {
        let (_, last) = path.rsplit_once('/')?;
        let name = last.strip_prefix('{')?.strip_suffix('}')?;
        let put = item.get("put")?;
        let parameters = [put, item].into_iter().filter_map(|node| node.get("parameters")?.as_array()).flatten();
        let text = |node: &Spanned<'_>, key: &str| node.get(key).and_then(Spanned::as_str).map(str::to_owned);
        let is_wanted = |parameter: &&Spanned<'_>| {
            text(parameter, "in").as_deref() == Some("path") && text(parameter, "name").as_deref() == Some(name)
        };
        let parameter = parameters.map(|parameter| followed(document, parameter)).find(is_wanted)?;
        // Swagger says it of the parameter itself, and OpenAPI 3 of its schema.
        let schema = parameter.get("schema").map_or(parameter, |schema| followed(document, schema));
        let length = |key: &str| match schema.get(key)?.as_scalar()? {
            Value::Number(number) => usize::try_from(number.as_i64()?).ok(),
            _ => None,
        };
        let rule = Self {
            pattern: text(schema, "pattern").map(String::into),
            min_length: length("minLength"),
            max_length: length("maxLength"),
        };
        (rule != Self::default()).then_some(rule)
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode_json_spanned};

    use super::*;

    fn rule(text: &str) -> Option<NameRule> {
        let arena = Arena::new();
        let document = decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).unwrap();
        let paths = document.get("paths").unwrap().as_object().unwrap();
        NameRule::of(&document, paths[0].key, &paths[0].value)
    }

    #[test]
    fn the_last_parameter_of_a_path_says_what_names_are_like_in_place_or_elsewhere() {
        let expected = NameRule { pattern: Some("^[a-z]+$".into()), min_length: Some(3), max_length: Some(9) };
        let group = r#"{"name": "g", "in": "path", "maxLength": 90}"#;
        let swagger = r#"{"name": "c", "in": "path", "pattern": "^[a-z]+$", "minLength": 3, "maxLength": 9}"#;
        let of_swagger =
            format!(r#"{{"paths": {{"/{{g}}/{{c}}": {{"put": {{"parameters": [{group}, {swagger}]}}}}}}}}"#);
        assert_eq!(rule(&of_swagger), Some(expected.clone()));
        let open_api = r##"{"paths": {"/{g}/{c}": {"put": {}, "parameters": [{"$ref": "#/components/parameters/Cart"}]}},
            "components": {"parameters": {"Cart": {"name": "c", "in": "path", "schema": {"$ref": "#/components/schemas/Name"}}},
                           "schemas": {"Name": {"pattern": "^[a-z]+$", "minLength": 3, "maxLength": 9}}}}"##;
        assert_eq!(rule(open_api), Some(expected));
        assert_eq!(rule(r#"{"paths": {"/{g}/{c}": {"put": {"parameters": [{"name": "c", "in": "path"}]}}}}"#), None);
        assert_eq!(rule(r#"{"paths": {"/{g}/c": {"put": {}}}}"#), None);
    }
}
