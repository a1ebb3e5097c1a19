//! Times as Go's `metav1.Time` reads and writes them.

/// Reads a text of RFC 3339 and writes it in UTC, without fractions of a second. The outer `None` means that it cannot
/// be read, the inner one that it is Go's zero time, which is never written.
pub(crate) fn in_utc(text: &str) -> Option<Option<String>> {
    let (date_time, zone) = text.split_at_checked(19)?;
    let shape: String = date_time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if shape != "0000-00-00T00:00:00" {
        return None;
    }
    let number = |start: usize, end: usize| date_time[start..end].parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let valid = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let offset = offset_seconds(skip_fraction(zone)?).filter(|_| valid)?;

    let instant = days_before(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some((instant != days_before(1, 1, 1) * 86_400).then(|| write(instant)))
}

fn skip_fraction(zone: &str) -> Option<&str> {
    let Some(fraction) = zone.strip_prefix(['.', ',']) else {
        return Some(zone);
    };
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < fraction.len()).then_some(rest)
}

fn offset_seconds(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':')?;
    let part = |text: &str| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<i64>().ok()).flatten()
    };
    let (hours, minutes) = (part(hours)?, part(minutes)?);
    (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days between the first day of year 0 and this one.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let years: i64 = (0..year).map(|year| 365 + i64::from(is_leap(year))).sum();
    years + (1..month).map(|month| days_in_month(year, month)).sum::<i64>() + day - 1
}

fn write(instant: i64) -> String {
    let (mut days, seconds) = (instant.div_euclid(86_400), instant.rem_euclid(86_400));
    let (mut year, mut month) = (0, 1);
    while days >= 365 + i64::from(is_leap(year)) {
        days -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    while days >= days_in_month(year, month) {
        days -= days_in_month(year, month);
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}
