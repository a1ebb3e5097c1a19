//! The file that says who there is, and what they may do.

use std::{
    collections::{BTreeSet, HashMap},
    error::Error,
    fmt,
    path::Path as FilePath,
    sync::Arc,
};

use wheelwright_catalog::Input;
use wheelwright_document::{Arena, FieldPath, Path, Span, Spanned};
use wheelwright_evolve::{Reader, quoted};
use wheelwright_findings::rules;

use super::{Grant, Kinds, Rule, Scopes};
use crate::{
    access::{Scope, Verb},
    caller::Caller,
};

/// Everybody there is, by what they are known by.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessFile {
    /// By the SHA-256 of their token.
    pub(super) by_token: HashMap<[u8; 32], Arc<Caller>>,
    /// By the common name of their certificate.
    pub(super) by_certificate: HashMap<Box<str>, Arc<Caller>>,
}

/// What is wrong with an access file, all of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessError(Vec<String>);

impl AccessFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is not as it must be.
    pub(crate) fn read(path: &FilePath) -> Result<Self, AccessError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| AccessError(vec![format!("{name}: {error}")]))?;
        Self::parse(&name, bytes)
    }

    /// The kinds that are named in what somebody may do.
    pub(super) fn kinds(&self) -> BTreeSet<&str> {
        let callers = self.by_token.values().chain(self.by_certificate.values());
        let grants = callers.flat_map(|caller| caller.grants.as_deref().unwrap_or_default());
        let kinds = grants.flat_map(|grant| &grant.rules).map(|rule| &rule.kinds);
        let named = |kinds| match kinds {
            &Kinds::All => &[][..],
            Kinds::Named(names) => names,
        };
        kinds.flat_map(named).map(|name| &**name).collect()
    }

    /// The same, with callers that have the places they have in another file: a file that is read again gives nobody more.
    pub(crate) fn with_shares_of(mut self, other: &Self) -> Self {
        let callers = |file: &'_ Self| file.by_token.values().chain(file.by_certificate.values()).cloned().collect();
        let others: Vec<Arc<Caller>> = callers(other);
        for caller in self.by_token.values_mut().chain(self.by_certificate.values_mut()) {
            if let Some(known) = others.iter().find(|known| known.name == caller.name) {
                *caller = Arc::new(Caller { shares: known.shares.clone(), ..Caller::clone(caller) });
            }
        }
        self
    }

    pub(crate) fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, AccessError> {
        let (input, arena) = (Input::named(name, bytes), Arena::new());
        let documents = input.documents(&arena);
        let documents = documents.map_err(|finding| AccessError(vec![format!("{name}: {}", finding.message)]))?.1;
        let [document] = &documents[..] else {
            return Err(AccessError(vec![format!("{name}: expected one document, found {}", documents.len())]));
        };
        let mut reader = Reader::new();
        let file = Self::of(document, &mut reader);
        let problems = reader.finish();
        if problems.is_empty() {
            return Ok(file);
        }
        let lines = problems.iter().map(|problem| {
            let Span { line, column, .. } = problem.span;
            let mend = problem.mend.as_ref().map(|mend| format!("; {mend}")).unwrap_or_default();
            let path = match &problem.path {
                root if *root == FieldPath::root() => String::new(),
                path => format!("{path}: "),
            };
            format!("{name}:{line}:{column}: {path}{}{mend}", problem.message)
        });
        Err(AccessError(lines.collect()))
    }

    fn of(document: &Spanned<'_>, reader: &mut Reader) -> Self {
        let (mut file, mut roles) = (Self::default(), HashMap::new());
        let root = &Path::Root;
        let entries = reader.entries(document, root, "an object with roles and users");
        if let Some(entry) = entries.iter().find(|entry| entry.key == "roles") {
            let path = &Path::Child(root, entry.key);
            for role in reader.entries(&entry.value, path, "roles by name") {
                let path = &Path::Child(path, role.key);
                let rules = reader.list(&role.value, path, "a list of rules, each with verbs and kinds");
                let rules = rules.iter().enumerate().map(|(at, rule)| read_rule(reader, rule, &Path::Index(path, at)));
                roles.insert(role.key, rules.collect::<Vec<Rule>>());
            }
        }
        for entry in entries {
            let path = &Path::Child(root, entry.key);
            match entry.key {
                "roles" => {}
                "users" => {
                    for (at, user) in reader.list(&entry.value, path, "a list of users").iter().enumerate() {
                        file.add(reader, user, &Path::Index(path, at), &roles);
                    }
                }
                _ => reader.unknown_key(entry, path, &["roles", "users"]),
            }
        }
        file
    }

    fn add(&mut self, reader: &mut Reader, user: &Spanned<'_>, path: &Path<'_>, roles: &HashMap<&str, Vec<Rule>>) {
        let (mut name, mut tokens, mut certificate, mut grants) = (None, Vec::new(), None, Vec::new());
        for entry in reader.entries(user, path, "a user with a name, tokens or a certificate, and grants") {
            let path = &Path::Child(path, entry.key);
            match entry.key {
                "name" => name = reader.text(&entry.value, path, "a name"),
                "tokens" => {
                    for (at, token) in reader.list(&entry.value, path, "a list of hashes").iter().enumerate() {
                        tokens.extend(read_hash(reader, token, &Path::Index(path, at)));
                    }
                }
                "certificate" => certificate = reader.text(&entry.value, path, "the common name of a certificate"),
                "grants" => {
                    for (at, grant) in reader.list(&entry.value, path, "a list of grants").iter().enumerate() {
                        grants.extend(read_grant(reader, grant, &Path::Index(path, at), roles));
                    }
                }
                _ => reader.unknown_key(entry, path, &["name", "tokens", "certificate", "grants"]),
            }
        }
        let mut wrong = |message: String| {
            reader.report(&rules::MALFORMED_CATALOG, path, user.span, message);
        };
        let Some(name) = name else { return wrong("a user needs a name".to_owned()) };
        if tokens.is_empty() && certificate.is_none() {
            return wrong(format!("{} has neither tokens nor a certificate to be known by", name.item));
        }
        let caller = Arc::new(Caller { name: name.item.into(), grants: Some(grants), shares: Some(Arc::default()) });
        for token in tokens {
            if self.by_token.insert(token, caller.clone()).is_some() {
                wrong(format!("a token of {} is somebody's already", name.item));
            }
        }
        if let Some(certificate) = certificate
            && self.by_certificate.insert(certificate.item.into(), caller).is_some()
        {
            wrong(format!("the certificate of {} is somebody's already", name.item));
        }
    }
}

