//! Another system that owns fields of documents, asked over HTTP.

use std::{error::Error, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::net::TcpStream;
use wheelwright_repository::{ExternalSource, Name, SourceAnswer};

/// A system that answers `GET URL/KIND/NAME` with a document as JSON, or with 404 if it has none of that name.
///
/// Without TLS: it is meant for a system on the same machine, or for a proxy there.
#[derive(Clone, Debug)]
pub struct HttpSource {
    authority: Box<str>,
    path: Box<str>,
}

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer, in bytes.
const LONGEST: usize = 4 << 20;

type Failure = Box<dyn Error + Send + Sync>;

impl HttpSource {
    /// The system at an address, such as `http://127.0.0.1:9000/pools`.
    ///
    /// # Errors
    /// What is no address of that sort.
    pub fn new(url: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{url}: {error}"))?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
        let authority = authority.ok_or_else(|| format!("{url}: expected http://HOST:PORT/PATH"))?;
        let authority = match authority.port() {
            Some(_) => authority.to_string(),
            None => format!("{authority}:80"),
        };
        Ok(Self { authority: authority.into(), path: uri.path().trim_end_matches('/').into() })
    }

    async fn connect(&self) -> Result<SendRequest<Empty<Bytes>>, Failure> {
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(&*self.authority).await?.collect();
        let stream = TcpStream::connect(&*addresses).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn ask(
        &self,
        sender: &mut SendRequest<Empty<Bytes>>,
        kind: &str,
        name: &Name,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let segments = [kind].into_iter().chain(name.as_str().split('/'));
        let encoded = segments.map(|segment| utf8_percent_encode(segment, NON_ALPHANUMERIC).to_string());
        let path = format!("{}/{}", self.path, encoded.collect::<Vec<_>>().join("/"));
        let request = Request::get(&path).header(header::HOST, &*self.authority);
        let answer = sender.send_request(request.body(Empty::new())?).await?;
        match answer.status() {
            StatusCode::OK => Ok(Some(Limited::new(answer.into_body(), LONGEST).collect().await?.to_bytes().to_vec())),
            StatusCode::NOT_FOUND => {
                // The connection is used again.
                Limited::new(answer.into_body(), LONGEST).collect().await?;
                Ok(None)
            }
            status => Err(format!("{path}: it answers {status}").into()),
        }
    }
}

impl ExternalSource for HttpSource {
    fn get<'a>(&'a self, kind: &'a str, name: &'a Name) -> SourceAnswer<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let answers = self.get_all(kind, std::slice::from_ref(name)).await?;
            Ok(answers.into_iter().next().flatten())
        })
    }

    fn get_all<'a>(&'a self, kind: &'a str, names: &'a [Name]) -> SourceAnswer<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(async move {
            let in_time = |_| format!("{}: no answer within {} seconds", self.authority, PATIENCE.as_secs());
            let mut sender = tokio::time::timeout(PATIENCE, self.connect()).await.map_err(in_time)??;
            let mut answers = Vec::with_capacity(names.len());
            for name in names {
                // Some systems close the connection after every answer.
                if sender.ready().await.is_err() {
                    sender = tokio::time::timeout(PATIENCE, self.connect()).await.map_err(in_time)??;
                }
                let answer = tokio::time::timeout(PATIENCE, self.ask(&mut sender, kind, name)).await;
                answers.push(answer.map_err(in_time)??);
            }
            Ok(answers)
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// A system that gives one answer after the other, and what it was asked for.
    async fn system(answers: &'static [&'static str]) -> (HttpSource, tokio::task::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let source = HttpSource::new(&format!("http://{}/of/", listener.local_addr().unwrap())).unwrap();
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut asked, mut buffer) = (Vec::new(), [0; 1024]);
            for answer in answers {
                let length = stream.read(&mut buffer).await.unwrap();
                asked.push(String::from_utf8_lossy(&buffer[..length]).lines().next().unwrap_or_default().to_owned());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            asked
        });
        (source, asked)
    }

    #[tokio::test]
    async fn it_is_asked_by_kind_and_name_over_one_connection() {
        let answers = &[
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone",
        ];
        let (source, asked) = system(answers).await;
        let names = ["s/g/one", "s/g/two three"].map(|name| Name::new(name).unwrap());
        assert_eq!(source.get_all("Pool", &names).await.unwrap(), [Some(b"{}".to_vec()), None]);
        assert_eq!(asked.await.unwrap(), ["GET /of/Pool/s/g/one HTTP/1.1", "GET /of/Pool/s/g/two%20three HTTP/1.1"]);
    }

    #[tokio::test]
    async fn what_it_cannot_say_fails() {
        let (source, _) = system(&["HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"]).await;
        let error = source.get("Pool", &Name::new("a").unwrap()).await.unwrap_err();
        assert_eq!(error.to_string(), "/of/Pool/a: it answers 500 Internal Server Error");
        for url in ["https://127.0.0.1:1", "127.0.0.1:1", "http:///x", "http://a b"] {
            assert!(HttpSource::new(url).is_err(), "{url}");
        }
    }
}
