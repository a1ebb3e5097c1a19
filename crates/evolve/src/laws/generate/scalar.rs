//! Strings and numbers within their limits, and right at them.

use wheelwright_document::{Number, Value};
use wheelwright_schema::model::Type;
use wheelwright_text::Format;

use super::{
    super::Random,
    document::Run,
    free,
    rule::{Rule, Wish},
};

/// How often a scalar is made anew before one that is not as wished is good enough.
const TRIES: usize = 8;
/// The longest text that is made for the sake of a bound.
const LONGEST: usize = 4_096;

impl<'a> Run<'a, '_> {
    /// A scalar of a type.
    pub(super) fn scalar(&mut self, r#type: &Type, wish: &Wish<'a>) -> Value<'a> {
        let mut value = Value::Null;
        for _ in 0..TRIES {
            value = match r#type {
                Type::Boolean => Value::Bool(self.random.one_in(2)),
                Type::Integer => self.integer(wish),
                Type::Number => self.number(wish),
                _ => {
                    let text = text(wish, self.random);
                    Value::string(self.arena.text(&text))
                }
            };
            if wish.accepts(value) {
                break;
            }
        }
        value
    }

    fn integer(&mut self, wish: &Wish<'_>) -> Value<'a> {
        let (mut low, mut high) = (-1_000, 1_000_000);
        if wish.wanted.iter().any(|rule| rule.int32) {
            (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
        }
        // Conversions of doubles to integers stop at the ends of the range.
        if let Some((least, exclusive)) = lowest(wish) {
            low = (least.ceil() as i64).saturating_add(i64::from(exclusive && least.fract() == 0.0));
            high = high.max(low.saturating_add(1_000));
        }
        if let Some((most, exclusive)) = highest(wish) {
            high = (most.floor() as i64).saturating_sub(i64::from(exclusive && most.fract() == 0.0));
            low = if lowest(wish).is_some() { low } else { low.min(high) };
        }
        let within = |number: i64| number.clamp(low, high.max(low));
        let mut number = match self.random.below(8) {
            0 => within(low),
            1 => within(high),
            2 => within(0),
            3 => within(1),
            4 => within(low.saturating_add(1)),
            5 => self.random.between(low, high),
            6 => within(1_000),
            _ => within(self.random.between(0, 12)),
        };
        if let Some(step) = step(wish).map(|step| step as i64).filter(|step| *step > 0) {
            number = number.saturating_sub(number.rem_euclid(step));
            number = if number < low { number.saturating_add(step) } else { number };
        }
        let text = match self.random.below(24) {
            0 => format!("{number}.0"),
            1..=4 if number != 0 && number % 1_000 == 0 => format!("{}e3", number / 1_000),
            _ => number.to_string(),
        };
        self.spelled(&text)
    }

    fn number(&mut self, wish: &Wish<'_>) -> Value<'a> {
        if self.random.one_in(3) && lowest(wish).is_none() && highest(wish).is_none() && step(wish).is_none() {
            let texts = ["0", "1", "1.0", "1e3", "0.5", "-1.5", "1.50", "1E-2", "100"];
            let text = texts[self.random.below(texts.len())];
            return self.spelled(text);
        }
        let low = lowest(wish).map_or(-10.0, |(least, _)| least);
        let high = highest(wish).map_or(low.max(0.0) + 100.0, |(most, _)| most).max(low);
        let mut number = match self.random.below(6) {
            0 => low,
            1 => high,
            2 => 0f64.clamp(low, high),
            _ => low + (high - low) * (self.random.below(1_001) as f64 / 1_000.0),
        };
        if let Some(step) = step(wish) {
            number = (number / step).round() * step;
        }
        let text =
            if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number}") } else { format!("{number:?}") };
        self.spelled(&text)
    }

    fn spelled(&self, text: &str) -> Value<'a> {
        Number::new(self.arena.text(text)).map_or(Value::Null, Value::Number)
    }
}

fn lowest(wish: &Wish<'_>) -> Option<(f64, bool)> {
    let bounds = wish.wanted.iter().filter_map(|rule| Some((rule.minimum?, rule.exclusive_minimum)));
    bounds.max_by(|a, b| a.0.total_cmp(&b.0))
}

