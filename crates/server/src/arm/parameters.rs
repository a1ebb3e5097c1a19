//! Parameters of queries: their names are written in any case, and each is there once or not at all.

use super::error::ArmError;
use crate::query::Query;

/// The parameters that begin with `$` and mean something here.
const KNOWN: [&str; 2] = ["$top", "$skiptoken"];

/// Refuses parameters of OData that nothing is done about: whoever filters would take the whole list for what was asked for.
pub(crate) fn check_known(query: &Query) -> Result<(), ArmError> {
    let is_known = |name: &str| KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name));
    match query.names().find(|name| name.starts_with('$') && !is_known(name)) {
        None => Ok(()),
        Some(name) => {
            let name: String = name.chars().take(100).collect();
            let message = format!("{name} is not known here; leave it out ($top and $skiptoken are known, for lists)");
            Err(ArmError::bad_request("InvalidQueryParameter", message).about(name))
        }
    }
}

/// The value of a parameter; none if it is not there. Whoever says two things means neither.
pub(crate) fn parameter<'q>(query: &'q Query, name: &'static str) -> Result<Option<&'q str>, ArmError> {
    let mut values = query.all_in_any_case(name);
    let value = values.next();
    match values.next() {
        None => Ok(value),
        Some(_) => {
            let message = format!("the query has {name} more than once; say it once");
            Err(ArmError::bad_request("InvalidQueryParameter", message).about(name))
        }
    }
}
