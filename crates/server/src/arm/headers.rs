//! Headers that every answer has: ids to find a request again, the version that was spoken, and whether that is to go.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use wheelwright_repository::ArmVersion;

use crate::{
    answer::Answer,
    request_id::{self, Ids},
};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
pub(crate) const CORRELATION_ID: HeaderName = HeaderName::from_static("x-ms-correlation-request-id");
const CLIENT_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
const RETURN_CLIENT_ID: HeaderName = HeaderName::from_static("x-ms-return-client-request-id");
const SERVED_VERSION: HeaderName = HeaderName::from_static("api-version");
const SUPPORTED_VERSIONS: HeaderName = HeaderName::from_static("api-supported-versions");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// The ids of a request, for its answer: a new one, the one that all requests of something larger share, and the one that
/// the client gave it, if it wants that back.
pub(crate) fn ids(request: &HeaderMap) -> Ids {
    let Some(own) = request_id::new() else { return Ids::default() };
    let correlation = request.get(CORRELATION_ID).filter(|id| request_id::is_fit(id)).unwrap_or(&own).clone();
    let wants_it_back = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"true");
    let of_client = request.get(CLIENT_ID).filter(|_| request.get(RETURN_CLIENT_ID).is_some_and(wants_it_back));
    // The same path is another document for another version, and for whoever may not see it.
    let vary = (header::VARY, HeaderValue::from_static("api-version, authorization"));
    let mut ids = vec![(CORRELATION_ID, correlation), (REQUEST_ID, own), vary];
    ids.extend(of_client.map(|id| (CLIENT_ID, id.clone())));
    Ids(ids)
}

/// An answer that says which version it is of.
pub(crate) fn served(answer: Answer, version: &str) -> Answer {
    answer.with(SERVED_VERSION, version)
}

/// An answer that says which versions there are, and whether the one it is of is to go.
pub(crate) fn announced(mut answer: Answer, version: &ArmVersion, all: &str) -> Answer {
    answer = answer.with(SUPPORTED_VERSIONS, all);
    let Some(deprecation) = &version.deprecation else { return answer };
    let on = deprecation.on.as_deref().and_then(begin_of);
    // As a structured date of RFC 9745; without one, what was said before there was that.
    answer = answer.with(DEPRECATION, on.map_or_else(|| "true".to_owned(), |on| format!("@{}", on.as_second())));
    match deprecation.sunset.as_deref().and_then(begin_of) {
        Some(sunset) => answer.with(SUNSET, sunset.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()),
        None => answer,
    }
}

/// The first moment of a day.
fn begin_of(day: &str) -> Option<Timestamp> {
    let day: Date = day.parse().ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_too_long_or_no_text_is_as_if_it_were_not_sent() {
        let answered = |id: &[u8]| ids(&HeaderMap::from_iter([(CORRELATION_ID, HeaderValue::from_bytes(id).unwrap())]));
        assert_eq!(answered(b"my-deployment-7").get(&CORRELATION_ID).unwrap(), "my-deployment-7");
        for unfit in [&b""[..], "é".as_bytes(), &[b'x'; 65]] {
            let ids = answered(unfit);
            assert_eq!(ids.get(&CORRELATION_ID).unwrap(), ids.get(&REQUEST_ID).unwrap());
        }
    }
}
