//! Where in a document or schema something is.

use std::fmt::{self, Write as _};

/// A path that lives on the stack of a walk and costs nothing until it is written.
///
/// Written as Kubernetes writes it: `spec.ports[0].name`, `properties[spec].items`, and `<nil>` for the root.
#[derive(Clone, Copy, Debug)]
pub enum Path<'p> {
    /// The whole document.
    Root,
    /// A field by its name: `.name`.
    Child(&'p Path<'p>, &'p str),
    /// An item by its position: `[0]`.
    Index(&'p Path<'p>, usize),
    /// An entry of a map by its key: `[key]`.
    Key(&'p Path<'p>, &'p str),
}

impl Path<'_> {
    /// The path as text of its own.
    pub fn to_field_path(&self) -> FieldPath {
        self.written(false)
    }

    /// The path with the keys of maps written like fields, `.key` instead of `[key]`: the two parts of Kubernetes that
    /// report paths do not agree on this.
    pub fn to_dotted_field_path(&self) -> FieldPath {
        self.written(true)
    }

    fn written(&self, dotted: bool) -> FieldPath {
        // Most paths fit, and are written without growing the text.
        let mut text = String::with_capacity(64);
        self.append(&mut text, dotted);
        if text.is_empty() { FieldPath::root() } else { FieldPath(text) }
    }

    /// Writes what is above first. Documents nest only so deep, and so does this.
    fn append(&self, text: &mut String, dotted: bool) {
        match self {
            Path::Root => {}
            Path::Key(parent, key) if !dotted => {
                parent.append(text, dotted);
                text.push('[');
                text.push_str(key);
                text.push(']');
            }
            Path::Child(parent, name) | Path::Key(parent, name) => {
                parent.append(text, dotted);
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Path::Index(parent, index) => {
                parent.append(text, dotted);
                // Writing to a string cannot fail.
                let _ = write!(text, "[{index}]");
            }
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_field_path().0)
    }
}

/// A path in its written form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldPath(String);

impl FieldPath {
    const ROOT: &str = "<nil>";

    /// The path of the whole document.
    pub fn root() -> Self {
        Self(Self::ROOT.to_owned())
    }

    /// The written form; `<nil>` for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This path, seen from further up. A position in a list gets a dot too, `default.[0]`, as in Kubernetes.
    pub fn under(&self, parent: &FieldPath) -> Self {
        match (parent.is_root(), self.is_root()) {
            (true, _) => self.clone(),
            (_, true) => parent.clone(),
            _ => Self(format!("{parent}.{self}")),
        }
    }

    /// The path of a part, whose own path from here is `below`.
    #[must_use]
    pub fn child(&self, below: &str) -> Self {
        Self(below.to_owned()).under(self)
    }

    /// Whether this is the whole document.
    pub fn is_root(&self) -> bool {
        self.0 == Self::ROOT
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_kubernetes_writes_them() {
        assert_eq!(Path::Root.to_string(), "<nil>");
        let spec = Path::Child(&Path::Root, "spec");
        let ports = Path::Child(&spec, "ports");
        let first = Path::Index(&ports, 0);
        assert_eq!(Path::Child(&first, "name").to_string(), "spec.ports[0].name");
        let properties = Path::Child(&Path::Root, "properties");
        let key = Path::Key(&properties, "spec");
        assert_eq!(Path::Child(&key, "items").to_string(), "properties[spec].items");
        assert_eq!(key.to_dotted_field_path().as_str(), "properties.spec");
    }
}
