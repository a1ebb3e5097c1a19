//! What a client takes for an answer: which language, and whether it wants the document itself or something made of it.

/// What answers are written in.
pub(crate) const MEDIA_TYPES: &str = "application/json, application/yaml";

/// What the answer to a request is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Accepted {
    pub(crate) form: Form,
    /// YAML instead of JSON.
    pub(crate) is_yaml: bool,
}

/// What is made of documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Nothing: they are shown as they are.
    Plain,
    /// Rows of a table.
    Table(MetaVersion),
    /// Their metadata alone.
    Partial(MetaVersion),
    /// A list of metadata.
    PartialList(MetaVersion),
    /// All groups, with versions and resources, in one document.
    AggregatedDiscovery,
}

/// The version of the documents that tables and lists of metadata are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetaVersion {
    V1,
    V1beta1,
}

impl Accepted {
    /// The first thing that a client asks for and that is offered; none if nothing is.
    pub(crate) fn of(accept: Option<&str>, is_offered: impl Fn(Form) -> bool) -> Option<Self> {
        let accept = accept.unwrap_or_default();
        if matches!(accept.trim(), "" | "*/*" | "application/json") {
            return Some(Self { form: Form::Plain, is_yaml: false });
        }
        let mut clauses: Vec<Clause<'_>> = accept.split(',').map(Clause::of).collect();
        // What is wanted as much stays in the order it was written.
        clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
        let mut accepted = clauses.iter().filter(|clause| clause.quality > 0.0).filter_map(Clause::accepted);
        accepted.find(|accepted| is_offered(accepted.form))
    }

    /// As [`of`](Self::of), where documents are answered: also their metadata, and tables of them.
    pub(crate) fn of_documents(accept: Option<&str>) -> Option<Self> {
        Self::of(accept, |form| form != Form::AggregatedDiscovery)
    }
}

impl MetaVersion {
    /// As documents name it.
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// One of the things that a client takes.
struct Clause<'a> {
    media_type: &'a str,
    transform: Transform<'a>,
    quality: f32,
}

/// What is to be made of documents, as it is written.
#[derive(Default)]
struct Transform<'a> {
    kind: Option<&'a str>,
    group: Option<&'a str>,
    version: Option<&'a str>,
}

impl<'a> Clause<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let mut clause =
            Self { media_type: parts.next().unwrap_or_default(), transform: Transform::default(), quality: 1.0 };
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key.trim() {
                "as" => clause.transform.kind = Some(value),
                "g" => clause.transform.group = Some(value),
                "v" => clause.transform.version = Some(value),
                "q" => clause.quality = value.parse().unwrap_or(1.0),
                _ => {}
            }
        }
        clause
    }

    fn accepted(&self) -> Option<Accepted> {
        let is_yaml = match self.media_type.to_ascii_lowercase().as_str() {
            "application/json" | "application/*" | "*/*" => false,
            "application/yaml" => true,
            _ => return None,
        };
        Some(Accepted { form: self.transform.form()?, is_yaml })
    }
}

impl Transform<'_> {
    fn form(&self) -> Option<Form> {
        let version = || match (self.group, self.version) {
            (Some("meta.k8s.io"), Some("v1")) => Some(MetaVersion::V1),
            (Some("meta.k8s.io"), Some("v1beta1")) => Some(MetaVersion::V1beta1),
            _ => None,
        };
        match self.kind {
            None => (self.group.is_none() && self.version.is_none()).then_some(Form::Plain),
            Some("Table") => version().map(Form::Table),
            Some("PartialObjectMetadata") => version().map(Form::Partial),
            Some("PartialObjectMetadataList") => version().map(Form::PartialList),
            Some("APIGroupDiscoveryList") => (self.group == Some("apidiscovery.k8s.io") && self.version == Some("v2"))
                .then_some(Form::AggregatedDiscovery),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_that_is_offered_counts() {
        let table = Form::Table(MetaVersion::V1);
        for (accept, form, is_yaml) in [
            ("", Form::Plain, false),
            ("*/*", Form::Plain, false),
            ("application/yaml;q=0.5,application/json;q=0.9", Form::Plain, false),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Form::Plain, false),
            ("application/vnd.kubernetes.protobuf,application/json", Form::Plain, false),
            ("application/json;foo=bar;charset=utf-8", Form::Plain, false),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", table, false),
            ("application/yaml; as=Table; v=v1; g=meta.k8s.io", table, true),
            ("application/json;as=Foo;v=v1;g=meta.k8s.io,application/yaml", Form::Plain, true),
            (
                "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io,application/json",
                Form::Plain,
                false,
            ),
        ] {
            assert_eq!(Accepted::of_documents(Some(accept)), Some(Accepted { form, is_yaml }), "{accept}");
        }
        for accept in
            ["text/html", "application/vnd.kubernetes.protobuf", "application/json;v=v1", "garbage", ";", "*/*;q=0"]
        {
            assert_eq!(Accepted::of_documents(Some(accept)), None, "{accept}");
        }
    }
}
