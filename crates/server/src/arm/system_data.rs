//! Who created and last changed a resource, as the resource manager or the caller says.

use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, Owned, Value, decode};
use wheelwright_repository::Metadata;

use super::error::ArmError;
use crate::{caller::Caller, request::Head};

/// What the resource manager says about who makes a request.
const SYSTEM_DATA: &str = "x-ms-arm-resource-system-data";
/// Who makes a request, where nobody says more.
const PRINCIPAL: &str = "x-ms-client-principal-name";

const CREATED: [&str; 3] = ["createdBy", "createdByType", "createdAt"];
const MODIFIED: [&str; 3] = ["lastModifiedBy", "lastModifiedByType", "lastModifiedAt"];

/// Who makes a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Author {
    name: Box<str>,
    sort: Box<str>,
    /// When, if they say so.
    at: Option<Box<str>>,
}

impl Author {
    /// Who makes a request.
    pub(crate) fn of(head: &Head) -> Result<Self, ArmError> {
        if let Some(json) = head.header(SYSTEM_DATA) {
            let wrong = |why: &str| ArmError::bad_request("InvalidRequestHeader", format!("{SYSTEM_DATA} {why}"));
            let arena = Arena::new();
            let data = decode(json.as_bytes(), &arena).map_err(|error| wrong(&format!("is no JSON: {error}")))?;
            let told = |keys: [&str; 2]| keys.into_iter().find_map(|key| data.get(key)).and_then(Value::as_str);
            let name = told(["lastModifiedBy", "createdBy"])
                .ok_or_else(|| wrong("names neither lastModifiedBy nor createdBy"))?;
            let sort = told(["lastModifiedByType", "createdByType"]).unwrap_or("User");
            let at = told(["lastModifiedAt", "createdAt"]);
            if at.is_some_and(|at| at.parse::<Timestamp>().is_err()) {
                return Err(wrong("has a time that is none"));
            }
            return Ok(Self { name: name.into(), sort: sort.into(), at: at.map(Box::from) });
        }
        Ok(match head.header(PRINCIPAL).filter(|name| !name.is_empty()) {
            Some(name) => Self { name: name.into(), sort: "User".into(), at: None },
            None => Self::of_caller(&head.caller),
        })
    }

    /// Who makes a request, where only they say who they are.
    pub(crate) fn of_caller(caller: &Caller) -> Self {
        Self { name: caller.name.clone(), sort: "Application".into(), at: None }
    }

    /// Writes down that they changed a resource, or made it if nobody had.
    pub(crate) fn sign(&self, metadata: &mut Metadata, now: Timestamp) {
        let arena = Arena::new();
        let at: Box<str> = self.at.clone().unwrap_or_else(|| now.to_string().into());
        let values = [&self.name, &self.sort, &at].map(|text| Value::string(text));
        let mut entries: Vec<Entry<'_>> = Vec::new();
        let known = metadata.system_data.as_ref().map(|data| data.share(&arena));
        // Of what was made before anybody signed it, no more is known than when.
        let created_at = metadata.created_at.filter(|at| *at != now).map(|at| at.to_string());
        let created = CREATED.iter().zip(values).filter_map(|(key, value)| match (known, &created_at) {
            (Some(known), _) => known.get(key).map(|value| Entry { key, value }),
            (None, Some(at)) => (*key == CREATED[2]).then(|| Entry { key, value: Value::string(at) }),
            (None, None) => Some(Entry { key, value }),
        });
        entries.extend(created);
        entries.extend(MODIFIED.iter().zip(values).map(|(key, value)| Entry { key, value }));
        let signed = Owned::from(Value::Object(&entries));
        metadata.system_data = Some(signed);
    }
}
