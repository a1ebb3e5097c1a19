//! Identifiers, numbers with check digits, colors and base64.

/// 24 hexadecimal digits.
pub(super) fn is_bson_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12 with optional dashes between them; versions 4 and 5 also fix
/// the variant.
pub(super) fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut rest = text.as_bytes();
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 && rest.first() == Some(&b'-') {
            rest = &rest[1..];
        }
        let Some((group, after)) = rest.split_at_checked(length) else {
            return false;
        };
        let fits = match (index, version) {
            (2, Some(version)) => group[0] == version,
            (3, Some(b'4' | b'5')) => matches!(group[0], b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
            _ => true,
        };
        if !fits || !group.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// Ten digits of which the last may be `X`, with a right check digit; spaces and dashes do not count.
pub(super) fn is_isbn10(text: &str) -> bool {
    let Some(digits) = isbn_digits::<10>(text) else {
        return false;
    };
    let sum: u32 = (1..).zip(digits).map(|(position, digit)| position * digit).sum();
    !digits[..9].contains(&10) && sum.is_multiple_of(11)
}

/// Thirteen digits with a right check digit; spaces and dashes do not count.
pub(super) fn is_isbn13(text: &str) -> bool {
    let Some(digits) = isbn_digits::<13>(text) else {
        return false;
    };
    let sum: u32 = [1, 3].into_iter().cycle().zip(digits).map(|(weight, digit)| weight * digit).sum();
    !digits.contains(&10) && sum.is_multiple_of(10)
}

/// Exactly `N` digits, `X` being ten.
fn isbn_digits<const N: usize>(text: &str) -> Option<[u32; N]> {
    let mut digits = [0; N];
    let mut count = 0;
    for byte in text.bytes().filter(|byte| !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'-')) {
        *digits.get_mut(count)? = match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'X' => 10,
            _ => return None,
        };
        count += 1;
    }
    (count == N).then_some(digits)
}

/// The number of a known issuer with a right check digit; whatever is not a digit does not count.
pub(super) fn is_credit_card(text: &str) -> bool {
    let mut buffer = [0; 16];
    let mut length = 0;
    for digit in text.bytes().filter(u8::is_ascii_digit) {
        let Some(slot) = buffer.get_mut(length) else {
            return false;
        };
        *slot = digit;
        length += 1;
    }
    let digits = &buffer[..length];
    let issued = match digits {
        [b'4', ..] => matches!(length, 13 | 16),
        [b'3', b'4' | b'7', ..] | [b'2', b'1', b'3', b'1', ..] | [b'1', b'8', b'0', b'0', ..] => length == 15,
        [b'3', b'0', b'0'..=b'5', ..] | [b'3', b'6' | b'8', ..] => length == 14,
        [b'5', b'1'..=b'5', ..] | [b'6', b'5', ..] | [b'6', b'0', b'1', b'1', ..] | [b'3', b'5', ..] => length == 16,
        _ => false,
    };
    issued && luhn(digits)
}

/// Every second digit from the right is doubled; the sum of all digits is a multiple of ten.
fn luhn(digits: &[u8]) -> bool {
    let weighted = digits.iter().rev().zip([false, true].into_iter().cycle()).map(|(digit, doubled)| {
        let digit = u32::from(digit - b'0');
        let value = if doubled { digit * 2 } else { digit };
        value / 10 + value % 10
    });
    weighted.sum::<u32>() % 10 == 0
}

