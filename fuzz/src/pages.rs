//! Damaged SQLite files: whatever bytes they have, reading them ends.

use std::{cell::RefCell, env, fs, path::PathBuf, process};

use tokio::runtime::Builder;
use wheelwright_store::{Key, Sqlite, SqliteOptions, Store, fuzzing};

const PAGE: usize = 4096;

/// A sound file, and where damaged copies of it are put.
struct Files {
    sound: Vec<u8>,
    path: PathBuf,
}

thread_local! {
    static FILES: RefCell<Option<Files>> = const { RefCell::new(None) };
}

/// Reads bytes as a SQLite file if they begin like one, and otherwise a sound file with some of its bytes replaced: each time by
/// those that follow the number of a page, a place in it (two bytes) and their number.
pub fn pages(input: &[u8]) {
    FILES.with_borrow_mut(|files| {
        let files = files.get_or_insert_with(Files::new);
        let file = match input.starts_with(b"SQLite format 3\0") {
            true => input.to_vec(),
            false => files.damaged(input),
        };
        fs::write(&files.path, file).expect("a file");
        fuzzing::read_damaged(&files.path).expect("a file that can be read");
    });
}

impl Files {
    fn new() -> Self {
        let path = env::temp_dir().join(format!("wheelwright-fuzz-pages-{}", process::id()));
        let store = Sqlite::open(&path, SqliteOptions::default()).expect("a store");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let key = |number: usize| Key::new(format!("fuzz/{number:03}")).expect("a key");
            for number in 0..150 {
                let revision = store.create(&key(number), vec![7; number * 3]).await.expect("a new key");
                if number % 10 == 0 {
                    store.delete(&key(number), &revision).await.expect("a key");
                }
            }
            store.compact().await.expect("a store");
            store.create(&key(150), vec![7; 3 * PAGE]).await.expect("a new key");
        });
        drop(store);
        Self { sound: fs::read(&path).expect("a file"), path }
    }

    fn damaged(&self, mut input: &[u8]) -> Vec<u8> {
        let mut file = self.sound.clone();
        while let [page, high, low, length, rest @ ..] = input {
            let (bytes, rest) = rest.split_at(usize::from(*length).min(rest.len()));
            let at = usize::from(*page) * PAGE + usize::from(u16::from_be_bytes([*high, *low])) % PAGE;
            for (place, byte) in (at % file.len()..file.len()).zip(bytes) {
                file[place] = *byte;
            }
            input = rest;
        }
        file
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // A file that stays is replaced by the next process of that number.
        let _ = fs::remove_file(&self.path);
    }
}