const VERBS: [Verb; 8] =
    [Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];

fn read_rule(reader: &mut Reader, rule: &Spanned<'_>, path: &Path<'_>) -> Rule {
    let (mut verbs, mut kinds) = (Vec::new(), Kinds::Named(Vec::new()));
    for entry in reader.entries(rule, path, "a rule with verbs and kinds") {
        let path = &Path::Child(path, entry.key);
        let items = |reader: &mut Reader| reader.list(&entry.value, path, "a list, or [\"*\"] for all");
        match entry.key {
            "verbs" => {
                let words: Vec<(&str, Option<Verb>)> =
                    VERBS.iter().map(|verb| (verb.name(), Some(*verb))).chain([("*", None)]).collect();
                for (at, verb) in items(reader).iter().enumerate() {
                    match reader.choice(verb, &Path::Index(path, at), &words) {
                        Some(chosen) => verbs.extend(chosen.item.map_or(VERBS.to_vec(), |verb| vec![verb])),
                        None => continue,
                    }
                }
            }
            "kinds" => {
                for (at, kind) in items(reader).iter().enumerate() {
                    let text = reader.text(kind, &Path::Index(path, at), "a kind, such as Order.shop.example.com");
                    match (text.map(|text| text.item), &mut kinds) {
                        (Some("*"), _) => kinds = Kinds::All,
                        (Some(name), Kinds::Named(names)) => names.push(name.into()),
                        _ => {}
                    }
                }
            }
            _ => reader.unknown_key(entry, path, &["verbs", "kinds"]),
        }
    }
    Rule { verbs, kinds }
}

fn read_grant(
    reader: &mut Reader,
    grant: &Spanned<'_>,
    path: &Path<'_>,
    roles: &HashMap<&str, Vec<Rule>>,
) -> Option<Grant> {
    let (mut rules_granted, mut scopes) = (None, Scopes::Named(Vec::new()));
    for entry in reader.entries(grant, path, "a grant with a role and scopes") {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "role" if roles.is_empty() => {
                let message = "the file has no roles, so that none can be granted; write them under roles";
                reader.report(&rules::MALFORMED_CATALOG, path, entry.value.span, message);
            }
            "role" => {
                let names: Vec<(&str, &Vec<Rule>)> = roles.iter().map(|(name, rules)| (*name, rules)).collect();
                rules_granted = reader.choice(&entry.value, path, &names).map(|role| role.item.clone());
            }
            "scopes" => {
                let items = reader.list(&entry.value, path, "a list of scopes, or [\"*\"] for all");
                for (at, scope) in items.iter().enumerate() {
                    match (read_scope(reader, scope, &Path::Index(path, at)), &mut scopes) {
                        (Some(Scope::All), _) => scopes = Scopes::All,
                        (Some(scope), Scopes::Named(named)) => named.push(scope),
                        _ => {}
                    }
                }
            }
            _ => reader.unknown_key(entry, path, &["role", "scopes"]),
        }
    }
    Some(Grant { rules: rules_granted?, scopes })
}

/// `*`, `namespaces/NAME`, `subscriptions/ID` or `subscriptions/ID/resourceGroups/NAME`.
fn read_scope(reader: &mut Reader, scope: &Spanned<'_>, path: &Path<'_>) -> Option<Scope> {
    let expected = "*, namespaces/NAME, subscriptions/ID or subscriptions/ID/resourceGroups/NAME";
    let text = reader.text(scope, path, expected)?;
    let read = match text.item.split('/').collect::<Vec<_>>()[..] {
        ["*"] => Some(Scope::All),
        ["namespaces", name] if !name.is_empty() => Some(Scope::Namespace(name.into())),
        ["subscriptions", id] if !id.is_empty() => Some(Scope::Subscription(id.into(), None)),
        ["subscriptions", id, "resourceGroups", group] if !id.is_empty() && !group.is_empty() => {
            Some(Scope::Subscription(id.into(), Some(group.into())))
        }
        _ => None,
    };
    if read.is_none() {
        let message = format!("expected {expected}, found {}", quoted(text.item));
        reader.report(&rules::MALFORMED_CATALOG, path, text.span, message);
    }
    read
}

/// The hash of a token. The token itself is never shown: it may be what was written there by mistake.
fn read_hash(reader: &mut Reader, token: &Spanned<'_>, path: &Path<'_>) -> Option<[u8; 32]> {
    let text = token.as_str().and_then(|text| text.strip_prefix("sha256:"));
    let hash = text.and_then(bytes_of_hex);
    if hash.is_none()
        && let Some(problem) = reader.report(
            &rules::MALFORMED_CATALOG,
            path,
            token.span,
            "expected sha256: and the hash of a token in hex",
        )
    {
        problem.mend = Some("printf %s \"$TOKEN\" | sha256sum makes one".to_owned());
    }
    hash
}

fn bytes_of_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

impl AccessError {
    /// Each thing that is wrong, with its place.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl Error for AccessError {}
