//! Tables with a damaged structure, and what can still be read of them.
//!
//! Nothing is looked up in an index again. The newest revision of each key is determined from all rows of the table and from
//! the entries of the index, and values are read by the place of their row. A key whose newest row cannot be read has an empty
//! value, which no reader takes for a document. Nothing is written to such tables.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Bound,
};

use tokio_postgres::types::Type;

use super::{
    Shared,
    check::{self, Known},
    rows::{self, Head},
    scan::{Entry, Index, Scan},
};
use crate::{
    ErrorKind, Key, Page, PageRequest, Prefix, StoreError, Stored,
    log::{self, PAGE_LIMIT},
    sum,
};

/// A page of a list ends when its values have more than this.
const PAGE_BYTES: usize = 1 << 20;

/// What is known of damaged tables at one moment.
#[derive(Debug)]
pub(super) struct Damage {
    /// The first thing that is wrong.
    what: String,
    /// The newest row of each key.
    newest: BTreeMap<Key, Newest>,
    /// All keys are in `newest`.
    has_all_keys: bool,
    /// The last revision that is lost with its key; any key may have had it. Older revisions than that are not served.
    lost: Option<u64>,
    pub(super) head: u64,
    pub(super) compacted: u64,
}

#[derive(Clone, Copy, Debug)]
enum Newest {
    /// Its revision, and the place of its row; no place if the row is lost.
    Row(u64, Option<(u32, u16)>),
    /// It cannot be determined.
    Unknown,
}

impl Newest {
    fn revision(self) -> Option<u64> {
        match self {
            Self::Row(revision, _) => Some(revision),
            Self::Unknown => None,
        }
    }
}

/// Keys and revisions.
type Claims = HashSet<(Key, u64)>;

impl Damage {
    /// Reads all that can be read of keys and revisions.
    pub(super) async fn of(shared: &Shared, what: String) -> Result<Self, StoreError> {
        let client = shared.connector.connect().await?;
        let scan = Scan::begin(&client, &shared.statements, false).await?;
        let known = Known::read(shared, &scan).await?;
        let (mut table, mut index) = (Vec::new(), Vec::new());
        let is_table_whole = scan.table(&mut |entry| table.push(entry)).await?;
        let is_index_whole = scan.index(Index::KeysAlone, &mut |entry| index.push(entry)).await?;
        scan.end().await;
        let are_whole = is_table_whole && is_index_whole;
        Ok(Self::determine(what, known, &table, &index, are_whole))
    }

    fn determine(
        what: String,
        Known { head: Head { revision: head, compacted }, digest }: Known,
        table: &[Entry],
        index: &[Entry],
        are_whole: bool,
    ) -> Self {
        let is_kept = |entry: &&Entry| entry.revision <= compacted;
        let claims = |entries: &mut dyn Iterator<Item = &Entry>| -> Claims {
            entries.map(|entry| (entry.key.clone(), entry.revision)).collect()
        };
        let is_sound = |entry: &&Entry| !check::is_altered(entry);
        let (in_table, in_index) = (claims(&mut table.iter().filter(is_sound)), claims(&mut index.iter()));

        // An altered row may have been moved here from a revision that is missing now, or that another one was moved to.
        let altered: Vec<&Entry> = table.iter().filter(|entry| check::is_altered(entry)).collect();
        let refuted = claims(&mut altered.iter().copied());
        let in_index: Claims = in_index.difference(&refuted).cloned().collect();
        let taken: HashSet<u64> = in_table.union(&in_index).map(|claim| claim.1).collect();
        let free = altered
            .iter()
            .map(|entry| entry.revision)
            .chain((compacted + 1..=head).filter(|revision| !taken.contains(revision)));
        let free: HashSet<u64> = free.collect();
        let moved: Claims = altered
            .iter()
            .flat_map(|entry| {
                let is_from =
                    |revision: &&u64| entry.sum.is_some_and(|sum| sum::is_of(sum, **revision, entry.key.as_str()));
                free.iter().filter(is_from).map(|revision| (entry.key.clone(), *revision))
            })
            .collect();

        // What the rows are that are kept of before `compacted` is known from where their digest is the right one.
        let of_table = claims(&mut table.iter().filter(is_kept).filter(is_sound));
        let of_index: Claims = in_index.iter().filter(|claim| claim.1 <= compacted).cloned().collect();
        let put_back: Claims =
            of_table.iter().chain(moved.iter().filter(|claim| claim.1 <= compacted)).cloned().collect();
        let union: Claims = of_table.union(&of_index).cloned().collect();
        let both: Claims = of_table.intersection(&of_index).cloned().collect();
        let is_same = are_whole && of_table == of_index;
        let kept = match digest {
            Some(digest) => {
                [&of_table, &of_index, &union, &both, &put_back].into_iter().find(|claims| digest_of(claims) == digest)
            }
            None => is_same.then_some(&of_table),
        };
        let has_all_keys = kept.is_some();

        // A row that its checksum confirms refutes all other claims of its revision.
        let recent = table.iter().filter(|entry| entry.revision > compacted && !check::is_altered(entry));
        let mut owners = HashMap::<u64, HashSet<&Key>>::new();
        for entry in recent.clone().filter(|entry| entry.sum.is_some()) {
            owners.entry(entry.revision).or_default().insert(&entry.key);
        }
        let confirmed: HashSet<u64> = owners.keys().copied().collect();
        for (key, revision) in in_table.union(&in_index).chain(&moved).filter(|claim| claim.1 > compacted) {
            if !confirmed.contains(revision) {
                owners.entry(*revision).or_default().insert(key);
            }
        }
        let lost = match owners.keys().any(|revision| *revision > head) {
            // The head is damaged, and does not show how many more there were.
            true => Some(u64::MAX),
            false => (compacted + 1..=head).rfind(|revision| !owners.contains_key(revision)),
        };

        let places: HashMap<(&Key, u64), (u32, u16)> =
            table.iter().filter(is_sound).map(|entry| ((&entry.key, entry.revision), entry.place)).collect();
        let row = |key: &Key, revision| Newest::Row(revision, places.get(&(key, revision)).copied());
        let mut newest = BTreeMap::new();
        for (key, revision) in kept.unwrap_or(&union) {
            // A row may be back after it was deleted.
            let found = if has_all_keys { row(key, *revision) } else { Newest::Unknown };
            newest.insert(key.clone(), found);
        }
        let mut revisions: Vec<(&u64, &HashSet<&Key>)> = owners.iter().collect();
        revisions.sort_unstable_by_key(|(revision, _)| **revision);
        for (revision, keys) in revisions {
            for key in keys {
                let is_known = keys.len() == 1 && *revision <= head;
                newest.insert((*key).clone(), if is_known { row(key, *revision) } else { Newest::Unknown });
            }
        }
        Self { what, newest, has_all_keys, lost, head, compacted }
    }

