//! What was shown before, kept while it is true: objects that nobody has written since, and pages of lists in which nothing
//! has happened since. Only the store can say so, and is asked every time: whether anything was written at all, if it can
//! tell that at once, and otherwise whether this was.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use wheelwright_repository::{Collection, Cursor, Mark, Name, RepositoryError, Reread, Revision, View};

use crate::share::Shares;

/// What was shown before, up to so many bytes; what nobody asks for goes first.
#[derive(Debug)]
pub(crate) struct Shelf {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    items: HashMap<Spot, Place>,
    /// In which order they make room.
    order: BTreeMap<u64, Spot>,
    bytes: usize,
    next: u64,
}

/// Something on the shelf.
#[derive(Debug)]
struct Place {
    item: Item,
    /// Where it is in the order in which they make room.
    turn: u64,
    /// Somebody has asked for it since it had its last turn, and so it stays for another: to put it last whenever it is asked
    /// for would cost more than to find it.
    is_wanted: bool,
}

/// Where something is on the shelf. A section has what is shown as one version of one kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Spot {
    Object(usize, Name),
    /// The revision of an object whose document was not wanted.
    Revision(usize, Name),
    /// A page of the list of what is somewhere, or everywhere, after an object, or from the beginning.
    Page(usize, Option<Name>, Option<Name>),
}

#[derive(Clone, Debug)]
enum Item {
    /// With where the mark of the store was before it was read.
    Object(ShownObject, Option<Mark>),
    Revision(Revision, Option<Mark>),
    Page(ShownPage),
}

/// An object as a version shows it.
#[derive(Clone, Debug)]
pub(crate) struct ShownObject {
    pub(crate) revision: Revision,
    pub(crate) json: Bytes,
}

/// An object of which only the revision is wanted.
#[derive(Clone, Debug)]
pub(crate) struct SeenObject {
    pub(crate) revision: Revision,
    /// The object itself, if it is there.
    pub(crate) json: Option<Bytes>,
}

/// A page of a list as a version shows it.
#[derive(Clone, Debug)]
pub(crate) struct ShownPage {
    /// Each object with a comma before it.
    pub(crate) json: Bytes,
    /// The moment that it shows.
    pub(crate) moment: Cursor,
    /// Its last object, if the list goes on after it.
    pub(crate) last: Option<Name>,
}

/// The section of something that there is one of for each version of a kind, for as long as the shelf is there.
pub(crate) fn section<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

