//! Who sends a request.

/// Who sends a request, as far as we know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// What they are called in roles and logs.
    pub(crate) name: Box<str>,
}

impl Caller {
    /// Nobody was asked.
    pub(crate) fn anonymous() -> Self {
        Self { name: "anonymous".into() }
    }
}
