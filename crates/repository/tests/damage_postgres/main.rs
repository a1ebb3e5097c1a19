//! PostgreSQL stores with random damage: no document is displayed other than it was acknowledged last, and every document
//! whose bytes were not touched is displayed.
//!
//! `WHEELWRIGHT_DAMAGED_POSTGRES` is the number of stores (14), half of them with checksums of PostgreSQL's pages, and
//! `WHEELWRIGHT_DAMAGE_SEED` the first seed.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]
#![expect(clippy::print_stderr, reason = "it reports what it tried")]

mod documents;
mod files;
mod strike;
#[path = "../repository/support.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::{
    collections::{BTreeMap, HashMap},
    env,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tokio_postgres::{Client, NoTls};
use wheelwright_evolve::laws::Random;
use wheelwright_store::{Postgres, PostgresOptions, Store, StoreError, testing::PostgresServer};

use crate::{
    documents::{Documents, Found, orders},
    files::{Contents, Files},
    strike::Damage,
};

const SCHEMA: &str = "damaged";

/// An undamaged store, and all that it acknowledged.
struct Base {
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
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn store(server: &PostgresServer) -> Result<Arc<Postgres>, StoreError> {
    // Nothing is forgotten by itself while a test runs.
    let options = PostgresOptions { history: Duration::from_secs(1 << 20), ..PostgresOptions::default() };
    Postgres::connect(&server.address(SCHEMA), options).await.map(Arc::new)
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
            documents::create(&orders, &mut random).await;
            documents::change(&orders, 80, false, &mut random).await;
            postgres.compact().await.unwrap();
            client(&server).await.batch_execute(&format!("VACUUM {SCHEMA}.log")).await.unwrap();
            documents::change(&orders, 20, true, &mut random).await;
        }
        let files = Files::of(&client(&server).await, SCHEMA, &server.data()).await;
        server.shut_down().unwrap();
        let earlier = files.read();
        server.resume().unwrap();
        let documents = {
            let postgres = store(&server).await.unwrap();
            let orders = orders(postgres.clone());
            documents::change(&orders, 20, true, &mut random).await;
            postgres.compact().await.unwrap();
            documents::change(&orders, 20, true, &mut random).await;
            let since = postgres.now().await.unwrap();
            documents::change(&orders, 100, true, &mut random).await;
            Documents::of(&orders, since).await
        };
        server.shut_down().unwrap();
        let contents = files.read();
        server.resume().unwrap();
        let places = files.places(&client(&server).await, SCHEMA, &contents, has_checksums).await;
        Self { server, documents, files, contents, earlier, places }
    }

    /// Damages the store, and reads it.
    async fn try_damage(&mut self, damage: Damage, random: &mut Random) -> Result<Found, StoreError> {
        if self.server.shut_down().is_err() {
            // A process of it may turn in circles in a damaged index.
            self.server.kill();
            self.server.resume().unwrap();
            self.server.shut_down().unwrap();
        }
        let mut struck = self.contents.clone();
        if !damage.is_of_rows() {
            damage.strike_files(&mut struck, &self.earlier, random);
        }
        let mut touched = files::touched(&self.places, &self.contents, &struck);
        self.files.write(&struck);
        self.server.resume().unwrap();
        if damage.is_of_rows() {
            touched.extend(damage.strike_rows(&client(&self.server).await, SCHEMA, random).await);
        }
        let orders = orders(store(&self.server).await?);
        Ok(self.documents.compare(&orders, |revision| touched.contains(&revision)).await)
    }
}

fn number(variable: &str, default: usize) -> usize {
    env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[tokio::test]
async fn no_damaged_postgres_store_shows_an_altered_document_and_every_untouched_one_is_shown() {
    let (count, first) = (number("WHEELWRIGHT_DAMAGED_POSTGRES", 14), number("WHEELWRIGHT_DAMAGE_SEED", 0));
    let mut problems = Vec::new();
    for has_checksums in [false, true] {
        let mut base = Base::build(has_checksums).await;
        let mut counts = BTreeMap::<Damage, [usize; 7]>::new();
        for seed in first..first + count / 2 {
            let mut random = Random::new(seed as u64 + 1);
            // Few stores have every sort of damage, too.
            let damage = Damage::ALL[(seed + 7 * usize::from(has_checksums)) % Damage::ALL.len()];
            let (is_refused, found) = match base.try_damage(damage, &mut random).await {
                Ok(found) => (false, found),
                Err(error) => {
                    eprintln!("seed {seed} {damage:?}: refused: {error}");
                    (true, Found::default())
                }
            };
            let (altered, withheld) = (&found.altered, &found.withheld);
            let all =
                [1, usize::from(is_refused), found.served, found.named, found.unknown, altered.len(), withheld.len()];
            counts.entry(damage).or_default().iter_mut().zip(all).for_each(|(count, more)| *count += more);
            if !altered.is_empty() || !withheld.is_empty() {
                problems.push(format!(
                    "checksums {has_checksums}, seed {seed} {damage:?}: altered {:?} of {}, withheld {:?} of {}",
                    &altered[..altered.len().min(3)],
                    altered.len(),
                    &withheld[..withheld.len().min(3)],
                    withheld.len()
                ));
            }
        }
        eprintln!("checksums {has_checksums}: [stores, refused, served, named, unknown, altered, withheld]");
        counts.iter().for_each(|(damage, counts)| eprintln!("{damage:?}: {counts:?}"));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
