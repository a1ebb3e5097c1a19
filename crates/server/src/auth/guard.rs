//! Asks everybody who they are.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use http::{HeaderMap, header};
use tokio::sync::watch;

use super::{AccessError, AccessFile};
use crate::{
    access::{Access, Verb},
    caller::Caller,
    changes::Changes,
    refusal::Refusal,
};

/// Who there is, read again when the file changes.
#[derive(Debug)]
pub(crate) struct Guard {
    path: PathBuf,
    file: RwLock<Arc<AccessFile>>,
    /// Since before the file was read, so that no change is missed.
    changes: Mutex<Changes>,
    /// Sent to whenever another file applies.
    reloads: watch::Sender<()>,
}

/// How a caller proves who it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Credential {
    /// The SHA-256 of a bearer token.
    Token([u8; 32]),
    /// The common name of a certificate that was verified.
    Certificate(Box<str>),
}

impl Guard {
    /// Everybody in a file.
    pub(crate) fn read(path: &Path) -> Result<Self, AccessError> {
        let changes = Mutex::new(Changes::of([path]));
        Ok(Self {
            path: path.into(),
            file: RwLock::new(Arc::new(AccessFile::read(path)?)),
            changes,
            reloads: watch::Sender::new(()),
        })
    }

    /// The caller that a credential belongs to.
    pub(crate) fn caller(&self, credential: &Credential) -> Result<Arc<Caller>, Refusal> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (caller, unknown) = match credential {
            // Found by its hash: how long that takes tells nothing of other tokens.
            Credential::Token(hash) => (file.by_token.get(hash), "no user has this token"),
            Credential::Certificate(name) => (file.by_certificate.get(name), "no user has this certificate"),
        };
        caller.cloned().ok_or_else(|| Refusal::Unknown(unknown.into()))
    }

    /// Waits until a caller may not do something any more; returns why.
    pub(crate) async fn until_revoked(&self, credential: &Credential, access: &Access) -> Refusal {
        let mut reloads = self.reloads.subscribe();
        loop {
            if let Err(refusal) = self.caller(credential).and_then(|caller| caller.check(access)) {
                return refusal;
            }
            // There is a sender for as long as there is a guard.
            let _ = reloads.changed().await;
        }
    }

    /// Reads the file again whenever it changes; one that is wrong is told and not used. Kinds that nobody serves are told of.
    pub(crate) async fn keep_up(&self, every: Duration, is_served: impl Fn(&str) -> bool) {
        self.warn_of_others(&is_served);
        loop {
            tokio::time::sleep(every).await;
            if !self.changes.lock().unwrap_or_else(PoisonError::into_inner).happened() {
                continue;
            }
            match AccessFile::read(&self.path) {
                Ok(file) => {
                    let mut current = self.file.write().unwrap_or_else(PoisonError::into_inner);
                    *current = Arc::new(file.with_shares_of(&current));
                    drop(current);
                    self.reloads.send_replace(());
                    tracing::info!(file = %self.path.display(), "the access file was read again");
                    self.warn_of_others(&is_served);
                }
                Err(error) => {
                    let file = self.path.display();
                    tracing::error!(%file, %error, "the access file has changed and cannot be used; the previous file stays in use")
                }
            }
        }
    }
}

impl Guard {
    /// Warns of kinds that somebody may do something to, and that are not served: they may be spelled wrongly.
    fn warn_of_others(&self, is_served: impl Fn(&str) -> bool) {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner).clone();
        for kind in file.kinds().into_iter().filter(|kind| !is_served(kind)) {
            let file = self.path.display();
            tracing::warn!(%file, kind, "somebody is granted something on a kind that is not served; is it spelled right?");
        }
    }
}

