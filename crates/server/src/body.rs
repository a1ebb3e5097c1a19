//! Reading the body of a request: no more of it than may be, and no longer than that may take.

use std::{
    error::Error,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;

use crate::{Limits, refusal::Refusal};

/// The body of a request, from wherever it comes.
pub(crate) trait RequestBody: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> {}

impl<B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>> RequestBody for B {}

/// How long what is too long is listened to.
const PATIENCE: Duration = Duration::from_secs(1);

/// All of a body; `waits` tells that the client sends it only once it is asked to.
pub(crate) async fn read(body: impl RequestBody, limits: &Limits, waits: bool) -> Result<Bytes, Refusal> {
    let most = limits.body_bytes;
    let mut body = pin!(body);
    if body.size_hint().lower() > most as u64 {
        if !waits {
            pass_over(body, most).await;
        }
        return Err(Refusal::TooLarge(most));
    }
    let read = tokio::time::timeout(limits.body_time, Limited::new(body.as_mut(), most).collect());
    match read.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            pass_over(body, most).await;
            Err(Refusal::TooLarge(most))
        }
        Ok(Err(_)) => Err(Refusal::CutShort),
        Err(_) => Err(Refusal::TooSlow(limits.body_time)),
    }
}

/// Reads on for a while: many clients send all before they read, and would find a closed connection instead of the answer.
async fn pass_over(mut body: Pin<&mut impl RequestBody>, limit: usize) {
    let reading = async {
        let (mut passed, most) = (0, limit.saturating_mul(2));
        while let Some(Ok(frame)) = body.frame().await {
            passed += frame.data_ref().map_or(0, Bytes::len);
            if passed > most {
                return;
            }
        }
    };
    // Whoever is slower than that was told as well as it goes.
    let _ = tokio::time::timeout(PATIENCE, reading).await;
}
