//! The most that can be had: a bare handler that answers with the same bytes, whatever it is asked.

use std::{
    convert::Infallible,
    fs, future,
    io::{self, Write},
    path::Path,
};

use axum::{Router, body::Body, http::header, response::IntoResponse, routing, serve::ListenerExt};
use bytes::Bytes;
use futures_util::stream;
use tokio::net::TcpListener;

/// The file in which the handler finds the answer to a get.
pub(crate) const GET_FILE: &str = "get.json";
/// The file in which the handler finds the answer to a list.
pub(crate) const LIST_FILE: &str = "list.json";

/// Serves the files in a folder until the process is killed; the list in so many pieces.
pub(crate) fn run(folder: &Path, pieces: usize) -> io::Result<()> {
    let (object, list) =
        (Bytes::from(fs::read(folder.join(GET_FILE))?), Bytes::from(fs::read(folder.join(LIST_FILE))?));
    let size = list.len().div_ceil(pieces.max(1)).max(1);
    let pieces: Vec<Bytes> =
        (0..list.len()).step_by(size).map(|from| list.slice(from..list.len().min(from + size))).collect();
    let json = || [(header::CONTENT_TYPE, "application/json")];
    let get = move || future::ready((json(), object.clone()).into_response());
    let list = move || {
        let pieces = pieces.clone().into_iter().map(Ok::<_, Infallible>);
        future::ready((json(), Body::from_stream(stream::iter(pieces))).into_response())
    };
    let router = Router::new().route("/get", routing::get(get)).route("/list", routing::get(list));
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "{{\"listening\":\"http://{}\"}}", listener.local_addr()?)?;
        axum::serve(listener.tap_io(|stream| drop(stream.set_nodelay(true))), router).await
    })
}