    /// The first thing that is wrong.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// The error of operations that damaged tables are not used for.
    pub(super) fn refusal(&self) -> StoreError {
        let message = "the tables are damaged: what is still readable can be read, and nothing is written; restore them from \
                       a backup, or rebuild the indexes (REINDEX) if only they are damaged, and start again";
        StoreError::new(ErrorKind::Corrupt, message).because(self.what.clone())
    }

    /// The value of a key: empty if it cannot be read.
    pub(super) async fn get(&self, shared: &Shared, key: &Key) -> Result<Option<Stored>, StoreError> {
        match self.newest.get(key) {
            Some(newest) if newest.revision() >= self.lost => self.stored(shared, key, *newest).await,
            None if self.has_all_keys && self.lost.is_none() => Ok(None),
            _ => Err(self.refusal()),
        }
    }

    /// A page of a list of now.
    pub(super) async fn page(
        &self,
        shared: &Shared,
        prefix: &Prefix,
        request: &PageRequest,
    ) -> Result<Page, StoreError> {
        if self.lost.is_some() || !self.has_all_keys {
            return Err(self.refusal());
        }
        let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let after = match &request.after {
            Some(after) => log::continuation_parts(after, prefix, self.head, self.compacted)?.1,
            None => prefix.as_str(),
        };
        let (mut items, mut bytes, mut next) = (Vec::new(), 0, None);
        let keys = self.newest.range::<str, _>((Bound::Excluded(after), Bound::Unbounded));
        for (key, newest) in keys.take_while(|(key, _)| prefix.is_of(key)) {
            if items.len() == limit || bytes > PAGE_BYTES {
                next = items.last().map(|(key, _)| log::continuation(self.head, key));
                break;
            }
            if let Some(stored) = self.stored(shared, key, *newest).await? {
                bytes += stored.value.len();
                items.push((key.clone(), stored));
            }
        }
        Ok(Page { items, next, cursor: log::cursor(self.head) })
    }

    /// The value of a row; none if the row is a removal.
    async fn stored(&self, shared: &Shared, key: &Key, newest: Newest) -> Result<Option<Stored>, StoreError> {
        let unreadable = |revision| Stored { revision: log::revision(revision), value: sum::UNREADABLE };
        let (revision, (page, number)) = match newest {
            Newest::Row(revision, Some(place)) => (revision, place),
            Newest::Row(revision, None) => return Ok(Some(unreadable(revision))),
            Newest::Unknown => return Ok(Some(unreadable(0))),
        };
        let sql =
            format!("{} WHERE ctid = '({page},{number})'::tid AND key = $1 AND revision = $2", shared.statements.row);
        let bytes = key.as_str().as_bytes();
        match shared.readers.query(&sql, &[(&bytes, Type::BYTEA), (&(revision as i64), Type::INT8)]).await {
            Ok(found) => match found.first().map(|row| rows::stored(key, row)) {
                Some(Ok(stored)) => Ok(stored),
                _ => Ok(Some(unreadable(revision))),
            },
            Err(error) if *error.kind() == ErrorKind::Corrupt => Ok(Some(unreadable(revision))),
            Err(error) => Err(error),
        }
    }
}

fn digest_of(claims: &Claims) -> i64 {
    claims.iter().fold(0, |digest, (key, revision)| digest ^ sum::digest(*revision as i64, key.as_str().as_bytes()))
}
