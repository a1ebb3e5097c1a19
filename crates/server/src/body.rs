//! Reading the body of a request: no more of it than may be, and no longer than that may take, with the memory that it takes
//! charged as it arrives.

use std::{
    error::Error,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::{Limits, budget::Charge, refusal::Refusal};

/// The body of a request, from wherever it comes.
pub(crate) trait RequestBody: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> {}

impl<B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>> RequestBody for B {}

/// How long what is too long is listened to.
const PATIENCE: Duration = Duration::from_secs(1);

/// All of a body; `waits` tells that the client sends it only once it is asked to.
pub(crate) async fn read(
    body: impl RequestBody,
    limits: &Limits,
    waits: bool,
    charge: &mut Charge,
) -> Result<Bytes, Refusal> {
    let most = limits.body_bytes;
    let mut body = pin!(body);
    if body.size_hint().lower() > most as u64 {
        if !waits {
            pass_over(body, most).await;
        }
        return Err(Refusal::TooLarge(most));
    }
    let read = tokio::time::timeout(limits.body_time, collect(body.as_mut(), most, charge)).await;
    let read = read.unwrap_or(Err(Refusal::TooSlow(limits.body_time)));
    if let Err(Refusal::TooLarge(_) | Refusal::OutOfMemory(_)) = read {
        pass_over(body, most).await;
    }
    read
}

/// All of a body in one piece. Frames are not kept: each may be of a byte, and take more memory than that.
async fn collect(mut body: Pin<&mut impl RequestBody>, most: usize, charge: &mut Charge) -> Result<Bytes, Refusal> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Refusal::CutShort)?.into_data() else { continue };
        let length = bytes.len() + data.len();
        if length > most {
            return Err(Refusal::TooLarge(most));
        }
        if length > bytes.capacity() {
            let capacity = length.max(bytes.capacity() * 2).min(most);
            charge.try_grow(capacity).map_err(Refusal::OutOfMemory)?;
            if bytes.is_empty() && body.is_end_stream() {
                return Ok(data);
            }
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

/// Reads a body that is not wanted, for a while, so that the client sees the answer: to a client of HTTP/2 that has not sent
/// all of its body, the end of the answer comes with a reset of the stream. `waits` is as for [`read`].
pub(crate) async fn pass(body: impl RequestBody, limits: &Limits, waits: bool) {
    if !waits {
        pass_over(pin!(body), limits.body_bytes).await;
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
