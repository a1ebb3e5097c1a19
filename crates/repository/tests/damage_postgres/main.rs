//! PostgreSQL stores with random damage: no document is displayed other than it was acknowledged last, and every undamaged one is
//! displayed.
//!
//! A document is undamaged if no byte of its newest row was touched: the header of its page, its line pointer, its tuple and the
//! chunks of its value, with the index of the chunks, without which PostgreSQL does not find them; with checksums, all of their
//! pages. What happens to other rows, to the indexes, to the head, to the buckets and to the trail is no excuse. There are two
//! exceptions, both of files without checksums:
//!
//! - A page of which PostgreSQL cannot read the rows, because another row of it is damaged. Its rows are undecidable. The test asks
//!   PostgreSQL for them.
//! - A page that PostgreSQL ends itself over when it reads it, or reads for ever. Nothing can be read of a server while it restarts,
//!   again and again, and a list or a watch of a value without an end waits. The test finds the end in the log of the server, or the
//!   statement that does not end, and bounds how many stores may have one.
//!
//! `WHEELWRIGHT_DAMAGED_POSTGRES` is the number of stores (14), half of them with checksums of PostgreSQL's pages, and
//! `WHEELWRIGHT_DAMAGE_SEED` the first seed.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]
#![expect(clippy::print_stderr, reason = "it reports what it tried")]

mod documents;
mod files;
mod rows;
mod strike;
#[path = "../repository/support.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    env, fs,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};
use wheelwright_evolve::laws::Random;
use wheelwright_repository::{Collection, View, Write};
use wheelwright_store::{Postgres, PostgresOptions, Store, StoreError, testing::PostgresServer};

use crate::{
    documents::{COUNTS, DOCUMENTS, Documents, Found, Harm, VERSIONS, body, names, orders, patch},
    files::{Contents, Files, PAGE},
    strike::{Damage, Struck},
};

const SCHEMA: &str = "damaged";

/// An undamaged store, and all that it acknowledged.
struct Base {
    has_checksums: bool,
    server: PostgresServer,
    documents: Documents,
    files: Files,
    contents: Contents,
    /// The files as they were before the last writes and a compaction.
    earlier: Contents,
    places: HashMap<u64, Vec<(PathBuf, usize, usize)>>,
}

