//! The files of a store's tables, and where in them each row is.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use tokio_postgres::Client;

pub(crate) const PAGE: usize = 8192;

/// The contents of files, by path.
pub(crate) type Contents = Vec<(PathBuf, Vec<u8>)>;

/// The files of the tables, their indexes and their TOAST tables.
pub(crate) struct Files {
    log: PathBuf,
    toast: PathBuf,
    toast_index: PathBuf,
    all: Vec<PathBuf>,
}

/// The parts of files that a row depends on: file, start, end.
type Place = Vec<(PathBuf, usize, usize)>;

impl Files {
    /// The files of a schema, of a server with data in a folder.
    pub(crate) async fn of(client: &Client, schema: &str, data: &Path) -> Self {
        let path = async |relation: &str| {
            let sql = format!("SELECT pg_relation_filepath({relation})");
            data.join(client.query_one(&sql, &[]).await.unwrap().get::<_, String>(0))
        };
        let toast = format!("(SELECT reltoastrelid FROM pg_class WHERE oid = '{schema}.log'::regclass)");
        let toast_index = format!("(SELECT indexrelid FROM pg_index WHERE indrelid = {toast})");
        let relation = |name: &str| format!("'{schema}.{name}'");
        let (log, toast, toast_index) = (path(&relation("log")).await, path(&toast).await, path(&toast_index).await);
        let mut all = vec![log.clone(), toast.clone(), toast_index.clone()];
        for name in ["log_revision", "log_key", "head", "head_pkey", "trail", "trail_copy", "buckets"] {
            all.push(path(&relation(name)).await);
        }
        Self { log, toast, toast_index, all }
    }

    /// How many pages the table log has.
    pub(crate) fn log_pages(&self, contents: &Contents) -> usize {
        contents.iter().find(|(path, _)| *path == self.log).map_or(0, |(_, bytes)| bytes.len() / PAGE)
    }

    /// The contents of the files and of their page maps. Call it while the server is down.
    pub(crate) fn read(&self) -> Contents {
        let forks = self.all.iter().flat_map(|path| ["", "_vm", "_fsm"].map(|fork| with_suffix(path, fork)));
        forks.filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
    }

    /// Puts these contents back, and removes other files of the tables.
    pub(crate) fn write(&self, contents: &Contents) {
        for path in self.all.iter().flat_map(|path| ["_vm", "_fsm"].map(|fork| with_suffix(path, fork))) {
            if !contents.iter().any(|(known, _)| *known == path) {
                let _ = fs::remove_file(path);
            }
        }
        contents.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    }

    /// Where the row of each revision is. A page with a checksum can be read as a whole or not at all.
    pub(crate) async fn places(
        &self,
        client: &Client,
        schema: &str,
        contents: &Contents,
        has_checksums: bool,
    ) -> HashMap<u64, Place> {
        let bytes = |path: &PathBuf| &contents.iter().find(|(known, _)| known == path).unwrap().1;
        let (log, toast) = (bytes(&self.log), bytes(&self.toast));
        let sql = format!(
            "SELECT reltoastrelid::int8, reltoastrelid::regclass::text FROM pg_class WHERE oid = '{schema}.log'::regclass"
        );
        let row = client.query_one(&sql, &[]).await.unwrap();
        let (toast_id, toast_name): (i64, String) = (row.get(0), row.get(1));
        let mut chunks = HashMap::<u32, Vec<(usize, usize)>>::new();
        let sql = format!("SELECT chunk_id, ctid::text FROM {toast_name}");
        for row in client.query(&sql, &[]).await.unwrap() {
            let places = tuple(toast, row.get(1), has_checksums);
            chunks.entry(row.get(0)).or_default().extend(places);
        }
        let mut places = HashMap::new();
        for row in client.query(&format!("SELECT revision, ctid::text FROM {schema}.log"), &[]).await.unwrap() {
            let own = tuple(log, row.get(1), has_checksums);
            let mut place: Place = own.iter().map(|(start, end)| (self.log.clone(), *start, *end)).collect();
            let [.., (start, end)] = tuple(log, row.get(1), false);
            if let Some(value) = toasted(&log[start..end], toast_id as u32) {
                place.extend(chunks[&value].iter().map(|(start, end)| (self.toast.clone(), *start, *end)));
                // Chunks are found by their index alone.
                place.push((self.toast_index.clone(), 0, usize::MAX));
            }
            places.insert(row.get::<_, i64>(0) as u64, place);
        }
        places
    }
}

/// The parts of two states of files that differ, as a question about places.
pub(crate) fn touched(places: &HashMap<u64, Place>, before: &Contents, after: &Contents) -> HashSet<u64> {
    let after: HashMap<&PathBuf, &Vec<u8>> = after.iter().map(|(path, bytes)| (path, bytes)).collect();
    let before: HashMap<&PathBuf, &Vec<u8>> = before.iter().map(|(path, bytes)| (path, bytes)).collect();
    let differs = |(path, start, end): &(PathBuf, usize, usize)| {
        let part = |bytes: &[u8]| bytes.get(*start..(*end).min(bytes.len())).map(<[u8]>::to_vec);
        part(before[path]) != after.get(path).and_then(|bytes| part(bytes))
    };
    places.iter().filter(|(_, place)| place.iter().any(differs)).map(|(revision, _)| *revision).collect()
}

/// The parts of a file that a tuple depends on: the header of its page, its line pointer, and itself; or all of its page.
fn tuple(file: &[u8], ctid: &str, has_checksums: bool) -> [(usize, usize); 3] {
    let (block, item) = ctid.trim_matches(['(', ')']).split_once(',').unwrap();
    let page = block.parse::<usize>().unwrap() * PAGE;
    if has_checksums {
        return [(page, page + PAGE); 3];
    }
    let pointer = page + 24 + 4 * (item.parse::<usize>().unwrap() - 1);
    let packed = u32::from_le_bytes(file[pointer..pointer + 4].try_into().unwrap());
    let (offset, length) = ((packed & 0x7fff) as usize, (packed >> 17) as usize);
    [(page, page + 24), (pointer, pointer + 4), (page + offset, page + offset + length)]
}

/// The id of a value in the TOAST table that a tuple points to: tag, kind of pointer, two sizes, value, table.
fn toasted(tuple: &[u8], table: u32) -> Option<u32> {
    let pointer = tuple.windows(18).find(|bytes| bytes.starts_with(&[1, 18]) && bytes[14..] == table.to_le_bytes())?;
    Some(u32::from_le_bytes(pointer[10..14].try_into().unwrap()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}
