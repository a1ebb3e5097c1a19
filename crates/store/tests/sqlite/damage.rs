//! Damaged files: the check in the background, and pages that lead to each other in circles.

use std::{fs, path::Path, time::Instant};

use wheelwright_store::{ErrorKind, PageRequest, Prefix, Sqlite, SqliteOptions, Store, fuzzing};

use crate::{PATIENCE, folder, key, kind, open, open_with};

#[tokio::test]
async fn damage_of_a_large_file_is_found_while_it_is_used() {
    let folder = folder();
    let store = open(folder.path());
    let mut revisions = Vec::new();
    for name in ["a/1", "a/2", "a/3"] {
        revisions.push(store.create(&key(name), name.into()).await.unwrap());
    }
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET action = 1 WHERE key = 'a/2'", []).unwrap();
    drop(file);

    let store = open_with(folder.path(), SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() });
    let began = Instant::now();
    let error = loop {
        match store.health().await {
            Ok(_) => assert!(began.elapsed() < PATIENCE, "the damage is not found"),
            Err(error) => break error,
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(*error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
    let replaced = store.replace(&key("a/1"), &revisions[0], vec![1]).await;
    assert_eq!(kind(replaced), Err(ErrorKind::Corrupt));
    assert_eq!(store.get(&key("a/1")).await.unwrap().unwrap().value, b"a/1");
    assert_eq!(store.get(&key("a/2")).await.unwrap().unwrap().value, b"");
    assert_eq!(store.get(&key("a/3")).await.unwrap().unwrap().value, b"a/3");
}

#[tokio::test]
async fn the_damage_of_a_large_file_is_waited_for() {
    let folder = folder();
    let options = SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() };
    let store = open_with(folder.path(), options.clone());
    store.create(&key("a/1"), vec![1]).await.unwrap();
    for _ in 0..2 {
        assert!(store.find_damage().await.unwrap().is_none());
    }
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET action = 1", []).unwrap();
    drop(file);
    let damage = open_with(folder.path(), options).find_damage().await.unwrap().unwrap();
    assert_eq!(*damage.kind(), ErrorKind::Corrupt);
    assert!(damage.to_string().contains("wheelwright store repair --to"), "{damage}");
}

#[tokio::test]
async fn bytes_that_do_not_match_their_checksum_can_be_saved() {
    let folder = folder();
    let store = open(folder.path());
    let revision = store.create(&key("a/1"), b"value".to_vec()).await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET value = CAST('changed' AS BLOB)", []).unwrap();
    assert_eq!(store.get(&key("a/1")).await.unwrap().unwrap().value, b"");
    let unverified = store.get_unverified(&key("a/1")).await.unwrap().unwrap();
    assert_eq!((&unverified.revision, &*unverified.value), (&revision, &b"changed"[..]));
    assert_eq!(store.get_unverified(&key("a/2")).await.unwrap(), None);
    store.delete(&key("a/1"), &revision).await.unwrap();
    assert_eq!(store.get_unverified(&key("a/1")).await.unwrap(), None);
}

#[tokio::test]
async fn damage_of_a_file_in_use_is_found_by_a_check() {
    let folder = folder();
    let store = open(folder.path());
    for name in ["a/1", "a/2"] {
        store.create(&key(name), name.into()).await.unwrap();
    }
    store.health().await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET action = 1 WHERE key = 'a/2'", []).unwrap();
    let began = Instant::now();
    while store.health().await.is_ok() {
        assert!(began.elapsed() < PATIENCE, "the damage is not found");
        store.start_check().unwrap();
    }
    assert_eq!(store.get(&key("a/1")).await.unwrap().unwrap().value, b"a/1");
}

const PAGE: usize = 4096;

/// An open store with the keys `a/000` to `a/399` that keeps few pages in memory, the bytes of its file, and where two leaves
/// of its table begin.
async fn in_use(folder: &Path) -> (Sqlite, Vec<u8>, [usize; 2]) {
    let store = open(folder);
    for number in 0..400 {
        store.create(&key(&format!("a/{number:03}")), vec![7; 100]).await.expect("a new key");
    }
    drop(store);
    let store = open_with(folder, SqliteOptions { cache_bytes: 1 << 10, ..SqliteOptions::default() });
    let file = fs::read(folder.join("store")).expect("a file");
    let leaf_of = |name: &[u8]| {
        let has = |page: &[u8]| page[0] == 13 && page.windows(name.len()).any(|bytes| bytes == name);
        file.chunks(PAGE).position(has).expect("a page") * PAGE
    };
    let leaves = [leaf_of(b"a/100"), leaf_of(b"a/300")];
    (store, file, leaves)
}

/// Writes are refused, and the file stays as it is.
async fn is_left_alone(store: Sqlite, path: &Path, file: &[u8]) {
    assert_eq!(kind(store.create(&key("a/new"), vec![1]).await), Err(ErrorKind::Corrupt));
    let health = store.health().await.expect_err("damage");
    assert!(*health.kind() == ErrorKind::Corrupt && health.to_string().contains("store repair"), "{health}");
    drop(store);
    assert!(fs::read(path).expect("a file") == file);
}

#[tokio::test]
async fn damage_that_a_read_meets_ends_all_writes() {
    let folder = folder();
    let path = folder.path().join("store");
    let (store, mut file, leaves) = in_use(folder.path()).await;
    file[leaves[0]..leaves[0] + PAGE].fill(0xff);
    fs::write(&path, &file).unwrap();
    let listed = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(listed.items.len(), 400);
    let lost = listed.items.iter().filter(|(_, stored)| stored.value.is_empty()).count();
    assert!((1..100).contains(&lost), "{lost}");
    is_left_alone(store, &path, &file).await;
}

#[tokio::test]
async fn damage_that_a_write_meets_ends_all_writes() {
    let folder = folder();
    let path = folder.path().join("store");
    let (store, mut file, _) = in_use(folder.path()).await;
    file[PAGE..].fill(0xff);
    fs::write(&path, &file).unwrap();
    is_left_alone(store, &path, &file).await;
}

#[tokio::test]
async fn pages_that_are_swapped_while_they_are_used_hide_no_document() {
    let folder = folder();
    let path = folder.path().join("store");
    let (store, mut file, leaves) = in_use(folder.path()).await;
    let start = store.now().await.unwrap();
    let mut watch = store.watch(&Prefix::all(), &wheelwright_store::Cursor::new("1")).await.unwrap();
    for byte in 0..PAGE {
        file.swap(leaves[0] + byte, leaves[1] + byte);
    }
    fs::write(&path, &file).unwrap();
    let events = async {
        for _ in 0..400 {
            watch.next().await?;
        }
        Ok(())
    };
    assert_eq!(kind(events.await), Err(ErrorKind::Corrupt));
    drop(watch);
    let listed = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!((listed.items.len(), &listed.cursor), (400, &start));
    assert!(listed.items.iter().all(|(_, stored)| stored.value == [7; 100]));
    is_left_alone(store, &path, &file).await;
}

/// A file with the keys `a/000` to `a/199` at the revisions 2 to 201, of which `a/007` was deleted, and the log is compacted.
async fn compacted(folder: &Path) -> rusqlite::Connection {
    let store = open(folder);
    let mut revisions = Vec::new();
    for number in 0..200 {
        revisions.push(store.create(&key(&format!("a/{number:03}")), vec![7; 100]).await.expect("a new key"));
    }
    store.delete(&key("a/007"), &revisions[7]).await.expect("a key");
    store.compact().await.expect("a store");
    assert!(store.find_damage().await.expect("a check").is_none());
    rusqlite::Connection::open(folder.join("store")).expect("a file")
}

async fn found(store: &Sqlite) -> String {
    let damage = store.find_damage().await.expect("a check").expect("damage");
    std::error::Error::source(&damage).expect("a cause").to_string()
}

#[tokio::test]
async fn rows_that_are_missing_or_back_since_a_compaction_are_found() {
    const WHAT: &str = "the rows up to revision 202 are not those that were kept";
    let others = async |store: &Sqlite, except: &[usize]| {
        for number in (0..200).filter(|number| !except.contains(number)) {
            let stored = store.get(&key(&format!("a/{number:03}"))).await.unwrap().unwrap();
            assert_eq!((stored.revision.as_str(), stored.value), (&*(number + 2).to_string(), vec![7; 100]));
        }
    };
    // SQLite finds nothing wrong with either of them.
    let folder_of_missing = folder();
    let file = compacted(folder_of_missing.path()).await;
    file.execute_batch("PRAGMA secure_delete = ON; DELETE FROM log WHERE key = 'a/100'").unwrap();
    drop(file);
    let store = open(folder_of_missing.path());
    assert_eq!(found(&store).await, WHAT);
    assert_eq!(kind(store.get(&key("a/100")).await), Err(ErrorKind::Corrupt));
    assert_eq!(store.get(&key("a/007")).await.unwrap(), None);
    assert_eq!(kind(store.list(&Prefix::all(), PageRequest::default()).await), Err(ErrorKind::Corrupt));
    others(&store, &[7, 100]).await;

    let folder_of_back = folder();
    let file = compacted(folder_of_back.path()).await;
    file.execute("INSERT INTO log (revision, key, action, at, value) VALUES (9, 'a/007', 0, 0, x'07')", []).unwrap();
    drop(file);
    let store = open(folder_of_back.path());
    assert_eq!(found(&store).await, WHAT);
    assert_eq!(store.get(&key("a/007")).await.unwrap(), None);
    let listed = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(listed.items.len(), 199);
    others(&store, &[7]).await;
}

#[tokio::test]
async fn a_list_is_refused_if_a_document_is_lost_and_another_page_of_the_index_too() {
    let folder = folder();
    let path = folder.path().join("store");
    let store = open(folder.path());
    for number in 0..600 {
        let part = if number < 300 { "m" } else { "z" };
        let name = key(&format!("{part}/{:03}", number % 300));
        let revision = store.create(&name, vec![7]).await.unwrap();
        if number == 151 {
            // Makes room in its page.
            store.delete(&name, &revision).await.unwrap();
        }
    }
    store.compact().await.unwrap();
    drop(store);
    let earlier = fs::read(&path).unwrap();
    let store = open(folder.path());
    store.create(&key("m/150x"), vec![7]).await.unwrap();
    store.compact().await.unwrap();
    drop(store);
    let mut file = fs::read(&path).unwrap();
    let (mut outdated, mut overwritten) = (0, 0);
    for (page, earlier) in file.chunks_mut(PAGE).zip(earlier.chunks(PAGE)) {
        let has = |text: &[u8]| page.windows(text.len()).any(|bytes| bytes == text);
        match (has(b"m/150x"), page[0] == 10 && has(b"z/150")) {
            (true, _) => {
                page.copy_from_slice(earlier);
                outdated += 1;
            }
            (false, true) => {
                page.fill(0xff);
                overwritten += 1;
            }
            _ => {}
        }
    }
    assert_eq!((outdated, overwritten), (2, 1));
    fs::write(&path, file).unwrap();
    let store = open(folder.path());
    assert_eq!(kind(store.get(&key("m/150x")).await), Err(ErrorKind::Corrupt));
    assert_eq!(store.get(&key("m/151")).await.unwrap(), None);
    assert_eq!(store.get(&key("m/150")).await.unwrap().unwrap().value, [7]);
    assert_eq!(store.get(&key("z/150")).await.unwrap().unwrap().value, [7]);
    let listed = store.list(&Prefix::new("m").unwrap(), PageRequest::default()).await;
    assert_eq!(kind(listed.map(|page| page.items.len())), Err(ErrorKind::Corrupt));
}

#[tokio::test]
async fn the_digest_of_a_file_that_an_earlier_release_wrote_is_computed_again() {
    let folder = folder();
    let file = compacted(folder.path()).await;
    let digest = || {
        let digest: Vec<u8> = file.query_row("SELECT digest FROM head", [], |row| row.get(0)).unwrap();
        (u64::from_le_bytes(digest[..8].try_into().unwrap()), digest)
    };
    let right = digest();
    assert_eq!(right.0, 202);
    // It compacts without a digest.
    let forgotten = "INSERT INTO log (revision, key, action, at, value) VALUES (203, 'a/000', 1, 0, x'07');
                     DELETE FROM log WHERE revision = 2; UPDATE head SET revision = 203, compacted = 203";
    file.execute_batch(forgotten).unwrap();
    let store = open(folder.path());
    assert!(store.find_damage().await.unwrap().is_none());
    let of_earlier = digest();
    assert_eq!(of_earlier.0, 203);
    drop(store);
    file.execute_batch("ALTER TABLE head DROP COLUMN digest").unwrap();
    let options = SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() };
    let store = open_with(folder.path(), options);
    assert!(store.find_damage().await.unwrap().is_none());
    assert_eq!(digest(), of_earlier);
    // From then on, every compaction changes it.
    let revision = store.get(&key("a/001")).await.unwrap().unwrap().revision;
    store.delete(&key("a/001"), &revision).await.unwrap();
    store.compact().await.unwrap();
    assert!(digest().0 == 204 && digest().1 != of_earlier.1);
    assert!(store.find_damage().await.unwrap().is_none());
}