async fn client(server: &PostgresServer) -> Client {
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    // A server that has ended itself starts again.
    for _ in 0..300 {
        if let Ok((client, connection)) = tokio_postgres::connect(&address, NoTls).await {
            tokio::spawn(connection);
            return client;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("the server does not start again");
}

async fn store(server: &PostgresServer) -> Result<Arc<Postgres>, StoreError> {
    // Nothing is forgotten by itself while a test runs.
    let options = PostgresOptions { history: Duration::from_secs(1 << 20), ..PostgresOptions::default() };
    Postgres::connect(&server.address(SCHEMA), options).await.map(Arc::new)
}

/// Creates all documents.
async fn create(orders: &Collection, random: &mut Random) {
    for (number, at) in names().iter().enumerate() {
        let document = body(number, random).to_string();
        orders.create(at, Write::document("v1", document.as_bytes())).await.unwrap();
    }
}

/// Updates random documents through random versions, and deletes about one of eight of them where that is wanted.
async fn change(orders: &Collection, count: usize, deletes: bool, random: &mut Random) {
    for _ in 0..count {
        let number = random.below(DOCUMENTS);
        let at = &names()[number];
        let Some(read) = orders.get(at, View::Hub).await.unwrap() else { continue };
        if deletes && random.below(8) == 0 {
            orders.delete(at, &read.revision).await.unwrap();
            continue;
        }
        let patch = patch(number, random);
        orders.patch(at, Write::merge_patch(VERSIONS[random.below(3)], &patch)).await.unwrap();
    }
}

impl Base {
    async fn build(has_checksums: bool) -> Self {
        let mut server = PostgresServer::start_with_checksums(has_checksums).unwrap();
        // Vacuum is done where this test wants it.
        server.set(&["fsync=off", "autovacuum=off", "shared_buffers=16MB"]);
        server.resume().unwrap();
        let mut random = Random::new(7);
        {
            let postgres = store(&server).await.unwrap();
            let orders = orders(postgres.clone());
            create(&orders, &mut random).await;
            change(&orders, 80, false, &mut random).await;
            postgres.compact().await.unwrap();
            client(&server).await.batch_execute(&format!("VACUUM {SCHEMA}.log")).await.unwrap();
            change(&orders, 20, true, &mut random).await;
        }
        let files = Files::of(&client(&server).await, SCHEMA, &server.data()).await;
        server.shut_down().unwrap();
        let earlier = files.read();
        server.resume().unwrap();
        let documents = {
            let postgres = store(&server).await.unwrap();
            let orders = orders(postgres.clone());
            // Documents are deleted and forgotten after that, so that old pages bring them back.
            change(&orders, 60, true, &mut random).await;
            postgres.compact().await.unwrap();
            change(&orders, 20, true, &mut random).await;
            let since = postgres.now().await.unwrap();
            change(&orders, 100, true, &mut random).await;
            Documents::of(&orders, since).await
        };
        server.shut_down().unwrap();
        let contents = files.read();
        server.resume().unwrap();
        let places = files.places(&client(&server).await, SCHEMA, &contents, has_checksums).await;
        Self { has_checksums, server, documents, files, contents, earlier, places }
    }

    /// Damages the store, and reads it.
    async fn try_damage(&mut self, damage: Damage, random: &mut Random) -> (Found, bool) {
        if self.server.shut_down().is_err() {
            // A process of it may turn in circles in a damaged index.
            self.server.kill();
            self.server.resume().unwrap();
            self.server.shut_down().unwrap();
        }
        let mut struck = self.contents.clone();
        if !damage.is_of_rows() {
            let earlier = |path: &PathBuf| {
                self.earlier.iter().find(|(known, _)| known == path).map(|(_, bytes)| bytes.as_slice())
            };
            let files = struck.iter_mut().map(|(path, bytes)| (bytes, earlier(path))).collect();
            damage.strike_files(Struck { files, page: PAGE, most: 4 }, random);
        }
        let mut touched = files::touched(&self.places, &self.contents, &struck);
        self.files.write(&struck);
        self.server.resume().unwrap();
        if damage.is_of_rows() {
            touched.extend(damage.strike_rows(&client(&self.server).await, SCHEMA, random).await);
        }
        let ends = self.ends();
        let mut found = match store(&self.server).await {
            Ok(store) => {
                let harm = |_: &_, revision| match touched.contains(&revision) {
                    true => Harm::Touched,
                    false if self.ends() > ends => Harm::Undecidable,
                    false => Harm::None,
                };
                self.documents.compare(&orders(store), harm).await
            }
            Err(error) => {
                let withheld = vec![format!("the store: {error}")];
                Found { is_refused: true, withheld, ..Found::default() }
            }
        };
        if found.is_refused {
            // The server logs its end after its clients have noticed it.
            sleep(Duration::from_secs(1)).await;
        }
        let has_ended = self.ends() > ends;
        let hangs = !has_ended && self.hangs().await;
        if has_ended || hangs && found.is_refused {
            found.undecidable += found.withheld.len();
            found.withheld.clear();
        } else if !self.has_checksums && !found.withheld.is_empty() {
            let unreadable = self.unreadable().await;
            let withheld = found.withheld.len();
            found.withheld.retain(|what| !unreadable.contains(&self.page_of(what)));
            found.undecidable += withheld - found.withheld.len();
        }
        if has_ended || hangs {
            // A watch waits for the server.
            found.altered.retain(|what| !what.ends_with("does not come"));
        }
        (found, has_ended || hangs)
    }

    /// Whether the server works on a statement that nobody waits for any more.
    async fn hangs(&self) -> bool {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND now() - query_start > '4 s'";
        client(&self.server).await.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) > 0
    }

    /// The pages of the log whose rows PostgreSQL cannot read.
    async fn unreadable(&self) -> HashSet<usize> {
        let client = client(&self.server).await;
        let mut unreadable = HashSet::new();
        for page in 0..self.files.log_pages(&self.contents) {
            let rows = format!(
                "BEGIN; DROP INDEX {SCHEMA}.log_revision; DROP INDEX {SCHEMA}.log_key;
                 SELECT sum(revision + action + octet_length(key) + coalesce(sum, 0)) FROM {SCHEMA}.log
                 WHERE ctid >= '({page},0)'::tid AND ctid < '({},0)'::tid",
                page + 1
            );
            if client.batch_execute(&rows).await.is_err() {
                unreadable.insert(page);
            }
            if client.batch_execute("ROLLBACK").await.is_err() {
                break;
            }
        }
        unreadable
    }

    /// The page of the log that has the row of a document that was withheld, as `name@revision: error`.
    fn page_of(&self, withheld: &str) -> usize {
        let revision = withheld.split_once('@').unwrap().1.split_once(':').unwrap().0;
        self.places[&revision.parse().unwrap()][0].1 / PAGE
    }

    /// How often a process of the server has crashed, and the server with it.
    fn ends(&self) -> usize {
        let log = fs::read(self.server.data().with_file_name("server.log")).unwrap();
        String::from_utf8_lossy(&log).matches("was terminated by signal").count()
    }
}

fn number(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[tokio::test]
async fn no_damaged_postgres_store_shows_an_altered_document_and_every_untouched_one_is_shown() {
    let (count, first) = (number("WHEELWRIGHT_DAMAGED_POSTGRES", 14), number("WHEELWRIGHT_DAMAGE_SEED", 0));
    let (mut problems, mut ended) = (Vec::new(), 0);
    let (mut served, mut undecidable) = (0, 0);
    for has_checksums in [false, true] {
        let mut base = Base::build(has_checksums).await;
        let mut counts = BTreeMap::<Damage, [usize; 7]>::new();
        for seed in first..first + count / 2 {
            let mut random = Random::new(seed as u64 + 1);
            // Few stores have every sort of damage, too.
            let damage = Damage::ALL[(seed + 7 * usize::from(has_checksums)) % Damage::ALL.len()];
            let (found, has_ended) = base.try_damage(damage, &mut random).await;
            if has_ended {
                eprintln!("seed {seed} {damage:?}: PostgreSQL ended itself, or hangs: {:?}", found.counts());
                ended += 1;
            }
            served += found.served;
            undecidable += if has_ended { 0 } else { found.undecidable };
            counts.entry(damage).or_default().iter_mut().zip(found.counts()).for_each(|(count, more)| *count += more);
            problems.extend(
                found.problem().map(|problem| format!("checksums {has_checksums}, seed {seed} {damage:?}: {problem}")),
            );
        }
        eprintln!("checksums {has_checksums}: {COUNTS}");
        counts.iter().for_each(|(damage, counts)| eprintln!("{damage:?}: {counts:?}"));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(
        undecidable * 500 <= served,
        "{undecidable} reads of undecidable documents were refused, {served} were served"
    );
    assert!(ended <= 1 + count / 20, "PostgreSQL ended itself, or hangs, over {ended} of {count} stores");
}
