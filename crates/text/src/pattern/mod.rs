//! Patterns with the syntax and the meaning that Go gives them, run by the `regex` crate.
//!
//! A pattern is translated in one pass. What both languages write alike but mean differently is spelled out, what only
//! Rust knows is escaped or refused, and groups capture nothing, since nobody asks what they matched.

mod size;
mod translate;

use std::{error::Error, fmt};

use regex::{Regex, RegexBuilder};

/// A compiled pattern; it matches anywhere in a text unless it is anchored.
#[derive(Debug)]
pub struct Pattern {
    go: Box<str>,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern of Go's `regexp`.
    pub fn from_go(go: &str) -> Result<Self, PatternError> {
        Translated::from_go(go)?.compile(go)
    }

    /// Whether the pattern matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The first place where the pattern matches.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.regex.find(text).map(|found| found.as_str())
    }

    /// All places where the pattern matches, none of which overlap.
    pub fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.find_iter(text).map(|found| found.as_str())
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.go
    }
}

/// A pattern in Rust's syntax, with how large its program gets.
#[derive(Debug)]
pub struct Translated {
    rust: String,
    size: usize,
}

impl Translated {
    /// Enough for a name of 253 letters of any script.
    const LARGEST: usize = 1_000_000;

    /// Translates a pattern of Go's `regexp`.
    pub fn from_go(go: &str) -> Result<Self, PatternError> {
        let invalid = |message| PatternError { pattern: go.into(), message, too_large: false };
        let rust = translate::translate(go).map_err(invalid)?;
        let nested = || invalid("it nests too deeply; use fewer groups within groups".to_owned());
        let size = size::of(&rust).ok_or_else(nested)?;
        if size > Self::LARGEST {
            return Err(PatternError::too_large(go, "it needs too much memory; repeat less, or smaller things"));
        }
        Ok(Self { rust, size })
    }

    /// The pattern in Rust's syntax, for those who take it apart.
    pub fn as_rust(&self) -> &str {
        &self.rust
    }

    /// About how many states its program has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Compiles the pattern that was translated from `go`.
    pub fn compile(&self, go: &str) -> Result<Pattern, PatternError> {
        self.build(go, RegexBuilder::new(&self.rust).size_limit(64 << 20))
    }

    /// Compiles the pattern that was translated from `go` into a program of a few megabytes, or not at all: for
    /// patterns that come with a document.
    pub fn compile_small(&self, go: &str) -> Result<Pattern, PatternError> {
        /// Compiling takes time before any limit of memory is reached.
        const LARGEST: usize = Translated::LARGEST / 10;
        if self.size > LARGEST {
            return Err(PatternError::too_large(go, "it needs too much memory; repeat less, or smaller things"));
        }
        self.build(go, RegexBuilder::new(&self.rust).size_limit(4 << 20).dfa_size_limit(1 << 20))
    }

    fn build(&self, go: &str, builder: &RegexBuilder) -> Result<Pattern, PatternError> {
        let regex = builder.build();
        let regex = regex.map_err(|cause| PatternError::too_large(go, &cause.to_string()))?;
        Ok(Pattern { go: go.into(), regex })
    }
}

/// Why a pattern is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternError {
    pattern: Box<str>,
    message: String,
    too_large: bool,
}

impl PatternError {
    /// Refuses a pattern of Go for its size.
    pub fn too_large(go: &str, message: &str) -> Self {
        Self { pattern: go.into(), message: message.to_owned(), too_large: true }
    }

    /// What is wrong, without the pattern.
    pub fn reason(&self) -> &str {
        &self.message
    }

    /// Whether Go would accept the pattern, only we do not.
    pub fn is_too_large(&self) -> bool {
        self.too_large
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pattern `{}` cannot be used: {}", self.pattern, self.message)
    }
}

