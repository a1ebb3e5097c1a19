//! Days and dates of the Gregorian calendar, which goes on into the past.

/// The first of March of the year 0, counted from the first of January 1970.
const FIRST_OF_MARCH_0: i64 = -719_468;

/// The number of a day since the first of January 1970. Years are counted from March, so that the leap day is the last
/// of its year.
pub(super) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    FIRST_OF_MARCH_0 + 365 * year + leap_days + (153 * month + 2) / 5 + day - 1
}

/// The year, month and day of a number of `days_of`.
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days - FIRST_OF_MARCH_0;
    let (era, days) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (days - days / 1_460 + days / 36_524 - days / 146_096) / 365;
    let days = days - (365 * year + year / 4 - year / 100);
    let month = (5 * days + 2) / 153;
    let day = days - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_consecutive_numbers() {
        assert_eq!(days_of(1970, 1, 1), 0);
        let mut expected = days_of(-1, 1, 1);
        for year in -1..2401_i64 {
            for month in 1..=12 {
                let next = if month == 12 { days_of(year + 1, 1, 1) } else { days_of(year, month + 1, 1) };
                let first = days_of(year, month, 1);
                assert_eq!(first, expected, "{year}-{month}");
                for day in first..next {
                    assert_eq!(date_of(day), (year, month, day - first + 1));
                }
                expected = next;
            }
        }
    }
}
