//! Who sends a request.

use crate::auth::Grant;

/// Who sends a request, as far as we know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// What they are called in roles and logs.
    pub(crate) name: Box<str>,
    /// What they may do; none if nobody is asked.
    pub(crate) grants: Option<Vec<Grant>>,
}

impl Caller {
    /// Nobody was asked.
    pub(crate) fn anonymous() -> Self {
        Self { name: "anonymous".into(), grants: None }
    }
}
