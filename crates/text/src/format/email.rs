//! Mail addresses as in RFC 5322, with the liberties that Go takes.

use std::net::IpAddr;

/// A single address: `a@b`, `Name <a@b>`, or a group with one member; comments may follow.
pub(super) fn is_email(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    parser.address(true).is_some_and(|count| count == 1) && parser.skip_comments().is_some() && parser.rest.is_empty()
}

/// What is still to be read of an address.
struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// An address or a group; the answer is the number of addresses in it.
    fn address(&mut self, allow_group: bool) -> Option<usize> {
        self.skip_space();
        let start = self.rest;
        if self.plain_address().is_some() {
            self.skip_space();
            if self.rest.starts_with('(') {
                let comment = self.comment()?;
                let mut words = comment.split([' ', '\t']);
                return words.all(|word| !has_unknown_charset(word)).then_some(1);
            }
            return Some(1);
        }
        self.rest = start;
        if !self.rest.starts_with('<') {
            self.display_name()?;
        }
        self.skip_space();
        if allow_group && self.take(':') {
            return self.group();
        }
        let closed = self.take('<') && self.plain_address().is_some() && self.take('>');
        closed.then_some(1)
    }

    /// The members of a group and its closing `;`.
    fn group(&mut self) -> Option<usize> {
        self.skip_space();
        let mut count = 0;
        if !self.take(';') {
            loop {
                count += self.address(false)?;
                self.skip_comments()?;
                if self.take(';') {
                    break;
                }
                if !self.take(',') {
                    return None;
                }
            }
        }
        self.skip_comments()?;
        Some(count)
    }

    /// A local part, `@`, and a domain.
    fn plain_address(&mut self) -> Option<()> {
        self.skip_space();
        if self.rest.starts_with('"') {
            self.quoted().filter(|quoted| !quoted.is_empty())?;
        } else {
            self.atom().filter(|atom| has_good_dots(atom))?;
        }
        if !self.take('@') {
            return None;
        }
        self.skip_space();
        if self.take('[') {
            return self.domain_literal();
        }
        self.atom().filter(|atom| has_good_dots(atom)).map(drop)
    }

    /// One word or more; what follows the first one may be anything.
    fn display_name(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            self.skip_space();
            let word = match self.rest.starts_with('"') {
                true => self.quoted(),
                false => self.atom().filter(|atom| !has_unknown_charset(atom)),
            };
            // The reference takes a name of no words for granted only at the end of the text.
            if word.is_none() {
                return (words > 0 || self.rest.is_empty()).then_some(());
            }
            words += 1;
        }
    }

    /// A string in quotes, of which the answer is what stands between them.
    fn quoted(&mut self) -> Option<&'t str> {
        let body = self.rest.strip_prefix('"')?;
        let mut escaped = false;
        for (index, c) in body.char_indices() {
            match c {
                '"' if !escaped => {
                    self.rest = &body[index + 1..];
                    return Some(&body[..index]);
                }
                '\\' if !escaped => escaped = true,
                ' ' | '\t' => escaped = false,
                _ if is_visible(c) => escaped = false,
                _ => return None,
            }
        }
        None
    }

    fn atom(&mut self) -> Option<&'t str> {
        let special = |c: char| matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | ':' | ';' | '@' | '\\' | ',' | '"');
        let end = self.rest.find(|c| special(c) || !is_visible(c)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// An IP address up to a closing bracket; an IPv6 address says so.
    fn domain_literal(&mut self) -> Option<()> {
        let (literal, rest) = self.rest.split_once(']')?;
        self.rest = rest;
        let good = match literal.strip_prefix("IPv6:") {
            Some(address) => address.parse::<IpAddr>().is_ok(),
            None => match literal.parse::<IpAddr>().ok()? {
                IpAddr::V4(_) => true,
                IpAddr::V6(address) => address.to_ipv4_mapped().is_some(),
            },
        };
        good.then_some(())
    }

    /// Spaces and any number of comments.
    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.rest.starts_with('(') {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// The text of a comment; comments nest, and a backslash escapes what follows it.
    fn comment(&mut self) -> Option<&'t str> {
        let body = self.rest.strip_prefix('(')?;
        let mut depth = 1;
        let mut escaped = false;
        for (index, byte) in body.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = &body[index + 1..];
                return Some(&body[..index]);
            }
        }
        None
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn has_good_dots(atom: &str) -> bool {
    atom.split('.').all(|part| !part.is_empty())
}

fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}

/// Whether this is an encoded word as in RFC 2047, such as `=?koi8-r?q?…?=`, in a character set that Go cannot read.
fn has_unknown_charset(word: &str) -> bool {
    let Some(inner) = word.strip_prefix("=?").and_then(|rest| rest.strip_suffix("?=")) else {
        return false;
    };
    let parts: Vec<&str> = inner.splitn(4, '?').collect();
    let [charset, encoding, _] = parts[..] else {
        return false;
    };
    let known = ["utf-8", "iso-8859-1", "us-ascii"].iter().any(|known| known.eq_ignore_ascii_case(charset));
    !known && !charset.is_empty() && matches!(encoding, "b" | "B" | "q" | "Q")
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn addresses() {
        let plain = ["blah@gmail.com", "email+tag@gmail.com", "$A12345@example.com", "root@localhost", " a@b ", "a@ b"];
        let quoted = [r#"" "@example.com"#, r#""Abc\@def"@example.com"#, r#""Joe\\Blow"@example.com"#, "\"a\tb\"@c"];
        let others = ["!#$%&'*+-/=?^_`{}|~@example.com", "postmaster@☁→❄.ws", "é@é", "a@[1.2.3.4]", "a@[IPv6:::1]"];
        check("email", &plain, &["", " ", "a", "@", "a@", "@b", "somebody@somewhere@com", "a@b@", "a b@c", "a@b c"]);
        check("email", &quoted, &[r#"""@b"#, r#""a@b"#, r#""a"b@c"#, "\"a\n\"@b", "\"\\\u{1}\"@b", r#""a\"@b"#]);
        check("email", &others, &[".a@b", "a.@b", "a..b@c", "a@.b", "a@b.", "a@[", "a@[b]", "a@[::1]", "a@[1.2.3]"]);
        check(
            "email",
            &["a@[::ffff:1.2.3.4]"],
            &["a,b@c", "a;b@c", "a\\b@c", "a@b\n", "a@b,c@d", "a@b;", "a@[1.2.3.4"],
        );
    }

    #[test]
    fn names_comments_and_groups() {
        let named = ["Barry Gibbs <bg@example.com>", "<a@b>", "\"B. G.\" <a@b>", "B.G. <a@b>", "a.. <a@b>", "é < a@b>"];
        let comments = ["a@b (c)", "a@b (c(d)e)", "a@b (\\))", "a (c) b <a@b>", "<a@b> (c) (d)", "a@b () ()"];
        let groups = ["g: a@b;", "g:a@b; (c)", "my group: B <a@b>;", "\"g\": a@b ;"];
        check("email", &named, &["<a@b", "a <", "a <>", "a@b>", "<<a@b>>", "a@b <c@d>", "\"a <a@b>", "(c) a@b"]);
        check("email", &comments, &["a@b (c", "a@b c)", "a@b (c))", "a@b (c\\)", "a (c <a@b>", "<a@b> (", "a@b ()x"]);
        check("email", &groups, &["g:;", "g: a@b, c@d;", "g: a@b", "g: a@b,;", ":a@b;", "g: h: a@b;;", "g: ;x", "g:"]);
    }

    #[test]
    fn encoded_words() {
        let good = ["=?utf-8?q?J=C3=B6rg?= <a@b>", "=?x?y?z <a@b>", "a =?koi8-r?q?b?= <a@b>"];
        check("email", &good, &["=?koi8-r?q?b?= <a@b>", "a@b (=?koi8-r?B?Yg==?=)", "a =?koi8-r?q?b?= c"]);
    }
}
