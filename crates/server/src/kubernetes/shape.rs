//! What is made of objects before they are sent: themselves, their metadata, or rows of a table.

use std::sync::Arc;

use http::StatusCode;
use wheelwright_document::{Arena, DecodeError, Value, encode};

use super::{
    accept::{Form, MetaVersion},
    columns::Columns,
    json::Json,
    resource::Resource,
    route::{Subresource, Target},
    status::Status,
    table::{IncludeObject, Table, partial},
};
use crate::request::Request;

/// What objects are sent as.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// As they are.
    Objects,
    /// Their metadata alone.
    Metadata(MetaVersion),
    /// Rows, with other columns than those of the resource if it is a part of an object that is shown.
    Table { resource: Arc<Resource>, columns: Option<Arc<Columns>>, version: MetaVersion, include: IncludeObject },
}

/// How many objects are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    One,
    All,
    /// One after the other.
    Events,
}

impl Shape {
    /// What the sender of a request wants objects to be sent as.
    pub(super) fn of(target: &Target, request: &Request, count: Count) -> Result<Self, Status> {
        let refused = |message| Err(Status::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message));
        match (target.accepted.form, count) {
            (Form::Plain | Form::AggregatedDiscovery, _) => Ok(Self::Objects),
            (Form::Partial(version), Count::One | Count::Events) | (Form::PartialList(version), Count::All) => {
                Ok(Self::Metadata(version))
            }
            (Form::Partial(_), Count::All) => {
                refused("a list is wanted as the metadata of one object; ask for PartialObjectMetadataList")
            }
            (Form::PartialList(_), _) => {
                refused("one object is wanted as a list of metadata; ask for PartialObjectMetadata")
            }
            (Form::Table(version), _) => {
                let include = IncludeObject::of(request.head.query.get("includeObject"));
                let include = include.map_err(Status::bad_request)?;
                let is_scale = target.subresource == Some(Subresource::Scale);
                let columns = is_scale.then(|| Arc::new(Columns::of_scale()));
                Ok(Self::Table { resource: target.resource.clone(), columns, version, include })
            }
        }
    }

    fn table(&self) -> Option<Table<'_>> {
        match self {
            Self::Objects | Self::Metadata(_) => None,
            Self::Table { resource, columns, version, include } => {
                let columns = columns.as_deref().unwrap_or(&resource.columns);
                let now = resource.collection.repository().now();
                Some(Table { columns, version: *version, include: *include, now })
            }
        }
    }

    /// An object by itself. Only the first event of a watch says which columns there are.
    pub(super) fn one(&self, json: Vec<u8>, has_definitions: bool) -> Result<Vec<u8>, Status> {
        match (self, self.table()) {
            (Self::Metadata(version), _) => partial(&json, *version).map_err(unreadable),
            (_, Some(table)) => table.of_one(&json, has_definitions).map_err(unreadable),
            (_, None) => Ok(json),
        }
    }

    /// An object as a part of a list.
    pub(super) fn item(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        match (self, self.table()) {
            (Self::Metadata(version), _) => out.extend(partial(json, *version).map_err(unreadable)?),
            (_, Some(table)) => out.extend(table.row(json).map_err(unreadable)?),
            (_, None) => out.extend_from_slice(json),
        }
        Ok(())
    }

    /// What a list of objects of a resource says of itself, as JSON, and what its objects are called in it.
    pub(super) fn list(&self, resource: &Resource) -> (Vec<u8>, &'static str) {
        let arena = Arena::new();
        let json = Json(&arena);
        let of = |api_version: &str, kind: &str| {
            json.object([("kind", json.text(kind)), ("apiVersion", json.text(api_version))])
        };
        match (self, self.table()) {
            (Self::Metadata(version), _) => (encode(of(version.api_version(), "PartialObjectMetadataList")), "items"),
            (_, Some(table)) => {
                let mut list = encode(of(table.version.api_version(), "Table"));
                list.pop();
                list.extend_from_slice(br#","columnDefinitions":"#);
                list.extend_from_slice(table.columns.definitions());
                list.push(b'}');
                (list, "rows")
            }
            (_, None) => (encode(of(&resource.api_version(), &resource.definition().list_kind)), "items"),
        }
    }

    /// What a list says of where it goes on. Lists of objects say so even at their end.
    pub(super) fn next<'a>(&self, next: &'a str) -> Option<Value<'a>> {
        Some(Value::string(next)).filter(|_| !next.is_empty() || matches!(self, Self::Objects))
    }
}

fn unreadable(error: DecodeError) -> Status {
    Status::internal(format!("the object cannot be shown: {error}"))
}
