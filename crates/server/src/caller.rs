//! Who sends a request.

use std::sync::Arc;

use crate::{auth::Grant, share::Shares};

/// Who sends a request, as far as we know.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// What they are called in roles and logs.
    pub(crate) name: Box<str>,
    /// What they may do; none if nobody is asked.
    pub(crate) grants: Option<Vec<Grant>>,
    /// What they have at this moment; none if nobody knows who they are but by their address.
    pub(crate) shares: Option<Arc<Shares>>,
}

impl Caller {
    /// Nobody was asked.
    pub(crate) fn anonymous() -> Self {
        Self { name: "anonymous".into(), grants: None, shares: None }
    }
}
