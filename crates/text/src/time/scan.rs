//! Reading dates and times from their start.

/// The rest of a text that is read from its start.
pub(crate) struct Scanner<'t>(pub(crate) &'t [u8]);

impl Scanner<'_> {
    pub(crate) fn byte(&mut self, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted(*first).then(|| {
            self.0 = rest;
            *first
        })
    }

    fn digit(&mut self) -> Option<u32> {
        self.byte(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
    }

    pub(crate) fn two_digits(&mut self) -> Option<u32> {
        Some(self.digit()? * 10 + self.digit()?)
    }

    pub(crate) fn one_or_two_digits(&mut self) -> Option<u32> {
        let first = self.digit()?;
        Some(self.digit().map_or(first, |second| first * 10 + second))
    }

    /// The nanoseconds after a point or a comma, of which nine digits count; without digits, nothing is read.
    pub(crate) fn fraction(&mut self) -> u32 {
        let [b'.' | b',', b'0'..=b'9', ..] = self.0 else {
            return 0;
        };
        self.0 = &self.0[1..];
        let (mut nanoseconds, mut place) = (0, 100_000_000);
        while let Some(digit) = self.digit() {
            nanoseconds += digit * place;
            place /= 10;
        }
        nanoseconds
    }

    /// A date that exists.
    pub(crate) fn date(&mut self) -> Option<(u32, u32, u32)> {
        let year = self.two_digits()? * 100 + self.two_digits()?;
        self.byte(|byte| byte == b'-')?;
        let month = self.two_digits()?;
        self.byte(|byte| byte == b'-')?;
        let day = self.two_digits()?;
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let length = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=length).contains(&day).then_some((year, month, day))
    }

    pub(crate) fn clock(&mut self, hour: fn(&mut Self) -> Option<u32>) -> Option<(u32, u32, u32)> {
        let hour = hour(self)?;
        self.byte(|byte| byte == b':')?;
        let minute = self.two_digits()?;
        self.byte(|byte| byte == b':')?;
        let second = self.two_digits()?;
        (hour < 24 && minute < 60 && second < 60).then_some((hour, minute, second))
    }

    /// The offset from UTC in seconds; up to 24 hours and 60 minutes, because Go lets them pass.
    pub(crate) fn zone(&mut self) -> Option<i32> {
        if self.byte(|byte| byte == b'Z').is_some() {
            return Some(0);
        }
        let sign = self.byte(|byte| matches!(byte, b'+' | b'-'))?;
        let hours = self.two_digits()?;
        self.byte(|byte| byte == b':')?;
        let minutes = self.two_digits()?;
        let offset = ((hours * 60 + minutes) * 60) as i32;
        (hours <= 24 && minutes <= 60).then_some(if sign == b'-' { -offset } else { offset })
    }
}
