//! Where a command writes to: data to one stream, conversation to another.

use std::{fmt, io};

/// The two streams of a command. Only what a script would read is data; everything else is conversation.
pub struct Console<'w> {
    /// What the command was asked for: standard output.
    pub data: &'w mut dyn io::Write,
    /// What there is to say about it: standard error.
    pub conversation: &'w mut dyn io::Write,
    /// Whether findings on `data` are coloured.
    pub colour_data: bool,
    /// Whether findings on `conversation` are coloured.
    pub colour_conversation: bool,
}

impl<'w> Console<'w> {
    /// Two streams without colours.
    pub fn plain(data: &'w mut dyn io::Write, conversation: &'w mut dyn io::Write) -> Self {
        Self { data, conversation, colour_data: false, colour_conversation: false }
    }

    /// Says a line about what is going on.
    pub(crate) fn say(&mut self, line: impl fmt::Display) -> io::Result<()> {
        writeln!(self.conversation, "{line}")
    }

    /// Says what kept the command from doing what it was asked.
    pub(crate) fn complain(&mut self, problem: impl fmt::Display) -> io::Result<()> {
        self.say(format_args!("error: {problem}"))
    }
}

impl fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console")
            .field("colour_data", &self.colour_data)
            .field("colour_conversation", &self.colour_conversation)
            .finish_non_exhaustive()
    }
}