impl Shelf {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// An object as a version shows it; none if there is none.
    pub(crate) async fn object(
        &self,
        section: usize,
        object: (&Collection, &Name, View<'_>),
        caller: &Shares,
    ) -> Result<Option<ShownObject>, RepositoryError> {
        let shown = self.look(Spot::Object(section, object.1.clone()), object, caller).await?;
        Ok(shown.and_then(|SeenObject { revision, json }| Some(ShownObject { revision, json: json? })))
    }

    /// The revision of an object, if a version can show it; none if there is no object. Unlike objects, which can be long,
    /// revisions of many objects are kept, so that they are hardly ever read for this.
    pub(crate) async fn revision(
        &self,
        section: usize,
        object: (&Collection, &Name, View<'_>),
        caller: &Shares,
    ) -> Result<Option<SeenObject>, RepositoryError> {
        self.look(Spot::Revision(section, object.1.clone()), object, caller).await
    }

    /// What is at a spot, if it is what the store has, or else what is read of it now.
    async fn look(
        &self,
        spot: Spot,
        (collection, name, view): (&Collection, &Name, View<'_>),
        caller: &Shares,
    ) -> Result<Option<SeenObject>, RepositoryError> {
        let mut turn = None;
        let (known, mark) = loop {
            let known = self.seen(&spot);
            // Looked at before it is read, so that what is written meanwhile has moved it.
            let mark = collection.repository().mark();
            let known = match known {
                Some((seen, at)) if mark.is_some() && mark == at => return Ok(Some(seen)),
                known => known.map(|(seen, _)| seen),
            };
            if !collection.is_long(name)? {
                break (known, mark);
            }
            if let Some(seen) = &known
                && collection.has_revision(name, &seen.revision).await?
            {
                self.keep(spot, seen, mark);
                return Ok(known);
            }
            if turn.is_some() {
                break (known, mark);
            }
            // Of requests of a caller for the same long record, one reads it, and the others find it here.
            turn = Some(caller.long_reads.turn(name).await);
        };
        let reread = collection.get_unless(name, view, known.as_ref().map(|known| &known.revision)).await?;
        let seen = match reread {
            Reread::Missing => return Ok(None),
            Reread::Same if mark.is_none() => return Ok(known),
            Reread::Same => known,
            Reread::Document(document) => {
                Some(SeenObject { revision: document.revision, json: Some(exact(document.json)) })
            }
        };
        if let Some(seen) = &seen
            && collection.kind().is_ours()
        {
            self.keep(spot, seen, mark);
        }
        Ok(seen)
    }

    /// What was seen at a spot of an object, or of a revision, which an object has as well.
    fn seen(&self, spot: &Spot) -> Option<(SeenObject, Option<Mark>)> {
        match (self.find(spot), spot) {
            (Some(Item::Object(ShownObject { revision, json }, mark)), _) => {
                Some((SeenObject { revision, json: Some(json) }, mark))
            }
            (Some(Item::Revision(revision, mark)), _) => Some((SeenObject { revision, json: None }, mark)),
            (_, Spot::Revision(section, name)) => self.seen(&Spot::Object(*section, name.clone())),
            _ => None,
        }
    }

    fn keep(&self, spot: Spot, seen: &SeenObject, mark: Option<Mark>) {
        let revision = seen.revision.clone();
        match (&spot, &seen.json) {
            (Spot::Object(..), Some(json)) => {
                self.put(spot, Item::Object(ShownObject { revision, json: json.clone() }, mark));
            }
            _ => self.put(spot, Item::Revision(revision, mark)),
        }
    }

    /// A page of a list of a moment that has come, if it was shown and is the same then.
    pub(crate) async fn page(
        &self,
        section: usize,
        collection: &Collection,
        (scope, after): (Option<&Name>, Option<&Name>),
        moment: &Cursor,
    ) -> Result<Option<ShownPage>, RepositoryError> {
        let spot = Spot::Page(section, scope.cloned(), after.cloned());
        let Some(Item::Page(page)) = self.find(&spot) else { return Ok(None) };
        // It may have been shown before that moment or, if the list takes long, after it: if nothing has happened since either,
        // nothing has happened between them.
        for since in [&page.moment, moment] {
            if !collection.is_unchanged(scope, (after, page.last.as_ref()), since).await? {
                return Ok(None);
            }
        }
        // The next who ask have less to look through.
        let page = ShownPage { moment: moment.clone(), ..page };
        self.put(spot, Item::Page(page.clone()));
        Ok(Some(page))
    }

    /// Keeps a page of a list. One without objects costs nothing to make again, and there may be any number of them.
    pub(crate) fn keep_page(
        &self,
        section: usize,
        collection: &Collection,
        (scope, after): (Option<&Name>, Option<&Name>),
        page: ShownPage,
    ) {
        if collection.kind().is_ours() && !page.json.is_empty() {
            self.put(Spot::Page(section, scope.cloned(), after.cloned()), Item::Page(page));
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What is under the lock is whole at all times, also if somebody panicked with it.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, spot: &Spot) -> Option<Item> {
        let kept = &mut *self.kept();
        let place = kept.items.get_mut(spot)?;
        place.is_wanted = true;
        Some(place.item.clone())
    }

    fn put(&self, spot: Spot, item: Item) {
        let size = size(&spot, &item);
        // What takes up the shelf by itself would leave no room for what is asked for more often.
        if size > self.most / 4 {
            return;
        }
        let kept = &mut *self.kept();
        let turn = kept.next_turn();
        kept.bytes += size;
        kept.order.insert(turn, spot.clone());
        if let Some(old) = kept.items.insert(spot.clone(), Place { item, turn, is_wanted: false }) {
            kept.bytes -= self::size(&spot, &old.item);
            kept.order.remove(&old.turn);
        }
        while kept.bytes > self.most && kept.make_room() {}
    }
}

impl Kept {
    fn next_turn(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Removes whose turn it is, or gives it another one; false if there is nothing.
    fn make_room(&mut self) -> bool {
        let Some((_, spot)) = self.order.pop_first() else { return false };
        let turn = self.next_turn();
        match self.items.get_mut(&spot) {
            Some(place) if place.is_wanted => {
                (place.turn, place.is_wanted) = (turn, false);
                self.order.insert(turn, spot);
            }
            _ => {
                let removed = self.items.remove(&spot);
                self.bytes -= removed.map_or(0, |place| size(&spot, &place.item));
            }
        }
        true
    }
}

/// Bytes that take no more room than they need.
pub(crate) fn exact(mut bytes: Vec<u8>) -> Bytes {
    bytes.shrink_to_fit();
    bytes.into()
}

/// About how much memory something takes on the shelf.
fn size(spot: &Spot, item: &Item) -> usize {
    const AROUND: usize = 450;
    let length = |name: &Name| name.as_str().len();
    let of_spot = match spot {
        Spot::Object(_, name) | Spot::Revision(_, name) => length(name),
        Spot::Page(_, scope, after) => scope.iter().chain(after).map(length).sum(),
    };
    let of_item = match item {
        Item::Object(object, _) => object.json.len(),
        Item::Revision(..) => 0,
        Item::Page(page) => page.json.len() + page.last.as_ref().map_or(0, length),
    };
    // It is known by its spot and by when it was asked for.
    of_item + 2 * of_spot + AROUND
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use wheelwright_catalog::Catalog;
    use wheelwright_evolve::Kind;
    use wheelwright_repository::{Health, PageRequest, Repository, ServedKind, Write};
    use wheelwright_store::{Answer, Guarantees, Key, Memory, Page, Prefix, Store, Stored, Watch};

    use super::*;

    fn object(length: usize) -> Item {
        Item::Object(ShownObject { revision: Revision::new("1"), json: vec![b' '; length].into() }, None)
    }

    fn spot(name: &str) -> Spot {
        Spot::Object(1, Name::new(name).unwrap())
    }

    #[test]
    fn what_nobody_asks_for_makes_room() {
        let shelf = Shelf::new(10_000);
        for name in ["a", "b", "c", "d"] {
            shelf.put(spot(name), object(2_000));
        }
        assert!(shelf.find(&spot("a")).is_some());
        shelf.put(spot("e"), object(2_000));
        assert!(shelf.find(&spot("b")).is_none(), "it was not asked for");
        for name in ["a", "c", "d", "e"] {
            assert!(shelf.find(&spot(name)).is_some(), "{name}");
        }
        shelf.put(spot("e"), object(100));
        let kept = shelf.kept();
        assert_eq!(kept.bytes, 3 * 2_452 + 552);
        assert_eq!((kept.items.len(), kept.order.len()), (4, 4));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let shelf = Shelf::new(10_000);
        shelf.put(spot("a"), object(5_000));
        assert!(shelf.find(&spot("a")).is_none());
        Shelf::new(0).put(spot("a"), object(0));
    }

    /// A store in which another process writes a record right after a get, the last of some first.
    #[derive(Debug, Default)]
    struct Hasty {
        store: Memory,
        records: Mutex<Vec<Vec<u8>>>,
    }

    impl Store for Hasty {
        fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
            Box::pin(async move {
                let stored = self.store.get(key).await?;
                let record = self.records.lock().unwrap().pop();
                if let (Some(stored), Some(record)) = (&stored, record) {
                    self.store.replace(key, &stored.revision, record).await?;
                }
                Ok(stored)
            })
        }

        fn mark(&self) -> Option<Mark> {
            self.store.mark()
        }

        fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
            self.store.create(key, value)
        }

        fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page> {
            self.store.list(prefix, page)
        }

        fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
            self.store.replace(key, expected, value)
        }

        fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
            self.store.delete(key, expected)
        }

        fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
            self.store.watch(prefix, from)
        }

        fn now(&self) -> Answer<'_, Cursor> {
            self.store.now()
        }

