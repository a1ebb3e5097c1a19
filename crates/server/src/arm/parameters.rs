//! Parameters of queries: their names are written in any case, and each is there once or not at all.

use super::error::ArmError;
use crate::query::Query;

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