impl Credential {
    /// The credential of a request: a bearer token, else the certificate of its connection.
    pub(crate) fn of(headers: &HeaderMap, certificate: Option<&str>) -> Result<Self, Refusal> {
        let unknown = |why: &'static str| Err(Refusal::Unknown(why.into()));
        let Some(authorization) = headers.get(header::AUTHORIZATION) else {
            return match certificate {
                Some(name) => Ok(Self::Certificate(name.into())),
                None => unknown("say who you are: with a bearer token or a client certificate"),
            };
        };
        let token = authorization.to_str().ok().and_then(|text| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        match token.filter(|token| !token.is_empty()) {
            Some(token) => Ok(Self::Token(sha256(token.as_bytes()))),
            None => unknown("the header authorization must be: Bearer TOKEN"),
        }
    }
}

impl Caller {
    /// Whether they may do something; else, why not.
    pub(crate) fn check(&self, access: &Access) -> Result<(), Refusal> {
        let Some(grants) = &self.grants else { return Ok(()) };
        if access.verb == Verb::Discover || grants.iter().any(|grant| grant.allows(access)) {
            return Ok(());
        }
        let kind = access.kind.as_deref().unwrap_or("anything");
        Err(Refusal::Forbidden(format!("{} may not {} {kind} {}", self.name, access.verb.name(), access.scope)))
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::access::Scope;

    fn file(text: &str) -> Result<AccessFile, String> {
        AccessFile::parse("access.yaml", text.as_bytes().to_vec()).map_err(|error| error.to_string())
    }

    /// The hash of "secret".
    const SECRET: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

    fn access_yaml() -> String {
        format!(
            "roles:\n  reader:\n  - {{verbs: [get, list], kinds: [\"*\"]}}\nusers:\n- name: ann\n  tokens: [\"sha256:{SECRET}\"]\n  \
             certificate: ann.example.com\n  grants:\n  - {{role: reader, scopes: [namespaces/shop]}}\n"
        )
    }

    fn guard(folder: &Path) -> Guard {
        let path = folder.join("access.yaml");
        fs::write(&path, access_yaml()).unwrap();
        Guard::read(&path).unwrap()
    }

    fn headers(authorization: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, http::HeaderValue::from_static(authorization))])
    }

    fn caller(guard: &Guard, headers: &HeaderMap, certificate: Option<&str>) -> Result<Arc<Caller>, Refusal> {
        guard.caller(&Credential::of(headers, certificate)?)
    }

    #[test]
    fn people_are_known_by_token_or_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let guard = guard(folder.path());
        let name =
            |headers: &HeaderMap, certificate| caller(&guard, headers, certificate).map(|caller| caller.name.clone());
        assert_eq!(name(&headers("Bearer secret"), None).unwrap(), "ann".into());
        assert_eq!(name(&headers("bearer  secret "), None).unwrap(), "ann".into());
        assert_eq!(name(&HeaderMap::new(), Some("ann.example.com")).unwrap(), "ann".into());
        for (headers, certificate) in [
            (HeaderMap::new(), None),
            (HeaderMap::new(), Some("bob.example.com")),
            (headers("Bearer wrong"), None),
            (headers("Bearer wrong"), Some("ann.example.com")),
            (headers("Bearer "), None),
            (headers("Basic secret"), None),
        ] {
            assert!(matches!(name(&headers, certificate), Err(Refusal::Unknown(_))), "{headers:?} {certificate:?}");
        }
    }

    #[test]
    fn they_may_do_what_they_were_granted_and_look_around() {
        let folder = tempfile::tempdir().unwrap();
        let ann = caller(&guard(folder.path()), &headers("Bearer secret"), None).unwrap();
        let access = |verb, namespace: &str| Access {
            verb,
            kind: Some("Order.shop".into()),
            version: None,
            scope: Scope::Namespace(namespace.into()),
        };
        assert_eq!(ann.check(&access(Verb::Get, "shop")), Ok(()));
        assert_eq!(ann.check(&Access::discover()), Ok(()));
        let refusal = ann.check(&access(Verb::Delete, "shop")).unwrap_err();
        assert_eq!(refusal.message(), "ann may not delete Order.shop in namespace shop");
        assert!(ann.check(&access(Verb::Get, "bank")).is_err());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_tokens_are_not() {
        let errors = [
            ("users:\n- name: ann\n  tokens: [secret]\n", "access.yaml:3:12: users[0].tokens[0]: expected sha256:"),
            ("users:\n- name: ann\n", "access.yaml:2:3: users[0]: ann has neither tokens nor a certificate"),
            ("roles: {a: [{verbs: [fly]}]}\n", "expected get or list or watch"),
            ("roles: {a: []}\nusers: [{name: b, certificate: c, grants: [{role: d}]}]\n", "expected a, found \"d\""),
            ("users: [{name: b, certificate: c, grants: [{role: d}]}]\n", "the file has no roles"),
            ("user: []\n", "nobody knows the key \"user\""),
            (
                "roles: {a: []}\nusers: [{name: b, certificate: c, grants: [{role: a, scopes: [shop]}]}]\n",
                "found \"shop\"",
            ),
        ];
        for (text, expected) in errors {
            let error = file(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_file_counts_and_a_broken_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let guard = Arc::new(guard(folder.path()));
        let path = folder.path().join("access.yaml");
        let keeping = tokio::spawn({
            let guard = guard.clone();
            async move { guard.keep_up(Duration::from_secs(1), |_| true).await }
        });
        let is_known = || caller(&guard, &headers("Bearer secret"), None).is_ok();
        tokio::time::sleep(Duration::from_secs(2)).await;
        fs::write(&path, "users: nobody\n").unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(is_known());
        fs::write(&path, "users: []\n").unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(!is_known());
        keeping.abort();
    }
}
