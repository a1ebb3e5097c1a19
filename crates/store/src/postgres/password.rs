//! Passwords that are not in the address, from where PostgreSQL's own programs have them.

use std::{env, fs, path::Path};

use tokio_postgres::{Config, config::Host};

use crate::{ErrorKind, StoreError};

/// The password for an address without one: `PGPASSWORD`, or the line for it in a file, which the address (`passfile`) or
/// `PGPASSFILE` names.
pub(super) fn find(config: &Config, named: Option<&Path>) -> Result<Option<String>, StoreError> {
    if let Some(password) = env::var("PGPASSWORD").ok().filter(|password| !password.is_empty()) {
        return Ok(Some(password));
    }
    let from_environment = env::var_os("PGPASSFILE").filter(|file| !file.is_empty());
    let Some(file) = named.or(from_environment.as_deref().map(Path::new)) else { return Ok(None) };
    let setup = |message| StoreError::new(ErrorKind::Setup, message);
    let text = fs::read_to_string(file)
        .map_err(|error| setup(format!("passfile {} cannot be read", file.display())).because(error))?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        _ => "localhost",
    };
    let port = config.get_ports().first().unwrap_or(&5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let wanted = [host, &port, config.get_dbname().unwrap_or(user), user];
    let found = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password_for(line, wanted));
    found.map(Some).ok_or_else(|| {
        let [host, port, database, user] = wanted;
        let message = format!(
            "passfile {} has no line for {host}:{port}:{database}:{user}; add one, with the password at its end",
            file.display()
        );
        setup(message)
    })
}

/// The password of a line `host:port:database:user:password` if it is the one that is wanted. `*` is any, and a backslash is
/// before each `:` and backslash of a text.
fn password_for(line: &str, wanted: [&str; 4]) -> Option<String> {
    let (mut fields, mut characters) = (vec![String::new()], line.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' => fields.last_mut()?.push(characters.next()?),
            ':' if fields.len() < 5 => fields.push(String::new()),
            _ => fields.last_mut()?.push(character),
        }
    }
    let password = (fields.len() == 5).then(|| fields.pop())??;
    fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_address_has_its_password() {
        let wanted = ["db", "5432", "orders", "me"];
        for (line, password) in [
            ("db:5432:orders:me:secret", Some("secret")),
            ("*:*:*:*:secret", Some("secret")),
            ("db:*:orders:me:a\\:b\\\\c", Some("a:b\\c")),
            ("db:*:orders:me:a:b", Some("a:b")),
            ("other:5432:orders:me:secret", None),
            ("db:5432:orders:you:secret", None),
            ("secret", None),
            ("", None),
        ] {
            assert_eq!(password_for(line, wanted).as_deref(), password, "{line}");
        }
    }

    #[test]
    fn a_file_without_the_line_or_that_cannot_be_read_is_refused_without_a_password_in_the_message() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        let config: Config = "postgres://me@db/orders".parse().unwrap();
        assert_eq!(find(&config, Some(&file)).unwrap_err().kind(), &ErrorKind::Setup);
        fs::write(&file, "# comment:*:*:*:no\nother:*:*:*:secret\n").unwrap();
        let error = find(&config, Some(&file)).unwrap_err().to_string();
        assert!(error.contains("db:5432:orders:me") && !error.contains("secret"), "{error}");
        fs::write(&file, "other:*:*:*:secret\ndb:*:*:*:mine\n").unwrap();
        assert_eq!(find(&config, Some(&file)).unwrap().as_deref(), Some("mine"));
    }
}