/// Such as `111-11-1111` or `111 11 1111`.
pub(super) fn is_social_security_number(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(index, byte)| match index {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

/// Three or six hexadecimal digits after an optional `#`.
pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Such as `rgb(0, 127, 255)`.
pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(channels) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let mut count = 0;
    channels.split(',').all(|channel| {
        count += 1;
        count <= 3 && is_color_channel(channel.trim_matches(['\t', '\n', '\u{c}', '\r', ' ']))
    }) && count == 3
}

/// A number up to 255 without leading zeros.
fn is_color_channel(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
        && text.parse::<u8>().is_ok()
}

/// At least one group of four characters of the standard alphabet; the last may be padded.
pub(super) fn is_base64(text: &str) -> bool {
    let data = match text.as_bytes() {
        [data @ .., b'=', b'='] | [data @ .., b'='] => data,
        data => data,
    };
    !data.is_empty()
        && text.len().is_multiple_of(4)
        && data.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn identifiers() {
        check(
            "bsonobjectid",
            &["507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011"],
            &["", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g"],
        );
        let uuid4 = "6b690bec-0c16-4ecb-8f67-781caf40bba7";
        let plain = "6B690BEC0C164ECB8F67781CAF40BBA7";
        check("uuid", &[uuid4, plain, "6b690bec-0c160000ffff-781caf40bba7"], &["", "a", "x-y", "UPPER"]);
        check("uuid", &[], &["6b690bec-0c16-4ecb-8f67-781caf40bba", "6b690bec--0c16-4ecb-8f67-781caf40bba7"]);
        check("uuid", &[], &["6b690bec-0c16-4ecb-8f67-781caf40bba7-", "{6b690bec-0c16-4ecb-8f67-781caf40bba7}"]);
        check("uuid3", &["6b690bec-0c16-3ecb-0f67-781caf40bba7"], &[uuid4, "é"]);
        check("uuid4", &[uuid4, plain], &["6b690bec-0c16-4ecb-7f67-781caf40bba7"]);
        check("uuid5", &["6b690bec-0c16-5ecb-Bf67-781caf40bba7"], &[uuid4, "6b690bec-0c16-5ecb-cf67-781caf40bba7"]);
    }

    #[test]
    fn numbers_with_check_digits() {
        let ten = ["0321751043", "0-321-75104-3", "097522980X", " 0 975229 80X "];
        let thirteen = ["978-0321751041", "9780321751041"];
        check("isbn10", &ten, &["", "836217463", "0321751044", "097522980x", "X975229800", "9780321751041"]);
        check("isbn13", &thirteen, &["", "978-0321751042", "97803217510410", "978032175104X", "0321751043"]);
        check("isbn", &ten, &["836217463", "é"]);
        check("isbn", &thirteen, &[]);
        let cards =
            ["4111-1111-1111-1111", "4012-8888-8888-1881", "378282246310005", "30569309025904", "4222222222222"];
        let others = ["6011111111111117", "5555555555554444", "3530111333300000", "card 4111 1111 1111 1111!"];
        check("creditcard", &cards, &["", "9999-9999-9999-999", "4111-1111-1111-1112", "41111111111111111"]);
        check("creditcard", &others, &["5655555555554444", "1", "0000000000000000"]);
        check("ssn", &["111-11-1111", "999 99 9999", "111-11 1111"], &["", "999 99 999", "111111111", "111_11_1111"]);
    }

    #[test]
    fn colors() {
        check("hexcolor", &["#FFFFFF", "#000", "fff", "a1B2c3"], &["", "#", "#ffff", "#fffffffz", "##fff", "#ggg"]);
        let good = ["rgb(0,0,0)", "rgb(255,255,255)", "rgb( 1 ,\t20 , 199 )"];
        let bad = ["", "rgb(300,0,0)", "rgb(256,0,0)", "rgb(01,0,0)", "rgb(,,)", "rgb(1,2)", "rgb(1,2,3,4)"];
        check("rgbcolor", &good, &bad);
        check("rgbcolor", &[], &["RGB(1,2,3)", "rgb(1,2,3) ", "rgb (1,2,3)", "rgb(+1,2,3)", "rgb(1\u{b},2,3)"]);
    }

    #[test]
    fn base64() {
        check("byte", &["ZWxpemFiZXRocG9zZXk=", "YQ==", "YWE=", "YWFh", "+/+/"], &["", "=", "==", "====", "YQ="]);
        check("byte", &[], &["ZWxpemFiZXRocG9zZXk", "Y===", "YQ==YQ==", "-_-_", "YWFh\n", "YQ= ="]);
    }

    #[test]
    fn quantities() {
        let plain = ["0", "1", "+1", "-1", "1.5", ".5", "1.", "007", "123456789012345678901234567890"];
        let suffixed = ["1Ki", "1.5Gi", "1Ei", "100m", "1n", "1u", "1k", "1M", "1E", "1e3", "1E3", "1e-3", "1e+3"];
        check("quantity", &plain, &["", " ", "1 ", "a", "1..2", "1,5", "--1", "é", "1é"]);
        check("quantity", &suffixed, &["1K", "1ki", "1g", "1Kii", "1e", "1e+", "1e3i", "1e1.5", "1KB", "1mi"]);
        check("quantity", &["1e99999999999", "1e-99999999999"], &["1e99999999999999999999"]);
        // A missing number is zero to the reference's fast path, and an error to its slow one.
        check("quantity", &["+", "-", ".", "m", "Ki", "Ti", "e5", "-.k"], &["Pi", "Ei", "e-10", ".Ei"]);
    }
}
