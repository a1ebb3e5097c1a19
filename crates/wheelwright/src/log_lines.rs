//! What a command says, as events of the log: where the log is JSON, every line is.

use std::{io, mem};

/// A stream whose lines go to the log: one event for each fact, with its continuation lines and its help.
#[derive(Debug, Default)]
pub(crate) struct LogLines {
    line: Vec<u8>,
    /// The event that the next line may belong to.
    pending: Option<Event>,
}

#[derive(PartialEq, Eq, Debug)]
struct Event {
    level: tracing::Level,
    /// The rule of a finding.
    rule: Option<String>,
    message: String,
    help: Option<String>,
}

impl LogLines {
    fn take(&mut self, line: &str) {
        match (&mut self.pending, line.strip_prefix("help: ")) {
            (Some(event), Some(help)) => {
                let before = event.help.take().map(|before| format!("{before}\n")).unwrap_or_default();
                event.help = Some(format!("{before}{help}"));
            }
            (Some(event), None) if is_continuation(line) => {
                event.message.push('\n');
                event.message.push_str(line);
            }
            _ => {
                self.end();
                self.pending = Some(Event::of(line));
            }
        }
    }

    fn end(&mut self) {
        if let Some(event) = self.pending.take() {
            event.log();
        }
    }
}

/// Whether a line goes on with what the line before began: the excerpts and notes of a finding do.
fn is_continuation(line: &str) -> bool {
    line.is_empty() || line.starts_with(|first: char| first.is_whitespace() || first.is_ascii_digit())
}

impl Event {
    fn of(line: &str) -> Self {
        let event = |level, rule: Option<&str>, message: &str| {
            let (rule, message) = (rule.map(str::to_owned), message.trim_end().to_owned());
            Self { level, rule, message, help: None }
        };
        let Some((head, message)) = line.split_once(": ") else { return event(tracing::Level::INFO, None, line) };
        let (word, rule) = match head.strip_suffix(']').and_then(|head| head.split_once('[')) {
            Some((word, rule)) => (word, Some(rule)),
            None => (head, None),
        };
        match word {
            "error" => event(tracing::Level::ERROR, rule, message),
            "warning" => event(tracing::Level::WARN, rule, message),
            "help" | "note" => event(tracing::Level::INFO, rule, message),
            _ => event(tracing::Level::INFO, None, line),
        }
    }

    fn log(&self) {
        let Self { level, rule, message, help } = self;
        match *level {
            tracing::Level::ERROR => tracing::error!(rule, help, "{message}"),
            tracing::Level::WARN => tracing::warn!(rule, help, "{message}"),
            _ => tracing::info!(rule, help, "{message}"),
        }
    }
}

impl io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = mem::take(&mut self.line);
                    self.take(&String::from_utf8_lossy(&line));
                }
                byte => self.line.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end();
        Ok(())
    }
}

impl Drop for LogLines {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use io::Write;

    use super::*;

    #[test]
    fn a_fact_is_one_event_with_its_rule_and_its_help() {
        let mut lines = LogLines::default();
        let finding =
            "error[WW101]: no such field\n  --> a.yaml:1:2\n1 | a: b\n\nhelp: remove it\nhelp: or declare it\n";
        lines.write_all(finding.as_bytes()).unwrap();
        let expected = Event {
            level: tracing::Level::ERROR,
            rule: Some("WW101".to_owned()),
            message: "no such field\n  --> a.yaml:1:2\n1 | a: b\n".to_owned(),
            help: Some("remove it\nor declare it".to_owned()),
        };
        assert_eq!(lines.pending, Some(expected));
        lines.write_all(b"warning: half of").unwrap();
        assert!(lines.pending.as_ref().is_some_and(|event| event.rule.is_some()), "the line is not complete");
        lines.write_all(b" it\n").unwrap();
        assert_eq!(lines.pending.as_ref().map(|event| &*event.message), Some("half of it"));
        lines.flush().unwrap();
        assert_eq!(lines.pending, None);
        assert_eq!(Event::of("http://a: b").message, "http://a: b");
    }
}
