//! Connections that nobody else can read.

use wheelwright_store::{ErrorKind, Postgres, PostgresOptions, Store, testing::PostgresServer};

use crate::support::{bare_of, key};

#[tokio::test]
async fn an_encrypted_connection_is_made_to_a_server_with_the_right_certificate_only() {
    let mut server = PostgresServer::start().unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    server.encrypt(&made.cert.pem(), &made.signing_key.serialize_pem()).unwrap();
    server.resume().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let authorities = folder.path().join("authorities.pem");
    std::fs::write(&authorities, made.cert.pem()).unwrap();
    let address = format!("{}&sslmode=require&sslrootcert={}", server.address("tls"), authorities.display());
    let store = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    store.create(&key("k"), b"v".to_vec()).await.unwrap();
    assert_eq!(store.get(&key("k")).await.unwrap().unwrap().value, b"v");
    let plain = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a ON a.pid = s.pid \
                 WHERE a.application_name = 'wheelwright' AND NOT s.ssl";
    assert_eq!(bare_of(&server).await.query_one(plain, &[]).await.unwrap().get::<_, i64>(0), 0);

    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(&authorities, other.cert.pem()).unwrap();
    let error = Postgres::connect(&address, PostgresOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Setup, "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test]
async fn a_server_without_tls_is_not_taken_for_one_with_it() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let authorities = folder.path().join("authorities.pem");
    std::fs::write(&authorities, made.cert.pem()).unwrap();
    let address = PostgresServer::shared().address("no_tls");
    let address = format!("{address}&sslmode=verify-full&sslrootcert={}", authorities.display());
    let error = Postgres::connect(&address, PostgresOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Setup, "{error}");
}
