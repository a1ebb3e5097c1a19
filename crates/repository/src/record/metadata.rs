//! What a service knows of a document, and customers cannot write.

use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, Number, Owned, Value};

use super::Operation;

/// What a service keeps of a document outside of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Metadata {
    /// What tells it apart from all others, those of the same name that were and will be too.
    pub uid: Option<Box<str>>,
    /// What Azure's resource manager calls it.
    pub id: Option<Box<str>>,
    /// How often its spec has changed, from 1 on.
    pub generation: u64,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When a client last changed it.
    pub modified_at: Option<Timestamp>,
    /// When somebody asked for its removal.
    pub deleted_at: Option<Timestamp>,
    /// Who must agree before it is removed.
    pub finalizers: Vec<Box<str>>,
    /// The customer's tags; written as a whole.
    pub tags: Option<Owned>,
    /// Who created and modified it, as Azure's resource manager tells it.
    pub system_data: Option<Owned>,
    /// How far the service is with what the customer asked for.
    pub provisioning_state: Option<Box<str>>,
    /// What customers asked the service to do and it takes time over, the newest last.
    pub operations: Vec<Operation>,
    /// What a newer release keeps here; kept as it is.
    pub(crate) unknown: Vec<(Box<str>, Owned)>,
}

/// The highest generation that can be read back.
const MOST: u64 = i64::MAX as u64;

const UID: &str = "uid";
const ID: &str = "id";
const GENERATION: &str = "generation";
const CREATED_AT: &str = "createdAt";
const MODIFIED_AT: &str = "modifiedAt";
const DELETED_AT: &str = "deletedAt";
const FINALIZERS: &str = "finalizers";
const TAGS: &str = "tags";
const SYSTEM_DATA: &str = "systemData";
const PROVISIONING_STATE: &str = "provisioningState";
const OPERATIONS: &str = "operations";

impl Metadata {
    /// Whether a write that leaves this metadata marked the document as deleted, or removed a finalizer from one that is.
    pub(crate) fn advances_deletion(&self, before: &Self) -> bool {
        self.deleted_at.is_some() && (before.deleted_at.is_none() || self.finalizers.len() < before.finalizers.len())
    }

    /// The metadata as a part of a record.
    pub(crate) fn to_value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let text = |text: &Option<Box<str>>| text.as_ref().map(|text| Value::string(arena.text(text)));
        let time = |time: &Option<Timestamp>| time.map(|time| Value::string(arena.text(&time.to_string())));
        let finalizers = self.finalizers.iter().map(|name| Value::string(name)).collect::<Vec<_>>();
        let operations: Vec<_> = self.operations.iter().map(|operation| operation.to_value(arena)).collect();
        let fields = [
            (UID, text(&self.uid)),
            (ID, text(&self.id)),
            (GENERATION, Number::new(arena.text(&self.generation.min(MOST).to_string())).map(Value::Number)),
            (CREATED_AT, time(&self.created_at)),
            (MODIFIED_AT, time(&self.modified_at)),
            (DELETED_AT, time(&self.deleted_at)),
            (FINALIZERS, (!finalizers.is_empty()).then(|| Value::Array(arena.slice(&finalizers)))),
            (TAGS, self.tags.as_ref().map(|tags| tags.share(arena))),
            (SYSTEM_DATA, self.system_data.as_ref().map(|data| data.share(arena))),
            (PROVISIONING_STATE, text(&self.provisioning_state)),
            (OPERATIONS, (!operations.is_empty()).then(|| Value::Array(arena.slice(&operations)))),
        ];
        let known = fields.into_iter().filter_map(|(key, value)| Some(Entry { key, value: value? }));
        let unknown = self.unknown.iter().map(|(key, value)| Entry { key, value: value.share(arena) });
        Value::Object(arena.slice(&known.chain(unknown).collect::<Vec<_>>()))
    }

    /// Reads the metadata of a record; else, which field is wrong, and why.
    pub(crate) fn from_value(value: Value<'_>) -> Result<Self, (String, &'static str)> {
        let entries = value.as_object().ok_or_else(|| ("all of it".to_owned(), "is no object"))?;
        let mut metadata = Self::default();
        for Entry { key, value } in entries.iter().copied() {
            let wrong = |problem| (key.to_owned(), problem);
            let text = || value.as_str().ok_or_else(|| wrong("is no text"));
            let time = || text()?.parse::<Timestamp>().map(Some).map_err(|_| wrong("is no time"));
            match key {
                UID => metadata.uid = Some(text()?.into()),
                ID => metadata.id = Some(text()?.into()),
                GENERATION => {
                    let number = value.as_number().and_then(|number| u64::try_from(number.as_i64()?).ok());
                    metadata.generation = number.ok_or_else(|| wrong("is no count"))?;
                }
                CREATED_AT => metadata.created_at = time()?,
                MODIFIED_AT => metadata.modified_at = time()?,
                DELETED_AT => metadata.deleted_at = time()?,
                FINALIZERS => {
                    let names = value.as_array().unwrap_or_default().iter().map(|name| name.as_str().map(Box::from));
                    let names = names.collect::<Option<Vec<Box<str>>>>().filter(|_| value.as_array().is_some());
                    metadata.finalizers = names.ok_or_else(|| wrong("is no list of names"))?;
                }
                TAGS => metadata.tags = Some(value.into()),
                SYSTEM_DATA => metadata.system_data = Some(value.into()),
                PROVISIONING_STATE => metadata.provisioning_state = Some(text()?.into()),
                OPERATIONS => {
                    let operations =
                        value.as_array().unwrap_or_default().iter().map(|value| Operation::from_value(*value));
                    let operations = operations.collect::<Option<Vec<_>>>().filter(|_| value.as_array().is_some());
                    metadata.operations = operations.ok_or_else(|| wrong("is no list of operations"))?;
                }
                _ => metadata.unknown.push((key.into(), value.into())),
            }
        }
        Ok(metadata)
    }
}
