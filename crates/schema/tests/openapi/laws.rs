//! Laws of references: a schema means the same whether its parts are written in place or referred to.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use wheelwright_document::{Arena, Decode, decode_json_spanned};
use wheelwright_schema::{Schema, Specification};

use crate::{
    generate::{Case, case, config, hold},
    support::{Memory, admit},
};

/// What stands below these keywords is a schema, or schemas by name.
const SCHEMA: [&str; 3] = ["items", "additionalProperties", "not"];
const SCHEMAS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Moves every schema below another one to the definitions.
fn spread(schema: Json, definitions: &mut Map<String, Json>) -> Json {
    let Json::Object(mut keywords) = schema else { return schema };
    let mut moved = |schema: Json| {
        if !schema.is_object() {
            return schema;
        }
        let spread = spread(schema, definitions);
        let name = format!("d/{}~", definitions.len());
        definitions.insert(name.clone(), spread);
        json!({"$ref": format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1"))})
    };
    for (keyword, value) in &mut keywords {
        let taken = value.take();
        *value = match taken {
            Json::Object(fields) if keyword == "properties" => {
                Json::Object(fields.into_iter().map(|(name, schema)| (name, moved(schema))).collect())
            }
            Json::Array(schemas) if SCHEMAS.contains(&keyword.as_str()) => {
                Json::Array(schemas.into_iter().map(&mut moved).collect())
            }
            schema if SCHEMA.contains(&keyword.as_str()) => moved(schema),
            other => other,
        };
    }
    Json::Object(keywords)
}

fn lowered(definitions: &Json) -> Schema {
    let text = json!({"$defs": definitions}).to_string();
    let arena = Arena::new();
    let document = decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).expect("JSON");
    let mut specification = Specification::open("a.json", &document, &Memory(&[]), &arena).expect("a specification");
    specification.lower("A").expect("the definition is there").item
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn what_is_referred_to_means_what_is_written_in_place(case in case()) {
        hold(case, |case| {
            let mut definitions = Map::new();
            let root = spread(case.schema.clone(), &mut definitions);
            definitions.insert("A".to_owned(), root);
            means_what_is_in_place(&Json::Object(definitions), case)
        })?;
    }

    #[test]
    fn being_the_only_part_of_all_of_changes_nothing(case in case()) {
        hold(case, |case| {
            let definitions = json!({"B": case.schema, "A": {"allOf": [{"$ref": "#/$defs/B"}]}});
            means_what_is_in_place(&definitions, case)
        })?;
    }
}

fn means_what_is_in_place(definitions: &Json, case: &Case) -> Result<(), TestCaseError> {
    let (other, in_place) = (lowered(definitions), lowered(&json!({"A": case.schema})));
    for document in &case.documents {
        let document = document.to_string();
        prop_assert_eq!(admit(&other, &document), admit(&in_place, &document));
    }
    Ok(())
}
