//! What a value may be.

use super::{
    client::{Client, Context, Diary, key},
    random::Random,
};
use crate::{ErrorKind, Prefix};

const MEGABYTE: usize = 1 << 20;

pub(super) async fn a_value_is_any_bytes(context: Context) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let values: [&[u8]; 8] = [
        b"",
        b"\0",
        b"\0\0\0",
        b"a\0b",
        &every_byte,
        b"\xff\xfe\xfd",
        "\u{feff}{\"text\": \"\u{1f600} ' \\\\ %s\"}".as_bytes(),
        b"\\x00 \r\n \x1a",
    ];
    come_back(&context, values.map(<[u8]>::to_vec)).await;
}

pub(super) async fn a_value_may_have_a_megabyte(context: Context) {
    let mut random = Random::new(1);
    let values = [MEGABYTE, MEGABYTE - 1, 65_536, 65_535, 4097].map(|length| random.bytes(length));
    come_back(&context, values).await;
}

/// That values are read as they were written, whichever way they were written and are read.
async fn come_back<const COUNT: usize>(context: &Context, values: [Vec<u8>; COUNT]) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    for (number, value) in values.iter().enumerate() {
        let (created, replaced) = (key(format!("created/{number}")), key(format!("replaced/{number}")));
        diary.create(&created, value).await;
        diary.create(&replaced, b"something else").await;
        diary.replace(&replaced, value).await;
        for key in [created, replaced] {
            let found = client.get(&key).await.map(|stored| stored.value);
            assert!(found.as_ref() == Some(value), "a get of a value of {} bytes: {}", value.len(), seen(found));
        }
    }
    assert_listed(&client, &diary).await;
    for number in 0..COUNT {
        diary.delete(&key(format!("created/{number}"))).await;
    }
    assert_listed(&client, &diary).await;
    let events = client.watch(&Prefix::all(), &begin).await.take(diary.told.len()).await;
    diary.assert_told(events, &Prefix::all(), 0, "a watch of values of all kinds");
}

async fn assert_listed(client: &Client, diary: &Diary) {
    let (items, _) = client.list(&Prefix::all(), None).await;
    assert!(items == diary.current(&Prefix::all()), "a list shows values as they were written");
}

fn seen(found: Option<Vec<u8>>) -> String {
    found.map_or("nothing".to_owned(), |value| format!("{} bytes, {:x?}…", value.len(), &value[..value.len().min(20)]))
}

pub(super) async fn a_value_that_is_too_large_is_refused(context: Context) {
    let Some(length) = context.too_large() else { return };
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let (one, two) = (key("kind/one"), key("kind/two"));
    let revision = diary.create(&one, b"small").await;
    let large = vec![7; length];
    assert_eq!(client.create(&two, &large).await, Err(ErrorKind::TooLarge), "a create with {length} bytes");
    assert_eq!(
        client.replace(&one, &revision, &large).await,
        Err(ErrorKind::TooLarge),
        "a replace with {length} bytes"
    );
    assert_eq!(client.get(&one).await.as_ref(), diary.stored(&one), "a write that was too large changes nothing");
    assert_eq!(client.get(&two).await, None, "a write that was too large changes nothing");
    diary.replace(&one, b"small again").await;
}