#[tokio::test]
async fn a_damaged_digest_is_found_and_not_used() {
    let folder = folder();
    let file = compacted(folder.path()).await;
    let digest: Vec<u8> = file.query_row("SELECT digest FROM head", [], |row| row.get(0)).unwrap();
    let mut damaged = digest.clone();
    damaged[1000] ^= 4;
    file.execute("UPDATE head SET digest = ?1", [damaged]).unwrap();
    drop(file);
    let store = open(folder.path());
    assert_eq!(found(&store).await, "the digest of the head is damaged");
    assert_eq!(store.list(&Prefix::all(), PageRequest::default()).await.unwrap().items.len(), 199);
    assert_eq!(store.get(&key("a/007")).await.unwrap(), None);
}

#[tokio::test]
async fn a_sound_large_file_stays_in_use() {
    let folder = folder();
    let options = SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() };
    for round in 0..20 {
        // Closing it ends the check, whether or not that is done.
        let store = open_with(folder.path(), options.clone());
        store.create(&key(&format!("a/{round}")), vec![7; 100_000]).await.unwrap();
        store.health().await.unwrap();
    }
}

/// A change of a file.
type Change<'c> = &'c dyn Fn(&mut Vec<u8>);

/// The first child of a page of a B-tree that has children.
fn first_child(file: &[u8], page: usize) -> usize {
    let page = &file[(page - 1) * PAGE..page * PAGE];
    assert!([2, 5].contains(&page[0]), "a page with children");
    let cell = usize::from(u16::from_be_bytes([page[12], page[13]]));
    page[cell..cell + 4].iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

#[tokio::test]
async fn pages_that_lead_to_each_other_in_circles_are_read_once() {
    let folder = folder();
    let path = folder.path().join("store");
    let store = open(folder.path());
    let long = |number: usize| key(&format!("a/{}-{number:04}", "x".repeat(300)));
    for number in 0..2_000 {
        store.create(&long(number), vec![7; 30]).await.unwrap();
    }
    store.create(&key("b/long"), vec![7; 1 << 20]).await.unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let root = |name: &str| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        connection.query_row(sql, [name], |row| row.get::<_, u32>(0)).unwrap() as usize
    };
    let (table, index) = (root("log"), root("log_by_key"));
    drop(connection);
    let sound = fs::read(&path).unwrap();
    // The index has a level between its root and its leaves.
    let middle = first_child(&sound, index);
    first_child(&sound, middle);
    // Of a value that fills pages: each is nothing but the number of the next one, and bytes.
    let is_of_value = |page: &[u8]| page[4..] == [7; PAGE - 4];
    let of_value = sound.chunks(PAGE).position(is_of_value).unwrap() + 1;

    let own_children = |file: &mut [u8], page: usize| {
        let start = (page - 1) * PAGE;
        let own = u32::try_from(page).unwrap().to_be_bytes();
        for cell in 0..usize::from(u16::from_be_bytes([file[start + 3], file[start + 4]])) {
            let at = start + 12 + 2 * cell;
            let at = start + usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
            file[at..at + 4].copy_from_slice(&own);
        }
    };
    let circles: [Change<'_>; 6] = [
        &|file| file.copy_within((index - 1) * PAGE..index * PAGE, (middle - 1) * PAGE),
        &|file| file.copy_within((middle - 1) * PAGE..middle * PAGE, (first_child(&sound, middle) - 1) * PAGE),
        &|file| file.copy_within((table - 1) * PAGE..table * PAGE, (first_child(&sound, table) - 1) * PAGE),
        &|file| {
            let own = u32::try_from(of_value).unwrap().to_be_bytes();
            file[(of_value - 1) * PAGE..][..4].copy_from_slice(&own);
        },
        &|file| own_children(file, middle),
        &|file| own_children(file, table),
    ];
    for (number, damage) in circles.iter().enumerate() {
        let mut file = sound.clone();
        damage(&mut file);
        fs::write(&path, &file).unwrap();
        let store = open(folder.path());
        let last = store.get(&long(1_999)).await.unwrap().unwrap();
        assert!(last.value == [7; 30] || [2, 5].contains(&number), "{number}");
        let value = store.get(&key("b/long")).await.unwrap().unwrap().value;
        assert!(value == vec![7; 1 << 20] || (number == 3 && value.is_empty()), "{number}: {} bytes", value.len());
    }
}

