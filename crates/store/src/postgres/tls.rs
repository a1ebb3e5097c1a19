//! Encrypted connections. The certificate of the server and its name are always checked.

use std::path::Path;

use crate::{ErrorKind, StoreError};

/// What encrypts connections.
#[cfg(feature = "postgres-tls")]
pub(super) type Tls = tokio_postgres_rustls::MakeRustlsConnect;

/// What encrypts connections: nothing in this build.
#[cfg(not(feature = "postgres-tls"))]
pub(super) type Tls = tokio_postgres::NoTls;

/// What encrypts connections to a server whose certificate one of the authorities in a file vouches for; without a file,
/// one of those that the system trusts.
#[cfg(feature = "postgres-tls")]
pub(super) fn tls(authorities: Option<&Path>) -> Result<Tls, StoreError> {
    use std::sync::Arc;

    use rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject},
    };

    let mut roots = RootCertStore::empty();
    match authorities {
        Some(file) => {
            let unreadable = |error: &dyn std::fmt::Display| setup(format!("sslrootcert {}: {error}", file.display()));
            for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
        }
        None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    if roots.is_empty() {
        return Err(setup("no certificate authority is known: name a file that has some with sslrootcert=FILE"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| setup(error.to_string()))?;
    Ok(Tls::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// Nothing in this build does.
#[cfg(not(feature = "postgres-tls"))]
pub(super) fn tls(_authorities: Option<&Path>) -> Result<Tls, StoreError> {
    Err(setup("sslmode=require in the address: this build has no TLS; build it with the feature postgres-tls"))
}

fn setup(message: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Setup, message)
}