        fn health(&self) -> Answer<'_, Health> {
            self.store.health()
        }

        fn guarantees(&self) -> Guarantees {
            self.store.guarantees()
        }
    }

    #[tokio::test]
    async fn what_was_written_after_a_read_is_shown_to_the_next_who_ask() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
        let catalog = Catalog::load(&[folder]).unwrap();
        let declared = &catalog.kinds()[0];
        let kind = || ServedKind::new(Kind::compile(&declared.declaration, None).0.unwrap(), declared).unwrap();
        let name = Name::new("a").unwrap();
        let created = async |label: &str| {
            let store = Arc::new(Hasty::default());
            let orders = Repository::new(store.clone(), [kind()]).kinds().next().unwrap();
            let body = r#"{"apiVersion":"shop.example.com/v2","kind":"Order","metadata":{"name":"a","labels":{"l":"LABEL"}},"spec":{"quantity":1}}"#;
            let body = body.replace("LABEL", label);
            orders.create(&name, Write::document("v2", body.as_bytes())).await.unwrap();
            (store, orders)
        };
        let record = async |label| created(label).await.1.get_record(&name).await.unwrap().unwrap().value;
        let (store, orders) = created("one").await;
        let shelf = Shelf::new(100_000);
        let label = async || {
            let shown =
                shelf.object(1, (&orders, &name, View::Version("v1")), &Shares::default()).await.unwrap().unwrap();
            let shown: serde_json::Value = serde_json::from_slice(&shown.json).unwrap();
            shown["metadata"]["labels"]["l"].as_str().unwrap().to_owned()
        };
        *store.records.lock().unwrap() = vec![record("three").await, record("two").await];
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(label().await);
        }
        assert_eq!(seen, ["one", "two", "three", "three"]);
    }
}
