//! One pass over a pattern of Go that writes the same pattern for the `regex` crate.

use std::fmt::Write;

/// No real pattern comes near; hostile ones would cost memory before the limit on the compiled size sees them.
const MOST_BYTES: usize = 256 << 10;
const MOST_UNICODE_CLASSES: usize = 200;
/// The most that Go repeats anything, nested repetitions multiplied.
const MOST_REPETITIONS: u64 = 1000;

/// A class without characters.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// The pattern in Rust's syntax, or why Go would not take it.
pub(super) fn translate(go: &str) -> Result<String, String> {
    if go.len() > MOST_BYTES {
        return Err(format!("it is longer than {} KiB; write a shorter one", MOST_BYTES >> 10));
    }
    let mut translator = Translator {
        rest: go,
        out: String::with_capacity(go.len() + 16),
        frame: Frame::default(),
        outer: Vec::new(),
        unicode_classes: 0,
        last_posix_end: go.rfind(":]").map(|at| go.len() - at),
    };
    translator.pattern()?;
    Ok(translator.out)
}

struct Translator<'g> {
    rest: &'g str,
    out: String,
    frame: Frame,
    /// The groups around the current one.
    outer: Vec<Frame>,
    unicode_classes: usize,
    /// How much of the pattern is left at the last `:]`, if there is one, so that looking for it in vain costs nothing.
    last_posix_end: Option<usize>,
}

/// What is known of the group that is being read.
#[derive(Clone, Copy, Default)]
struct Frame {
    flags: Flags,
    /// Whether the output ignores letter case here; it is told only when something follows that has one.
    ignores_case: bool,
    /// Whether there is something that an operator can repeat.
    repeatable: bool,
    /// Whether the last thing was such an operator.
    repeated: bool,
    /// How often the innermost part of the last thing is repeated, and the most of all things before it.
    last_weight: u64,
    weight: u64,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_matches_newline: bool,
    ungreedy: bool,
}

impl<'g> Translator<'g> {
    fn pattern(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.chars().next() {
            let before = self.rest;
            self.rest = &self.rest[c.len_utf8()..];
            let mut repeated = false;
            match c {
                '(' => self.open_group()?,
                ')' => self.close_group()?,
                '|' => {
                    self.begin(1);
                    self.frame.repeatable = false;
                    self.out.push('|');
                }
                '^' if self.frame.flags.multi_line => self.atom("(?m:^)"),
                '^' => self.atom(r"\A"),
                '$' if self.frame.flags.multi_line => self.atom("(?m:$)"),
                '$' => self.atom(r"\z"),
                '.' if self.frame.flags.dot_matches_newline => self.atom("(?s:.)"),
                '.' => self.atom("."),
                '[' => self.class(before)?,
                '*' | '+' | '?' => {
                    self.repeat(before, if c == '?' { "{0,1}" } else { &before[..1] }, 1)?;
                    repeated = true;
                }
                '{' => match self.counts() {
                    Some((least, most)) => {
                        self.repeat_counted(before, least, most)?;
                        repeated = true;
                    }
                    None => self.literal('{'),
                },
                '\\' => self.escape(before)?,
                _ => self.literal(c),
            }
            self.frame.repeated = repeated;
        }
        match self.outer.is_empty() {
            true => Ok(()),
            false => Err("a group is not closed; add `)`".to_owned()),
        }
    }

    /// Starts something that can be repeated.
    fn begin(&mut self, weight: u64) {
        self.frame.repeatable = true;
        self.frame.weight = self.frame.weight.max(self.frame.last_weight);
        self.frame.last_weight = weight;
    }

    fn atom(&mut self, rust: &str) {
        self.begin(1);
        self.out.push_str(rust);
    }

    /// Tells the output about letter case if that has changed since it was last told.
    fn sync_case(&mut self) {
        let wanted = self.frame.flags.ignore_case;
        if wanted != self.frame.ignores_case {
            self.out.push_str(if wanted { "(?i)" } else { "(?-i)" });
            self.frame.ignores_case = wanted;
        }
    }

