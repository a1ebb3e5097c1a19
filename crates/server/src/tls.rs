//! TLS: the server's certificate, read again when it changes, and those of clients.

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use rustls::{
    RootCertStore, ServerConfig, ServerConnection,
    crypto::ring,
    pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tokio::sync::watch;
use x509_cert::{
    Certificate,
    der::{
        Decode,
        asn1::{PrintableStringRef, Utf8StringRef},
        oid::db::rfc4519::COMMON_NAME,
    },
};

use crate::changes::Changes;

/// The files that TLS needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The certificate of the server and those that lead to its authority, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
    /// The authorities of clients' certificates, in PEM. Clients need not have one.
    pub client_authorities: Option<PathBuf>,
    /// The revocation lists of those authorities, in PEM.
    pub client_revocations: Option<PathBuf>,
}

/// A file that TLS cannot use, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsError {
    file: PathBuf,
    why: String,
}

/// How connections are secured at this moment.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    current: RwLock<Current>,
    /// Since before the files were read, so that no change is missed.
    changes: Mutex<Changes>,
    /// Sent to whenever other files apply.
    reloads: watch::Sender<()>,
}

/// What the files say.
#[derive(Clone, Debug)]
struct Current {
    config: Arc<ServerConfig>,
    /// None if clients have no certificates.
    clients: Option<Arc<dyn ClientCertVerifier>>,
}

/// The certificate of a client that is connected.
#[derive(Debug)]
pub(crate) struct ClientCertificate {
    /// The client's own first.
    chain: Vec<CertificateDer<'static>>,
    /// Since before it was accepted.
    reloads: watch::Receiver<()>,
}

/// How often the certificates of connected clients are verified again: they expire, and so do revocation lists.
const RECHECK: Duration = Duration::from_secs(30);

impl Tls {
    pub(crate) fn read(files: TlsFiles) -> Result<Self, TlsError> {
        let TlsFiles { certificate, key, client_authorities, client_revocations } = &files;
        let paths = [Some(certificate), Some(key), client_authorities.as_ref(), client_revocations.as_ref()];
        let changes = Mutex::new(Changes::of(paths.into_iter().flatten().map(PathBuf::as_path)));
        let current = RwLock::new(Current::read(&files)?);
        Ok(Self { files, current, changes, reloads: watch::Sender::new(()) })
    }

    /// Whether clients may authenticate by certificate.
    pub(crate) fn has_client_authorities(&self) -> bool {
        self.files.client_authorities.is_some()
    }

    /// How a new connection is secured.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.current().config
    }

    /// Receives whenever other files apply.
    pub(crate) fn reloads(&self) -> watch::Receiver<()> {
        self.reloads.subscribe()
    }

    fn current(&self) -> Current {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again whenever they change; those that are of no use are told and not used.
    pub(crate) async fn keep_up(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            if !self.changes.lock().unwrap_or_else(PoisonError::into_inner).happened() {
                continue;
            }
            match Current::read(&self.files) {
                Ok(current) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
                    self.reloads.send_replace(());
                    tracing::info!(file = %self.files.certificate.display(), "the files of TLS were read again");
                }
                // Half of a change, perhaps: the other half is seen later.
                Err(TlsError { file, why }) => {
                    let file = file.display();
                    tracing::error!(%file, error = why, "a file of TLS has changed and cannot be used; the previous files stay in use")
                }
            }
        }
    }
}

impl Current {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let clients = files.client_authorities.as_deref().map(|path| clients(path, files)).transpose()?;
        Ok(Self { config: Arc::new(config(files, clients.clone())?), clients })
    }
}

impl ClientCertificate {
    /// The certificate of the client of a connection; none if it has none.
    pub(crate) fn of(connection: &ServerConnection, reloads: watch::Receiver<()>) -> Option<Self> {
        let chain = connection.peer_certificates()?;
        let chain = chain.iter().map(|certificate| certificate.clone().into_owned()).collect();
        Some(Self { chain, reloads })
    }

    /// The common name in its subject.
    pub(crate) fn name(&self) -> Option<Box<str>> {
        self.chain.first().and_then(common_name)
    }

    /// Waits until it is no longer accepted: it has expired, was revoked, or its authority is not trusted any more.
    pub(crate) async fn until_refused(mut self, tls: &Tls) -> rustls::Error {
        loop {
            // Whatever happens first; there is a sender for as long as there is TLS.
            let _ = tokio::time::timeout(RECHECK, self.reloads.changed()).await;
            if let Err(error) = self.verify(tls) {
                return error;
            }
        }
    }

    fn verify(&self, tls: &Tls) -> Result<(), rustls::Error> {
        let (clients, chain) = (tls.current().clients, self.chain.split_first());
        let Some((clients, (own, above))) = clients.zip(chain) else { return Ok(()) };
        clients.verify_client_cert(own, above, UnixTime::now()).map(drop)
    }
}

/// Who verifies the certificates of clients.
fn clients(path: &Path, files: &TlsFiles) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(path)? {
        roots.add(authority).map_err(|error| in_file(path, error))?;
    }
    let provider = Arc::new(ring::default_provider());
    // Clients without a certificate may have a token.
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).allow_unauthenticated();
    let Some(revocations) = &files.client_revocations else {
        return verifier.build().map_err(|error| in_file(path, error));
    };
    let lists =
        CertificateRevocationListDer::pem_file_iter(revocations).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let lists = lists.map_err(|error| in_file(revocations, error))?;
    if lists.is_empty() {
        return Err(in_file(revocations, "it has no revocation list in it"));
    }
    // All certificates of the chain are checked, and one of which no current list tells whether it was revoked is refused.
    let verifier = verifier.with_crls(lists).enforce_revocation_expiration();
    verifier.build().map_err(|error| in_file(revocations, error))
}

fn config(files: &TlsFiles, clients: Option<Arc<dyn ClientCertVerifier>>) -> Result<ServerConfig, TlsError> {
    let certificates = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| in_file(&files.key, error))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| in_file(&files.certificate, error))?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => builder.with_client_cert_verifier(clients),
    };
    let mut config = builder.with_single_cert(certificates, key).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            in_file(&files.certificate, format_args!("the key in {} is of another certificate", files.key.display()))
        }
        error => in_file(&files.certificate, error),
    })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(in_file(path, "it has no certificate in it")),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(in_file(path, error)),
    }
}

fn in_file(path: &Path, error: impl fmt::Display) -> TlsError {
    TlsError { file: path.to_owned(), why: error.to_string() }
}

/// The common name in the subject of a certificate.
fn common_name(certificate: &CertificateDer<'_>) -> Option<Box<str>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let mut attributes = certificate.tbs_certificate.subject.0.iter().flat_map(|names| names.0.iter());
    let name = attributes.find(|attribute| attribute.oid == COMMON_NAME)?;
    let text = name.value.decode_as::<Utf8StringRef<'_>>().map(|text| text.as_str().into());
    text.or_else(|_| name.value.decode_as::<PrintableStringRef<'_>>().map(|text| text.as_str().into())).ok()
}

/// Whether a connection failed since its client's certificate is not to be trusted.
pub(crate) fn is_refused_certificate(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    matches!(cause, Some(rustls::Error::InvalidCertificate(_)))
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.why)
    }
}

impl Error for TlsError {}