fn highest(wish: &Wish<'_>) -> Option<(f64, bool)> {
    let bounds = wish.wanted.iter().filter_map(|rule| Some((rule.maximum?, rule.exclusive_maximum)));
    bounds.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn step(wish: &Wish<'_>) -> Option<f64> {
    wish.wanted.iter().find_map(|rule| rule.multiple_of).filter(|step| *step > 0.0)
}

/// A text by pattern, format or lengths; patterns and formats that come together take turns to lead.
fn text(wish: &Wish<'_>, random: &mut Random) -> String {
    let length = wish.range(|rule| rule.length.clone().unwrap_or(0..=usize::MAX));
    let leads = |rule: &&&Rule| rule.pattern.is_some() || rule.format.is_some();
    let leaders: Vec<&&Rule> = wish.wanted.iter().filter(leads).collect();
    let leader = random.pick(&leaders);
    if let Some(format) = leader.and_then(|rule| rule.format)
        && (leader.is_some_and(|rule| rule.pattern.is_none()) || random.one_in(2))
    {
        return of_format(format, random);
    }
    if let Some(pattern) = leader.and_then(|rule| rule.pattern.as_ref()) {
        let sample = pattern.sample(random, &length, |text| wish.accepts(Value::string(text)));
        return sample.unwrap_or_default();
    }
    let least = (*length.start()).min(LONGEST);
    let count = match random.below(16) {
        0 if *length.end() <= 1_024 => *length.end(),
        1 | 2 => least,
        _ => {
            let text = free::text(random);
            if length.contains(&text.chars().count()) {
                return text.to_owned();
            }
            least + random.below(length.end().saturating_sub(least).min(8) + 1)
        }
    };
    let letters = if random.one_in(8) { "aü" } else { "abcxyz" };
    let letters: Vec<char> = letters.chars().collect();
    (0..count).map(|_| letters[random.below(letters.len())]).collect()
}

/// A text of a format.
fn of_format(format: Format, random: &mut Random) -> String {
    let [a, b, c] = [random.below(10), random.below(10), random.below(10)];
    let fixed = |texts: &[&str], random: &mut Random| texts[random.below(texts.len())].to_owned();
    match format {
        Format::BsonObjectId => format!("507f1f77bcf86cd79943{a}{b}{c}0"),
        Format::Uri => {
            let host = fixed(&["https://example.com", "http://a/b?c=d#e", "urn:a:b", "/path"], random);
            if random.one_in(2) { host } else { format!("https://example.com/{a}{b}") }
        }
        Format::Email => format!("a{a}@example.com"),
        Format::Hostname => format!("host{a}.example.com"),
        Format::Ipv4 => format!("10.{a}.{b}.{c}"),
        Format::Ipv6 => format!("2001:db8::{a}{b}{c}"),
        Format::Cidr => fixed(&["10.0.0.0/8", "192.168.1.0/24", "2001:db8::/32", "0.0.0.0/0"], random),
        Format::Mac => format!("00:1b:44:11:3a:{a}{b}"),
        Format::Uuid if random.one_in(2) => format!("123e4567e89b42d3a45642661417400{a}"),
        Format::Uuid3 => format!("123e4567-e89b-32d3-a456-4266141740{a}{b}"),
        Format::Uuid | Format::Uuid4 => format!("123e4567-e89b-42d3-a456-4266141740{a}{b}"),
        Format::Uuid5 => format!("123e4567-e89b-52d3-a456-4266141740{a}{b}"),
        Format::Isbn | Format::Isbn13 => "9780306406157".to_owned(),
        Format::Isbn10 => "0306406152".to_owned(),
        Format::CreditCard => "4111111111111111".to_owned(),
        Format::Ssn => format!("12{a}-4{b}-678{c}"),
        Format::HexColor => format!("#{a}{b}f"),
        Format::RgbColor => format!("rgb({a}, {b}, {c})"),
        Format::Byte => fixed(&["YQ==", "YWI=", "YWJj"], random),
        Format::Password => free::text(random).to_owned(),
        Format::Date => format!("20{a}{b}-02-1{c}"),
        Format::Duration => fixed(&["0s", "1h30m", "90s", "1.5h", "100ms"], random),
        Format::DateTime => {
            let zone = fixed(&["Z", ".5Z", "+02:00", ".123456789-07:00"], random);
            format!("20{a}{b}-12-31T23:5{c}:00{zone}")
        }
        Format::Quantity => fixed(&["0", "1", "1.5Gi", "500m", "1e3", "10k"], random),
        Format::ShortName => format!("name-{a}"),
        Format::LongName => format!("name-{a}.example"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_format_are_accepted_by_it() {
        let mut random = Random::new(2);
        for name in [
            "bsonobjectid",
            "uri",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "cidr",
            "mac",
            "uuid",
            "uuid3",
            "uuid4",
            "uuid5",
            "isbn",
            "isbn10",
            "isbn13",
            "creditcard",
            "ssn",
            "hexcolor",
            "rgbcolor",
            "byte",
            "password",
            "date",
            "duration",
            "date-time",
            "quantity",
            "k8s-short-name",
            "k8s-long-name",
        ] {
            let format = Format::for_string(name).unwrap();
            for _ in 0..40 {
                let text = of_format(format, &mut random);
                assert!(format.accepts(&text), "{name}: {text:?}");
            }
        }
    }
}
