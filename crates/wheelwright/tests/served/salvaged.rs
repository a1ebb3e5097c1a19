//! A SQLite file with damaged pages: it is served for reading, `store repair --to` saves the rest, and that is served again.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use crate::server::{Client, Server, app, apps};

const PAGE: usize = 4096;

fn documents(client: &mut Client, names: &[String]) -> BTreeMap<String, (u16, String)> {
    let get = |name: &String| (name.clone(), client.request("GET", &format!("{}/{name}", apps()), "").unwrap());
    names.iter().map(get).collect()
}

fn salvage(store: &Path, to: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
        .args(["store", "repair", "--store", &format!("sqlite:{}", store.display()), "--to"])
        .arg(to)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), text)
}

#[test]
fn a_damaged_file_is_served_for_reading_and_saved_to_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let [path, new] = ["apps.db", "new.db"].map(|name| folder.path().join(name));
    let names: Vec<String> = (0..60).map(|number| format!("app-{number:02}")).collect();
    let whole = {
        let server = Server::start(&path, &[]);
        let mut client = server.connect().unwrap();
        for name in &names {
            assert_eq!(client.request("POST", apps(), &app(name, "image-1")).unwrap().0, 201);
        }
        documents(&mut client, &names)
    };
    // The killed server has left a write-ahead log, which belongs to the file.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    // The first page, with the header of the file, and a page with rows.
    bytes[..PAGE].fill(0);
    let row = bytes.windows(8).position(|text| text == br#""app-30""#).unwrap();
    let page = row / PAGE * PAGE;
    bytes[page..page + PAGE].fill(0x5a);
    fs::write(&path, &bytes).unwrap();

    let shown = {
        let server = Server::start(&path, &[]);
        let mut client = server.connect().unwrap();
        assert_eq!(client.request("POST", apps(), &app("another", "image-1")).unwrap().0, 500);
        documents(&mut client, &names)
    };
    assert_eq!(fs::read(&path).unwrap(), bytes, "the damaged file was written");
    let read: Vec<&String> = names.iter().filter(|name| shown[*name] == whole[*name]).collect();
    assert!(read.len() > 45 && shown["app-30"].0 != 200, "{}", read.len());
    assert!(shown.iter().all(|(name, got)| got.0 != 200 || *got == whole[name]));

    let (code, said) = salvage(&path, &new);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("{} records saved in {}", read.len(), new.display())), "{said}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "the damaged file was written");
    let (code, again) = salvage(&path, &new);
    assert!(code == Some(2) && again.contains("there is such a file"), "{again}");

    let server = Server::start(&new, &[]);
    let mut client = server.connect().unwrap();
    for (name, got) in documents(&mut client, &names) {
        assert!(if read.contains(&&name) { got == whole[&name] } else { got.0 == 404 }, "{name}: {got:?}");
    }
    assert_eq!(client.request("POST", apps(), &app("app-30", "image-2")).unwrap().0, 201);
    assert_eq!(client.request("GET", "/readyz", "").unwrap().0, 200);
}
