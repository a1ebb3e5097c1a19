//! Where in a document or schema something is.

use std::fmt;

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
        FieldPath(self.to_string())
    }

    /// The path with the keys of maps written like fields, `.key` instead of `[key]`: the two parts of Kubernetes that
    /// report paths do not agree on this.
    pub fn to_dotted_field_path(&self) -> FieldPath {
        FieldPath(Dotted(self).to_string())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, dotted: bool) -> fmt::Result {
        // A linked path is written from its far end, so its steps are gathered first.
        let mut steps = Vec::new();
        let mut step = self;
        loop {
            match step {
                Path::Root => break,
                Path::Child(parent, _) | Path::Index(parent, _) | Path::Key(parent, _) => {
                    steps.push(step);
                    step = parent;
                }
            }
        }
        if steps.is_empty() {
            return f.write_str(FieldPath::ROOT);
        }
        for (position, step) in steps.iter().rev().enumerate() {
            match step {
                Path::Root => {}
                Path::Key(_, key) if !dotted => write!(f, "[{key}]")?,
                Path::Child(_, name) | Path::Key(_, name) if position == 0 => f.write_str(name)?,
                Path::Child(_, name) | Path::Key(_, name) => write!(f, ".{name}")?,
                Path::Index(_, index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

struct Dotted<'p>(&'p Path<'p>);

impl fmt::Display for Dotted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, true)
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
