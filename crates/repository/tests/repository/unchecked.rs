//! Records without checksums.

/// A record without its checksum, as earlier releases wrote it: to be changed, or stored under another key.
pub(crate) fn without_checksum(record: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(record).expect("a record");
    let without = text.rsplit_once(r#","$checksum":""#).map(|(rest, _)| format!("{rest}}}"));
    without.unwrap_or(text).into_bytes()
}