impl Error for PatternError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::from_go(pattern).unwrap().is_match(text)
    }

    fn check(pattern: &str, good: &[&str], bad: &[&str]) {
        let pattern = Pattern::from_go(pattern).unwrap();
        for text in good {
            assert!(pattern.is_match(text), "{} should match {text:?}", pattern.as_str());
        }
        for text in bad {
            assert!(!pattern.is_match(text), "{} should not match {text:?}", pattern.as_str());
        }
    }

    fn refusal(pattern: &str) -> String {
        Pattern::from_go(pattern).map(|_| pattern.to_owned()).unwrap_err().to_string()
    }

    #[test]
    fn patterns_are_unanchored() {
        check("b", &["abc"], &["a", ""]);
        check("^b$", &["b"], &["ab", "b\n", "a\nb"]);
        check("(?m)^b$", &["b", "a\nb\nc"], &["ab"]);
        check("", &["", "a"], &[]);
        check(r"\Ab\z", &["b"], &["b\n"]);
    }

    #[test]
    fn classes_of_perl_and_posix_are_ascii() {
        check(r"^\d+$", &["09"], &["٣"]);
        check(r"^\D$", &["a", "٣", "\n"], &["1"]);
        check(r"^\w$", &["a", "Z", "_", "0"], &["é", "ſ"]);
        check(r"^\W$", &["é", "-"], &["_"]);
        check(r"^\s$", &[" ", "\t", "\n", "\u{c}", "\r"], &["\u{b}", "\u{a0}", "\u{85}"]);
        check(r"^\S$", &["\u{b}", "\u{a0}"], &[" "]);
        check(r"^[[:space:]]$", &["\u{b}", " "], &["\u{a0}"]);
        check(r"^[[:alpha:]_]$", &["a", "_"], &["é", "1"]);
        check(r"^[[:^alpha:]]$", &["é", "1"], &["a"]);
        check(r"^[^\d\s]$", &["a", "é"], &["1", " "]);
        check(r"^[\D]$", &["a"], &["1"]);
        check(r"^[\W\d]$", &["é", "1"], &["a"]);
        check(r"\bé", &["aé"], &["é", " é"]);
        check(r"^\B", &["é", " a"], &["a"]);
        check(r"a\b", &["a", "a é", "aé"], &["ab", "a_"]);
    }

    #[test]
    fn unicode_classes() {
        check(r"^\pL$", &["a", "é"], &["1"]);
        check(r"^\PL$", &["1"], &["é"]);
        check(r"^\p{^L}$", &["1"], &["é"]);
        check(r"^\P{^L}$", &["é"], &["1"]);
        check(r"^\p{Greek}$", &["α"], &["a"]);
        check(r"^[\p{Lu}\P{L}]$", &["A", "1"], &["a"]);
        check(r"^\p{Any}$", &["\u{10ffff}"], &[]);
        for refused in
            [r"\p", r"\p{", r"\p{}", r"\p{Foo}", r"\p{Alphabetic}", r"\p{sc=Greek}", r"\p{White_Space}", r"\pX"]
        {
            assert!(refusal(refused).contains("class"), "{refused}");
        }
    }

    #[test]
    fn letter_case() {
        check("(?i)straße", &["STRAßE", "ſtraße"], &["STRASSE"]);
        check(r"(?i)^\w$", &["\u{212a}", "ſ"], &["é"]);
        check("(?i)^[k]$", &["\u{212a}", "K"], &[]);
        check("a(?i)b|c", &["aB", "C", "ab"], &["AB"]);
        check("(?:(?i)a)b", &["Ab"], &["aB"]);
        check("(?i:a)b", &["Ab"], &["aB"]);
        check("(?i)a(?-i)b", &["Ab"], &["aB"]);
        check("(?i)a(?-i:b)c", &["AbC"], &["ABc"]);
        check("(?i-i)a", &["a"], &["A"]);
    }

    #[test]
    fn dots_and_lines() {
        check("^.$", &["a", "é", "\r", "\u{85}", "\u{2028}"], &["\n"]);
        check("(?s)^.$", &["\n"], &[]);
        check("(?s:.)(?-s:.)", &["\na"], &["a\n"]);
        check("(?m:a$)", &["a\nb"], &["ab"]);
        check("a(?m)$", &["a\nb"], &[]);
        check("(a(?m)b$|c$)d*$", &["ab"], &["ab\n"]);
        check("^[^a]$", &["\n"], &[]);
    }

    #[test]
    fn repetitions() {
        check("^a{2}$", &["aa"], &["a", "aaa"]);
        check("^a{2,}$", &["aaa"], &["a"]);
        check("^a{1,2}?$", &["a", "aa"], &["aaa"]);
        check("^(a+)?$", &["", "aa"], &["b"]);
        check("^a{,2}$", &["a{,2}"], &["aa"]);
        check("^a{$", &["a{"], &[]);
        check("^a{01}$", &["a{01}"], &["a"]);
        check("^a{1,b}$", &["a{1,b}"], &[]);
        check("^{$", &["{"], &[]);
        check("^a}$", &["a}"], &[]);
        check("^(|a)+$", &["", "aa"], &["b"]);
        check("^*a", &["ba"], &["b"]);
        check("^a(?i)*$", &["aa"], &["A"]);
        check(r"^a+\Q\E?$", &["", "aa"], &["b"]);
        check("^a{0}$", &[""], &["a"]);
        for many in ["a{1000}", "(a{10}){100}", "(?:a{30}b{30}){33}", "((a{1000}){0}){1000}", "(a{500}|b)*"] {
            assert!(Pattern::from_go(many).is_ok(), "{many}");
        }
        for many in
            ["a{1001}", "a{1,1001}", "(a{10}){101}", "(a{500,}|b){3}", "a{2,1}", "a{99999999999}", "((a{10}){10}){11}"]
        {
            assert!(refusal(many).contains("repe"), "{many}");
        }
        for stray in ["*", "+a", "?", "a**", "a+*", "a*??", "a{2}{3}", "(*a)", "a|*", "(?i)*", "{2}", "(|{2})"] {
            assert!(refusal(stray).contains("repe"), "{stray}");
        }
    }

    #[test]
    fn brackets() {
        check("^[]a]$", &["]", "a"], &["b"]);
        check("^[^]a]$", &["b"], &["]"]);
        check("^[a-]$", &["a", "-"], &["b"]);
        check("^[-a]$", &["a", "-"], &["b"]);
        check("^[a&&b]$", &["a", "&", "b"], &["c"]);
        check("^[[a]b]$", &["[b]", "ab]"], &["a", "b"]);
        check("^[a~~b]$", &["~"], &["c"]);
        check(r"^[\]\\\-^]$", &["]", "\\", "-", "^"], &["a"]);
        check(r"^[\d-z]$", &["1", "-", "z"], &["a"]);
        check("^[+--]$", &["+", ",", "-"], &["."]);
        check(r"^[\x00-\x{10FFFF}]$", &["\u{0}", "é"], &[]);
        check("^[é-ü]$", &["ö"], &["a"]);
        check("^[[:alpha]$", &["[", ":", "a"], &["b"]);
        check("^[ #]$", &[" ", "#"], &["a"]);
        for refused in
            ["[", "[]", "[^]", "[a", "[b-a]", "[a--b]", r"[a-\d]", "[[:foo:]]", r"[\b]", r"[\h]", r"[a\", r"[[:alpha:"]
        {
            assert!(refusal(refused).contains("class") || refusal(refused).contains("escape"), "{refused}");
        }
    }

    #[test]
    fn escapes() {
        check(r"^\.\*\<\>\_\ \#\-$", &[".*<>_ #-"], &[]);
        check(r"^\x41\x{e9}\101\0\t\n\r\f\v\a$", &["AéA\0\t\n\r\u{c}\u{b}\u{7}"], &[]);
        check(r"^\08$", &["\u{0}8"], &[]);
        check(r"^\1234$", &["S4"], &[]);
        check(r"^\Qa.b*\E+$", &["a.b**"], &["aab"]);
        check(r"^\Qa.b", &["a.b"], &["axb"]);
        check(r"^\Q\\E$", &["\\"], &[]);
        check("^a b#c$", &["a b#c"], &["abc"]);
        check(r"\x{D800}|a", &["a"], &["b"]);
        check(r"^[^\x{D800}-\x{DFFF}]$", &["a"], &[]);
        for refused in [r"\", r"\1", r"\8", r"\h", r"\C", r"\Z", r"\e", r"\E", r"\u{61}", r"\é", r"\x", r"\x1", r"\x{}"]
        {
            assert!(refusal(refused).contains('\\'), "{refused}");
        }
        for refused in [r"\x{110000}", r"\x{61", r"\xzz", r"\N", r"\k<a>", r"\G", r"\R", r"\cA"] {
            assert!(refusal(refused).contains('\\'), "{refused}");
        }
        assert!(refusal(r"(a)\1").contains("back"));
    }

    #[test]
    fn groups() {
        check("^(?P<n>a)(?<m>b)(?:c)(?)$", &["abc"], &[]);
        check("^(?P<n>a)(?P<n>b)$", &["ab"], &[]);
        check("^(a|b|)$", &["a", "b", ""], &["c"]);
        check("(?ii)a", &["A"], &[]);
        check("^(?U)a+$", &["aa"], &[]);
        for refused in ["(", "(a", ")", "a)", "(?", "(?i", "(?P<", "(?P<n", "(?P<>a)", "(?P<a-b>c)", "(?<é>a)", "(a))"]
        {
            assert!(refusal(refused).contains("cannot be used"), "{refused}");
        }
        for refused in ["(?x)a", "(?u)a", "(?-u)a", "(?R)a", "(?-)a", "(?i-)a", "(?-:a)", "(?i--s)a", "(?#a)", "(?>a)"]
        {
            assert!(refusal(refused).contains("flag"), "{refused}");
        }
        for refused in ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "^(?!a).*$"] {
            assert!(refusal(refused).contains("look"), "{refused}");
        }
    }

    #[test]
    fn places() {
        let find = |go: &str, text: &'static str| Pattern::from_go(go).unwrap().find(text);
        assert_eq!(find("[0-9]+", "abc 123"), Some("123"));
        assert_eq!(find("xyz", "abc 123"), None);
        assert_eq!(find("a|ab", "ab"), Some("a"));
        for (greedy, lazy) in
            [("a+", "a+?"), ("a*", "a*?"), ("a?", "a??"), ("a{1,3}", "a{1,3}?"), ("(a|b){2,}", "(a|b){2,}?")]
        {
            let longest = find(greedy, "aaa").unwrap();
            let shortest = find(lazy, "aaa").unwrap();
            assert!(longest.len() > shortest.len(), "{greedy}");
            assert_eq!(find(&format!("(?U){lazy}"), "aaa"), Some(longest), "{lazy}");
            assert_eq!(find(&format!("(?U:{greedy})"), "aaa"), Some(shortest), "{greedy}");
            assert_eq!(find(&format!("(?U)(?-U){greedy}"), "aaa"), Some(longest), "{greedy}");
        }
        let find_all = |go: &str, text: &'static str| Pattern::from_go(go).unwrap().find_all(text).collect::<Vec<_>>();
        assert_eq!(find_all("[0-9]+", "123 abc 456"), ["123", "456"]);
        assert_eq!(find_all("xyz", "123"), [""; 0]);
        // An empty match right after another does not count.
        assert_eq!(find_all("a*", "baac"), ["", "aa", ""]);
    }

    #[test]
    fn hostile_patterns_end_in_an_error() {
        let deep = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
        let classes = r"\pL".repeat(100_000);
        let folded = format!("(?i){}", r"[^\PL]".repeat(100_000));
        let long = "(a{1000}|b)".repeat(100_000);
        let brackets = format!("[{}", "[:".repeat(100_000));
        for hostile in [&deep, &classes, &folded, &long, &brackets] {
            assert!(Pattern::from_go(hostile).is_err());
        }
        assert!(matches(r"^[\p{L}\p{N} ]{1,253}$", "é"));
        assert!(matches("^.{0,1000}$", "é"));
        let small = |go: &str| Translated::from_go(go).unwrap().compile_small(go).map_err(|error| error.is_too_large());
        assert_eq!(small(r"^[\p{L}\p{N} ]{1,253}$").err(), Some(true));
        assert!(small("^.{0,1000}$").unwrap().is_match("é"));
        assert!(small("^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$").unwrap().is_match("a-1"));
        assert!(!matches("^(a+)+$", &format!("{}b", "a".repeat(100_000))));
    }
}