    fn literal(&mut self, c: char) {
        self.sync_case();
        self.begin(1);
        if regex_syntax::is_meta_character(c) {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    /// A literal by its number, which may be one that no text contains.
    fn code_point(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(c) => self.literal(c),
            None => self.atom(NOTHING),
        }
    }

    fn open_group(&mut self) -> Result<(), String> {
        let mut flags = self.frame.flags;
        if let Some(rest) = self.rest.strip_prefix('?') {
            if ["=", "!", "<=", "<!"].iter().any(|look| rest.starts_with(look)) {
                return Err("looking ahead or behind is not supported; say what may be there instead".to_owned());
            }
            if let Some(named) = rest.strip_prefix("P<").or_else(|| rest.strip_prefix('<')) {
                self.rest = after_group_name(named)?;
            } else {
                self.rest = rest;
                if !self.flags(&mut flags)? {
                    self.frame.flags = flags;
                    return Ok(());
                }
            }
        }
        self.begin(1);
        self.outer.push(self.frame);
        self.frame = Frame { flags, ignores_case: self.frame.ignores_case, ..Frame::default() };
        self.out.push_str("(?:");
        Ok(())
    }

    /// The flags after `(?`; whether they start a group, or else hold for the rest of the current one.
    fn flags(&mut self, flags: &mut Flags) -> Result<bool, String> {
        let (mut on, mut any) = (true, true);
        for (index, c) in self.rest.char_indices() {
            match c {
                'i' => flags.ignore_case = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_matches_newline = on,
                'U' => flags.ungreedy = on,
                '-' if on => {
                    on = false;
                    any = false;
                    continue;
                }
                ':' | ')' if any => {
                    self.rest = &self.rest[index + 1..];
                    return Ok(c == ':');
                }
                _ => break,
            }
            any = true;
        }
        Err("after `(?` only the flags `i`, `m`, `s` and `U`, `:`, or a name as in `(?P<name>` may stand".to_owned())
    }

    fn close_group(&mut self) -> Result<(), String> {
        let weight = self.frame.weight.max(self.frame.last_weight);
        self.frame = self.outer.pop().ok_or("a `)` closes no group; remove it or write `\\)`")?;
        self.frame.last_weight = weight;
        self.out.push(')');
        Ok(())
    }

    /// Repeats the last thing, whose innermost part is then there `times` as often.
    fn repeat(&mut self, before: &str, rust: &str, times: u64) -> Result<(), String> {
        let is_inverted = self.rest.starts_with('?');
        self.rest = self.rest.strip_prefix('?').unwrap_or(self.rest);
        let operator = &before[..before.len() - self.rest.len()];
        if self.frame.repeated {
            return Err(format!("`{operator}` repeats a repetition; put that into a group"));
        }
        if !self.frame.repeatable {
            return Err(format!("there is nothing for `{operator}` to repeat"));
        }
        self.frame.last_weight = self.frame.last_weight.saturating_mul(times);
        self.out.push_str(rust);
        if is_inverted != self.frame.flags.ungreedy {
            self.out.push('?');
        }
        Ok(())
    }

    fn repeat_counted(&mut self, before: &str, least: u64, most: Option<u64>) -> Result<(), String> {
        let times = most.unwrap_or(least);
        let rust = &before[..before.len() - self.rest.len()];
        let in_order = times >= least;
        if most == Some(0) {
            self.frame.last_weight = 0;
        }
        self.repeat(before, rust, times.max(1))?;
        if !in_order || times > MOST_REPETITIONS || (times >= 2 && self.frame.last_weight > MOST_REPETITIONS) {
            return Err(format!(
                "`{rust}` is no valid number of repetitions; nested ones multiplied, use up to {MOST_REPETITIONS}"
            ));
        }
        Ok(())
    }

    /// The numbers of `{1}`, `{1,}` or `{1,2}` after the brace; `None` if it is an ordinary character.
    fn counts(&mut self) -> Option<(u64, Option<u64>)> {
        let (least, rest) = number(self.rest)?;
        let (most, rest) = match rest.strip_prefix(',') {
            None => (Some(least), rest),
            Some(rest) if rest.starts_with('}') => (None, rest),
            Some(rest) => number(rest).map(|(most, rest)| (Some(most), rest))?,
        };
        self.rest = rest.strip_prefix('}')?;
        Some((least, most))
    }

    /// What a backslash outside of brackets means.
    fn escape(&mut self, before: &'g str) -> Result<(), String> {
        let rest = self.rest;
        let atom = match rest.bytes().next() {
            Some(b'A') => r"\A",
            Some(b'z') => r"\z",
            Some(b'b') => r"(?-u:\b)",
            Some(b'B') => r"(?-u:\B)",
            Some(b'Q') => {
                let (literals, rest) = rest[1..].split_once(r"\E").unwrap_or((&rest[1..], ""));
                literals.chars().for_each(|c| self.literal(c));
                self.rest = rest;
                return Ok(());
            }
            _ => {
                let mut class = String::new();
                if self.class_escape(before, &mut class)? {
                    self.sync_case();
                    self.atom(&class);
                } else {
                    let code = self.escaped_code_point(before)?;
                    self.code_point(code);
                }
                return Ok(());
            }
        };
        self.rest = &rest[1..];
        self.atom(atom);
        Ok(())
    }

    /// Writes a class such as `\d` or `\pL` in brackets of its own, if there is one after the backslash.
    fn class_escape(&mut self, before: &str, out: &mut String) -> Result<bool, String> {
        let class = match self.rest.bytes().next() {
            Some(b'd') => "[0-9]",
            Some(b'D') => "[^0-9]",
            Some(b's') => r"[\t\n\x0C\r ]",
            Some(b'S') => r"[^\t\n\x0C\r ]",
            Some(b'w') => "[0-9A-Za-z_]",
            Some(b'W') => "[^0-9A-Za-z_]",
            Some(b'p' | b'P') => return self.unicode_class(before, out).map(|()| true),
            _ => return Ok(false),
        };
        self.rest = &self.rest[1..];
        out.push_str(class);
        Ok(true)
    }

    fn unicode_class(&mut self, before: &str, out: &mut String) -> Result<(), String> {
        let (letter, rest) = self.rest.split_at(1);
        let (name, rest) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}').unwrap_or(("", "")),
            None => rest.split_at(rest.chars().next().map_or(0, char::len_utf8)),
        };
        self.rest = rest;
        let positive = name.strip_prefix('^').unwrap_or(name);
        let negated = (letter == "P") != (name.len() != positive.len());
        let sign = if negated { 'P' } else { 'p' };
        self.unicode_classes += 1;
        if self.unicode_classes > MOST_UNICODE_CLASSES {
            return Err(format!("it has more than {MOST_UNICODE_CLASSES} Unicode classes; use fewer"));
        }
        let plain = !positive.is_empty() && positive.bytes().all(|b| b.is_ascii_alphanumeric() || b"_- ".contains(&b));
        // Go knows general categories and scripts, and none of the other properties that Rust knows.
        let known = ["gc", "sc"].iter().map(|property| format!(r"\{sign}{{{property}={positive}}}"));
        match known.filter(|_| plain).find(|class| regex_syntax::parse(class).is_ok()) {
            Some(class) => {
                out.push_str(&class);
                Ok(())
            }
            None => {
                let written = &before[..before.len() - rest.len()];
                Err(format!("`{written}` is no class of Unicode that can be used here; name a category or a script"))
            }
        }
    }

    /// The character that an escape stands for; the backslash has been read.
    fn escaped_code_point(&mut self, before: &str) -> Result<u32, String> {
        let first = self.rest.chars().next();
        self.rest = &self.rest[first.map_or(0, char::len_utf8)..];
        let code = match first {
            Some('a') => Some(0x07),
            Some('f') => Some(0x0c),
            Some('n') => Some(0x0a),
            Some('r') => Some(0x0d),
            Some('t') => Some(0x09),
            Some('v') => Some(0x0b),
            Some('x') => self.hexadecimal(),
            Some(digit @ '0'..='7') => match self.octal(digit) {
                Some(code) => Some(code),
                None => return Err(format!("`\\{digit}` refers back to a group, which is not supported")),
            },
            Some(c) if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        code.ok_or_else(|| {
            let written = &before[..before.len() - self.rest.len()];
            format!("`{written}` is no escape that is known; to mean the characters themselves, write `\\\\` first")
        })
    }

    /// Up to three octal digits; one alone counts only if it is zero.
    fn octal(&mut self, first: char) -> Option<u32> {
        let mut code = first.to_digit(8)?;
        let mut length = 1;
        while let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(8)).filter(|_| length < 3) {
            code = code * 8 + digit;
            length += 1;
            self.rest = &self.rest[1..];
        }
        (length > 1 || code == 0).then_some(code)
    }

    /// Two hexadecimal digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<u32> {
        let (digits, rest) = match self.rest.strip_prefix('{') {
            Some(rest) => rest.split_once('}')?,
            None => self.rest.split_at_checked(2)?,
        };
        if digits.is_empty() {
            return None;
        }
        let mut code = 0;
        for digit in digits.chars() {
            code = code * 16 + digit.to_digit(16)?;
            if code > u32::from(char::MAX) {
                return None;
            }
        }
        self.rest = rest;
        Some(code)
    }

    /// A class in brackets; the opening one has been read.
    fn class(&mut self, before: &'g str) -> Result<(), String> {
        let negated = self.skip("^");
        let mut members = String::new();
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            self.class_member(before, &mut members)?;
        }
        self.rest = &self.rest[1..];
        self.sync_case();
        match (members.is_empty(), negated) {
            (true, false) => self.atom(NOTHING),
            (true, true) => self.atom("(?s:.)"),
            (false, _) => self.atom(&format!("[{}{members}]", if negated { "^" } else { "" })),
        }
        Ok(())
    }

    fn class_member(&mut self, before: &'g str, members: &mut String) -> Result<(), String> {
        if self.rest.starts_with("[:") && self.posix_class(members)? {
            return Ok(());
        }
        let start = self.rest;
        if self.skip("\\") {
            if self.class_escape(start, members)? {
                return Ok(());
            }
            self.rest = start;
        }
        let low = self.class_character(before)?;
        let is_range = self.rest.len() >= 2 && self.rest.starts_with('-') && !self.rest.starts_with("-]");
        let high = if is_range {
            self.rest = &self.rest[1..];
            self.class_character(before)?
        } else {
            low
        };
        if high < low {
            let written = &start[..start.len() - self.rest.len()];
            return Err(format!("the range `{written}` of a class ends before it starts; swap its ends"));
        }
        // No text contains surrogates, and Rust has no way to write them.
        let low = if (0xd800..=0xdfff).contains(&low) { 0xe000 } else { low };
        let high = if (0xd800..=0xdfff).contains(&high) { 0xd7ff } else { high };
        if low <= high {
            write!(members, r"\x{{{low:X}}}-\x{{{high:X}}}").map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn class_character(&mut self, before: &'g str) -> Result<u32, String> {
        let start = self.rest;
        if self.skip("\\") {
            return self.escaped_code_point(start);
        }
        let c = start.chars().next().ok_or_else(|| {
            let written: String = before.chars().take(20).collect();
            format!("the class that starts with `{written}` is not closed; add `]`")
        })?;
        self.rest = &start[c.len_utf8()..];
        Ok(c.into())
    }

    /// A class such as `[:alpha:]`, if it is closed; otherwise its bracket is an ordinary character.
    fn posix_class(&mut self, members: &mut String) -> Result<bool, String> {
        if self.last_posix_end.is_none_or(|left| self.rest.len() < left + 2) {
            return Ok(false);
        }
        let Some((name, rest)) = self.rest[2..].split_once(":]") else {
            return Ok(false);
        };
        let known = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        if !known.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(format!("`[:{name}:]` is no class that is known"));
        }
        members.push_str(&self.rest[..self.rest.len() - rest.len()]);
        self.rest = rest;
        Ok(true)
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// What follows the name of a group and its `>`.
fn after_group_name(named: &str) -> Result<&str, String> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match named.split_once('>') {
        Some((name, rest)) if is_name(name) => Ok(rest),
        _ => Err("the name of a group must be letters, digits and `_`, followed by `>`".to_owned()),
    }
}

/// A number without leading zeros, which may be capped.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let padded = digits.len() > 1 && digits.starts_with('0');
    let value =
        digits.bytes().fold(0u64, |value, digit| value.saturating_mul(10).saturating_add((digit - b'0').into()));
    (end > 0 && !padded).then_some((value, rest))
}
