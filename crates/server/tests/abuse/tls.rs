//! Certificates: of the server, read again when they change, and of clients.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use wheelwright_server::{Limits, TlsFiles};

use crate::support::{LONG, Running, order, orders, request, short};

/// Somebody who signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
}

/// A certificate with its key.
pub(crate) struct Signed {
    certificate: rcgen::Certificate,
    key: KeyPair,
    serial: SerialNumber,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// A revocation list of certificates that is current for long.
    pub(crate) fn revoking(&self, revoked: &[&Signed]) -> String {
        self.revoking_until(revoked, 2100)
    }

    /// A revocation list of certificates until a year.
    pub(crate) fn revoking_until(&self, revoked: &[&Signed], year: i32) -> String {
        let revoked = revoked.iter().map(|signed| RevokedCertParams {
            serial_number: signed.serial.clone(),
            revocation_time: rcgen::date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: rcgen::date_time_ymd(2020, 1, 1),
            next_update: rcgen::date_time_ymd(year, 1, 1),
            crl_number: 1.into(),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }

    fn sign(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> Signed {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages.push(usage);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let serial = SerialNumber::from(NEXT.fetch_add(1, Ordering::Relaxed));
        params.serial_number = Some(serial.clone());
        let key = KeyPair::generate().unwrap();
        Signed { certificate: params.signed_by(&key, &self.issuer).unwrap(), key, serial }
    }

    pub(crate) fn server(&self) -> Signed {
        self.sign("localhost", ExtendedKeyUsagePurpose::ServerAuth)
    }

    pub(crate) fn client(&self, name: &str) -> Signed {
        self.sign(name, ExtendedKeyUsagePurpose::ClientAuth)
    }
}

impl Signed {
    fn write(&self, folder: &Path) {
        fs::write(folder.join("server.key"), self.key.serialize_pem()).unwrap();
        fs::write(folder.join("server.crt"), self.certificate.pem()).unwrap();
    }
}

pub(crate) fn files(server: &Signed, clients: &Authority) -> (TempDir, TlsFiles) {
    let folder = tempfile::tempdir().unwrap();
    server.write(folder.path());
    let [certificate, key, authorities] =
        ["server.crt", "server.key", "clients.crt"].map(|name| folder.path().join(name));
    fs::write(&authorities, clients.certificate.pem()).unwrap();
    (folder, TlsFiles { certificate, key, client_authorities: Some(authorities), client_revocations: None })
}

pub(crate) fn access() -> &'static str {
    "roles: {all: [{verbs: [\"*\"], kinds: [\"*\"]}]}\n\
     users: [{name: ann, certificate: ann.example.com, grants: [{role: all, scopes: [namespaces/a]}]}]\n"
}

pub(crate) async fn connect(
    running: &Running,
    trusted: &Authority,
    own: Option<&Signed>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from("localhost").unwrap();
    connector(trusted, own).connect(name, running.connect().await).await
}

/// How a client connects that trusts an authority and may have a certificate of its own.
pub(crate) fn connector(trusted: &Authority, own: Option<&Signed>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.certificate.der().clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.key.serialize_der()));
            builder.with_client_auth_cert(vec![own.certificate.der().clone()], key).unwrap()
        }
    };
    TlsConnector::from(Arc::new(config))
}

/// The certificate that the server shows.
async fn shown(running: &Running, trusted: &Authority) -> Option<CertificateDer<'static>> {
    let stream = connect(running, trusted, None).await.ok()?;
    stream.get_ref().1.peer_certificates()?.first().map(|certificate| certificate.clone().into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_who_their_certificates_say_and_nobody_else() {
    let (servers, clients, strangers) =
        (Authority::new("servers"), Authority::new("clients"), Authority::new("strangers"));
    let running = Running::start(short(), Some(access()), Some(files(&servers.server(), &clients))).await;
    let ann = connect(&running, &servers, Some(&clients.client("ann.example.com"))).await.unwrap();
    let created = request(ann, "POST", &orders("a"), "", &order("o", "")).await;
    assert_eq!(created.status, 201, "{created:?}");
    let ann = connect(&running, &servers, Some(&clients.client("ann.example.com"))).await.unwrap();
    assert_eq!(request(ann, "GET", &orders("b"), "", "").await.status, 403);
    let unknown = connect(&running, &servers, Some(&clients.client("bob.example.com"))).await.unwrap();
    assert_eq!(request(unknown, "GET", &orders("a"), "", "").await.status, 401);
    let nobody = connect(&running, &servers, None).await.unwrap();
    assert_eq!(request(nobody, "GET", &orders("a"), "", "").await.status, 401);
    // The server refuses it once it has seen it: at the latest, nothing is answered.
    if let Ok(mut stranger) = connect(&running, &servers, Some(&strangers.client("ann.example.com"))).await {
        let _ = stranger.write_all(b"GET /apis HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let read = timeout(LONG, stranger.read(&mut [0; 64])).await.expect("the server ends it");
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }
    assert!(connect(&running, &strangers, None).await.is_err(), "the server is not somebody else's");
    let live = connect(&running, &servers, None).await.unwrap();
    assert_eq!(request(live, "GET", "/livez", "", "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_shown_without_a_restart_and_a_broken_one_is_not() {
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let (first, second) = (servers.server(), servers.server());
    let running = Running::start(Limits::default(), None, Some(files(&first, &clients))).await;
    let mut kept = connect(&running, &servers, None).await.unwrap();
    assert_eq!(shown(&running, &servers).await.as_ref(), Some(first.certificate.der()));
    fs::write(running.folder.path().join("server.crt"), "no certificate").unwrap();
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(
        shown(&running, &servers).await.as_ref(),
        Some(first.certificate.der()),
        "the previous one stays in use"
    );
    second.write(running.folder.path());
    let changed = async {
        while shown(&running, &servers).await.as_ref() != Some(second.certificate.der()) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(LONG, changed).await.expect("the new certificate is shown");
    kept.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    kept.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "who was there before is served on: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_speak_tls_is_let_go() {
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let running = Running::start(short(), None, Some(files(&servers.server(), &clients))).await;
    for said in [&b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[22, 3, 1, 255, 255], &[0; 1000], b""] {
        let answer = running.say(said).await;
        assert!(!answer.contains("HTTP/1.1 200"), "{answer}");
    }
    let live = connect(&running, &servers, None).await.unwrap();
    assert_eq!(request(live, "GET", "/livez", "", "").await.status, 200);
}
