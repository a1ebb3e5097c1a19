//! Addresses: those of PostgreSQL, with a few parameters of our own.

use std::{path::Path, time::Duration};

use tokio_postgres::{Config, config::SslMode};

use super::{PostgresOptions, connection::Connector, password, tls::tls};
use crate::{ErrorKind, StoreError};

/// Where an address leads to, with what it says about options put into them.
pub(super) fn parse(address: &str, options: &mut PostgresOptions) -> Result<Connector, StoreError> {
    let (place, parameters) = address.split_once('?').unwrap_or((address, ""));
    let (mut others, mut authorities, mut passwords) = (Vec::new(), None, None);
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("schema", name)) => options.schema = name.to_owned(),
            Some(("hint", "on")) => options.hints = true,
            Some(("hint", "off")) => options.hints = false,
            Some(("hint", other)) => return Err(setup(format!("hint={other} in the address: it is on or off"))),
            Some(("passfile", file)) => passwords = Some(Path::new(file)),
            Some(("sslrootcert", file)) => authorities = Some(Path::new(file)),
            // There is no way to encrypt and not to check.
            Some(("sslmode", "verify-ca" | "verify-full")) => others.push("sslmode=require"),
            _ => others.push(parameter),
        }
    }
    check_schema(&options.schema)?;
    let separator = if others.is_empty() { "" } else { "?" };
    let theirs = format!("{place}{separator}{}", others.join("&"));
    let mut config: Config = theirs.parse().map_err(|error: tokio_postgres::Error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        setup(format!("the address of the database cannot be read: {error}{cause}"))
    })?;
    if config.get_application_name().is_none() {
        config.application_name("wheelwright");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.patience);
    }
    // A server that is gone without a word is noticed by the system, too.
    let interval = (options.patience / 8).max(Duration::from_secs(1));
    config.keepalives_idle(4 * interval).keepalives_interval(interval).keepalives_retries(3);
    config.tcp_user_timeout(options.patience);
    if config.get_password().is_none()
        && let Some(password) = password::find(&config, passwords)?
    {
        config.password(password);
    }
    let tls = if config.get_ssl_mode() == SslMode::Require { Some(tls(authorities)?) } else { None };
    Ok(Connector { config, tls, patience: options.patience })
}

/// PostgreSQL cuts longer names without a word, and the name is that of a channel too.
fn check_schema(name: &str) -> Result<(), StoreError> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if (1..=63).contains(&name.len()) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(setup(format!("schema {name:?}: a schema has 1 to 63 letters, digits, _ or -")))
}

fn setup(message: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Setup, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(address: &str) -> Result<(Config, PostgresOptions), String> {
        let mut options = PostgresOptions::default();
        let connector = parse(address, &mut options).map_err(|error| error.to_string())?;
        Ok((connector.config, options))
    }

    #[test]
    fn our_own_parameters_are_taken_out_of_an_address() {
        let (config, options) = parsed("postgres://me@localhost/db?hint=off&connect_timeout=3&schema=mine").unwrap();
        assert_eq!((options.hints, options.schema.as_str()), (false, "mine"));
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        assert_eq!(config.get_dbname(), Some("db"));
        assert!(parsed("host=localhost user=me").is_ok());
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_its_name() {
        for (address, named) in [
            ("postgres://localhost/db?hint=maybe", "hint=maybe"),
            ("postgres://localhost/db?schema=a%22b", "schema \"a%22b\""),
            ("postgres://localhost/db?sslmode=verify-full&sslrootcert=/nowhere.pem", "sslrootcert /nowhere.pem"),
            ("postgres://localhost/db?colour=red", "colour"),
            ("postgres://localhost:port/db", "port"),
        ] {
            let message = parsed(address).unwrap_err();
            assert!(message.contains(named), "{message}");
        }
    }
}
