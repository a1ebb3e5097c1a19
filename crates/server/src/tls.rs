//! TLS: the server's certificate, read again when it changes, and those of clients.

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
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
}

/// Files that are of no use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsError(String);

/// How connections are secured at this moment.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
    /// Since before the files were read, so that no change is missed.
    changes: Mutex<Changes>,
}

impl Tls {
    pub(crate) fn read(files: TlsFiles) -> Result<Self, TlsError> {
        let TlsFiles { certificate, key, client_authorities } = &files;
        let paths = [Some(certificate), Some(key), client_authorities.as_ref()];
        let changes = Mutex::new(Changes::of(paths.into_iter().flatten().map(PathBuf::as_path)));
        let config = RwLock::new(Arc::new(config(&files)?));
        Ok(Self { files, config, changes })
    }

    /// Whether clients may authenticate by certificate.
    pub(crate) fn has_client_authorities(&self) -> bool {
        self.files.client_authorities.is_some()
    }

    /// How a new connection is secured.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again whenever they change; those that are of no use are told and not used.
    pub(crate) async fn keep_up(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            if !self.changes.lock().unwrap_or_else(PoisonError::into_inner).happened() {
                continue;
            }
            match config(&self.files) {
                Ok(config) => {
                    *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                    tracing::info!("the certificate was read again");
                }
                // Half of a change, perhaps: the other half is seen later.
                Err(error) => {
                    tracing::error!(%error, "the certificate has changed and cannot be used; the old one counts")
                }
            }
        }
    }
}

fn config(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let certificates = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| in_file(&files.key, error))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| TlsError(error.to_string()))?;
    let builder = match &files.client_authorities {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for authority in self::certificates(path)? {
                roots.add(authority).map_err(|error| in_file(path, error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            // Who has no certificate may have a token.
            let verifier = verifier.allow_unauthenticated().build().map_err(|error| in_file(path, error))?;
            builder.with_client_cert_verifier(verifier)
        }
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
    TlsError(format!("{}: {error}", path.display()))
}

/// The common name in the subject of a certificate.
pub(crate) fn common_name(certificate: &CertificateDer<'_>) -> Option<Box<str>> {
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
        f.write_str(&self.0)
    }
}

impl Error for TlsError {}