/// A number that looks random.
fn random(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

#[tokio::test]
async fn any_bytes_in_pages_can_be_read() {
    let folder = folder();
    let path = folder.path().join("store");
    drop(compacted(folder.path()).await);
    let store = open(folder.path());
    store.create(&key("b/long"), vec![7; 100_000]).await.unwrap();
    drop(store);
    let sound = fs::read(&path).unwrap();
    assert_eq!(fuzzing::read_damaged(&path).unwrap(), 200);
    let mut read = 0;
    for seed in 0..200_u64 {
        let (mut file, mut state) = (sound.clone(), seed);
        for _ in 0..1 + random(&mut state) % 30 {
            let page = random(&mut state) % (file.len() / PAGE) * PAGE;
            // Numbers in the header of the page, where its cells are, and anything else.
            let at = match random(&mut state) % 3 {
                0 => page + random(&mut state) % 12,
                1 => page + 8 + random(&mut state) % 80,
                _ => page + random(&mut state) % PAGE,
            };
            file[at] = match random(&mut state) % 4 {
                0 => 0xff,
                1 => 0x80,
                2 => 0,
                _ => random(&mut state) as u8,
            };
        }
        if seed % 10 == 0 {
            file.truncate(random(&mut state) % file.len());
        }
        fs::write(&path, &file).unwrap();
        read += fuzzing::read_damaged(&path).unwrap();
    }
    // Most of each file is sound.
    assert!(read > 150 * 200, "{read}");
}
