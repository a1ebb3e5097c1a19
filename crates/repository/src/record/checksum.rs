//! The checksum that a record ends with.
//!
//! It covers the bytes of the record and the key that they are stored under, so that both a changed record and one that
//! is found under the key of another are noticed. It is the last member, after `object`: a release that does not know it
//! keeps it like every unknown member, before `object`, where it is recognised as one of an earlier state and ignored.

use twox_hash::XxHash3_64;
use wheelwright_store::Key;

use super::RecordError;

/// The name of the member.
pub(super) const CHECKSUM: &str = "$checksum";

const BEGIN: &[u8] = br#","$checksum":""#;
const DIGITS: usize = 16;
const END: &[u8] = br#""}"#;

/// The key that a record is stored under, as its checksum covers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place(u64);

impl Place {
    pub(crate) fn of(key: &Key) -> Self {
        Self::of_bytes(key.as_str().as_bytes())
    }

    pub(crate) fn of_bytes(key: &[u8]) -> Self {
        Self(XxHash3_64::oneshot(key))
    }
}

/// Adds the checksum to a JSON object without one.
pub(super) fn append(record: &mut Vec<u8>, place: Place) {
    // The brace.
    record.pop();
    let digits = digits_of(record, place);
    record.reserve_exact(BEGIN.len() + DIGITS + END.len());
    record.extend_from_slice(BEGIN);
    record.extend_from_slice(&digits);
    record.extend_from_slice(END);
}

/// Whether a value ends with a checksum, which must match.
pub(super) fn verify(record: &[u8], place: Place) -> Result<bool, RecordError> {
    let Some(rest) = record.strip_suffix(END) else { return Ok(false) };
    let Some((rest, digits)) = rest.split_last_chunk::<DIGITS>() else { return Ok(false) };
    match rest.strip_suffix(BEGIN) {
        Some(covered) if *digits == digits_of(covered, place) => Ok(true),
        Some(_) => Err(RecordError::Checksum),
        None => Ok(false),
    }
}

fn digits_of(covered: &[u8], place: Place) -> [u8; DIGITS] {
    let sum = XxHash3_64::oneshot_with_seed(place.0, covered);
    let mut digits = [0; DIGITS];
    for (digit, byte) in digits.chunks_exact_mut(2).zip(sum.to_be_bytes()) {
        let hex = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
        digit.copy_from_slice(&[hex(byte >> 4), hex(byte & 15)]);
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &[u8] = br#"{"hub":"v1","object":{}}"#;

    fn place(key: &str) -> Place {
        Place::of(&Key::new(key).unwrap())
    }

    #[test]
    fn a_record_has_the_checksum_that_the_format_documents() {
        let mut record = RECORD.to_vec();
        append(&mut record, place("Thing/one"));
        let text = String::from_utf8(record).unwrap();
        assert_eq!(text, r#"{"hub":"v1","object":{},"$checksum":"a04d663afeeb9f34"}"#);
    }

    #[test]
    fn every_changed_bit_and_another_key_is_noticed() {
        let mut record = RECORD.to_vec();
        append(&mut record, place("Thing/one"));
        assert!(verify(&record, place("Thing/one")).unwrap());
        verify(&record, place("Thing/two")).unwrap_err();
        // A bit of the member itself may make it one that is not ours: then it is not taken for a good one.
        for bit in 0..record.len() * 8 {
            record[bit / 8] ^= 1 << (bit % 8);
            assert!(!verify(&record, place("Thing/one")).unwrap_or_default(), "bit {bit}");
            record[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
