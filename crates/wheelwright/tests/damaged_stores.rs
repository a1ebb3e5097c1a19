//! What the commands report about SQLite files that are really damaged.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use rusqlite::Connection;
use tempfile::TempDir;

const PAGE: usize = 4096;
const DOCUMENTS: usize = 60;

/// A store with orders, and a backup of it.
struct Orders {
    folder: TempDir,
    store: PathBuf,
}

impl Orders {
    fn stored() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("orders.db");
        let orders = Self { folder, store };
        let mut yaml = String::new();
        for number in 0..DOCUMENTS {
            let name = format!("order-{number:02}");
            writeln!(
                yaml,
                "---\napiVersion: shop.example.com/v1\nkind: Order\nmetadata: {{ name: {name}, namespace: shop, annotations: \
                 {{ note: {} }} }}\nspec: {{ qty: {} }}",
                "long ".repeat(60),
                number + 1
            )
            .unwrap();
        }
        let documents = orders.folder.path().join("orders.yaml");
        fs::write(&documents, yaml).unwrap();
        let put = orders.run(&["store", "put", &documents.display().to_string()]);
        assert_eq!(put.status.code(), Some(0), "{}", String::from_utf8_lossy(&put.stderr));
        let backup = orders.run(&["store", "backup", &orders.backup().display().to_string()]);
        assert_eq!(backup.status.code(), Some(0));
        orders
    }

    fn backup(&self) -> PathBuf {
        self.folder.path().join("backup.db")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_wheelwright"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders"))
            .args(arguments)
            .args(["--store", &format!("sqlite:{}", self.store.display())])
            .output()
            .unwrap()
    }

    /// The exit code and both streams of a command, without the folder of the store.
    fn said(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.run(arguments);
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(&format!("{}/", self.folder.path().display()), "");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Changes the bytes of the file.
    fn strike(&self, strike: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(&self.store).unwrap();
        strike(&mut bytes);
        fs::write(&self.store, bytes).unwrap();
    }

    /// Where the page is that has the row of an order.
    fn page_of(&self, name: &str) -> usize {
        let text = format!(r#""name":"{name}""#);
        let bytes = fs::read(&self.store).unwrap();
        let row = bytes.windows(text.len()).position(|found| found == text.as_bytes()).unwrap();
        row / PAGE * PAGE
    }

    /// Where the root page of the index is.
    fn index(&self) -> usize {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'log_by_key'";
        let root: i64 = Connection::open(&self.store).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
        (root as usize - 1) * PAGE
    }
}

const ADVICE: &str = "help: orders.db is damaged: only documents that are certain to be current can be read, and nothing is \
                      written; restore a backup, or save the rest with wheelwright store repair --to FILE\n";

#[test]
fn a_damaged_structure_is_a_finding_although_every_record_is_sound() {
    let orders = Orders::stored();
    // The number of free pages.
    orders.strike(|bytes| bytes[36..40].copy_from_slice(&7_u32.to_be_bytes()));
    let what = "the structure of the store is damaged: Freelist: size is 0 but should be 7\n";
    let (code, data, said) = orders.said(&["migrate", "verify"]);
    assert_eq!((code, said.as_str()), (Some(1), ADVICE));
    assert_eq!(data, format!("{what}Order: 60 of 60 records as it should be at v3\n"));
    let (code, data, said) = orders.said(&["migrate", "verify", "--format", "json"]);
    assert_eq!((code, said.as_str()), (Some(1), ADVICE));
    let line: serde_json::Value = serde_json::from_str(data.lines().next().unwrap()).unwrap();
    assert_eq!(line["structuralDamage"], "Freelist: size is 0 but should be 7");
    assert!(line["help"].as_str().unwrap().contains("restore a backup"), "{line}");
    let (code, data, said) = orders.said(&["store", "repair"]);
    assert_eq!((code, said.as_str()), (Some(1), ADVICE));
    assert_eq!(data, format!("{what}60 records: none of those that can be read is damaged itself\n"));
    let new = orders.folder.path().join("new.db");
    assert_eq!(orders.said(&["store", "repair", "--to", &new.display().to_string()]).0, Some(0));
}

#[test]
fn records_that_are_lost_with_a_page_are_distinguished_from_uncertain_ones() {
    let orders = Orders::stored();
    let (page, index) = (orders.page_of("order-30"), orders.index());
    // The index still has the lost records.
    orders.strike(|bytes| bytes[page..page + PAGE].fill(0x5a));
    let (code, data, said) = orders.said(&["store", "repair", "--write"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(data.contains("Order shop/order-30 is damaged at revision 32: the store cannot read it\n"), "{data}");
    assert!(!data.contains("uncertain") && !data.contains("--write puts"), "{data}");
    assert!(said.contains("nothing was written: records of a store with a damaged structure"), "{said}");
    let (code, data, said) = orders.said(&["store", "get", "--raw", "shop/order-30"]);
    assert_eq!((code, data.as_str()), (Some(1), ""), "{said}");
    assert!(said.starts_with("error: shop/order-30: the store has no bytes of it"), "{said}");
    let (_, _, said) = orders.said(&["store", "get", "shop/order-30"]);
    assert!(said.contains("the store cannot read it: the record is damaged"), "{said}");

    // Without the index, any record may have been written again in the lost page.
    orders.strike(|bytes| bytes[index..index + PAGE].fill(0x5a));
    let (code, _, said) = orders.said(&["store", "get", "shop/order-02"]);
    assert_eq!(code, Some(1));
    let uncertain = "error: shop/order-02: the store is damaged and may have lost a newer revision; the last known one may be \
                     intact: wheelwright store repair shows the damage and what to do\n";
    assert!(said.starts_with(uncertain), "{said}");
    let (code, data, said) = orders.said(&["store", "get", "--raw", "shop/order-02"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(data.contains(r#""quantity":3"#), "{data}");
    let warning = "warning: shop/order-02: the store is damaged: these bytes are those of the last known revision, and may be \
                   outdated (revision 4)\n";
    assert_eq!(said, warning);
    let (code, data, _) = orders.said(&["store", "repair"]);
    assert_eq!(code, Some(1));
    assert!(data.contains("Order: records may be missing, and cannot be listed\n"), "{data}");
    assert_eq!(orders.said(&["migrate", "verify"]).0, Some(1));
}

#[test]
fn bytes_that_do_not_match_their_checksum_can_be_read_and_are_saved_before_a_repair() {
    let orders = Orders::stored();
    let sql = r#"UPDATE log SET value = CAST(replace(CAST(value AS TEXT), '"quantity":31', '"quantity":77') AS BLOB)
                 WHERE key LIKE '%/order-30'"#;
    assert_eq!(Connection::open(&orders.store).unwrap().execute(sql, []).unwrap(), 1);
    let (code, raw, said) = orders.said(&["store", "get", "--raw", "shop/order-30"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(raw.contains(r#""quantity":77"#), "{raw}");
    let warning =
        "warning: shop/order-30: these bytes do not match their checksum in the store (revision 32)\n".to_owned();
    assert_eq!(said, warning);

    let backup = format!("sqlite:{}", orders.backup().display());
    let (code, data, said) = orders.said(&["store", "repair", "--write", "--from", &backup]);
    assert_eq!(code, Some(0), "{data}{said}");
    let repaired = "repaired from revision 32 in the backup, which is now revision 62; the damaged bytes are in \
                    shop_order-30.32.damaged\n60 records: 1 damaged, 1 repaired, 0 left\n";
    assert!(data.ends_with(repaired), "{data}");
    let saved = fs::read_to_string(orders.folder.path().join("shop_order-30.32.damaged")).unwrap();
    assert_eq!(saved, raw);
    assert_eq!(orders.said(&["store", "repair"]), (Some(0), "60 records: none is damaged\n".to_owned(), String::new()));
}
