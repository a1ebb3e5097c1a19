//! The heads of requests in what a client sends as HTTP/2: blocks of HEADERS and CONTINUATION frames.

/// The connection preface of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames, and the flag of the last one of a block.
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// Where a client is in what it sends.
#[derive(Debug)]
pub(crate) enum Frames {
    /// So many bytes of the preface have come.
    Preface(usize),
    Http1,
    Http2(Frame),
}

/// A frame that is not complete.
#[derive(Default, Debug)]
pub(crate) struct Frame {
    /// The frame header: length (3 bytes), type, flags, stream (4 bytes).
    header: [u8; 9],
    /// How many of them have come.
    has: usize,
    /// Bytes of the payload that have yet to come, once the header is complete.
    rest: usize,
    /// Bytes of the unfinished block so far.
    block: usize,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self::Preface(0)
    }

    /// Goes on with more bytes, and returns how long the unfinished head at their end is; none if this is not HTTP/2.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> Option<usize> {
        if let Self::Preface(has) = *self {
            let next = bytes.len().min(PREFACE.len() - has);
            *self = match bytes[..next] == PREFACE[has..has + next] {
                false => Self::Http1,
                true if has + next < PREFACE.len() => Self::Preface(has + next),
                true => Self::Http2(Frame::default()),
            };
            bytes = &bytes[next..];
        }
        match self {
            Self::Preface(_) | Self::Http1 => None,
            Self::Http2(frame) => {
                frame.read(bytes);
                Some(frame.block)
            }
        }
    }
}

impl Frame {
    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.has < self.header.len() {
                let next = bytes.len().min(self.header.len() - self.has);
                self.header[self.has..self.has + next].copy_from_slice(&bytes[..next]);
                self.has += next;
                bytes = &bytes[next..];
                let [first, second, third, ..] = self.header;
                self.rest = u32::from_be_bytes([0, first, second, third]) as usize;
            } else {
                let next = bytes.len().min(self.rest);
                self.rest -= next;
                bytes = &bytes[next..];
                if self.is_head() {
                    self.block += next;
                }
            }
            if self.has == self.header.len() && self.rest == 0 {
                self.has = 0;
                if self.is_head() && self.header[4] & END_HEADERS != 0 {
                    self.block = 0;
                }
            }
        }
    }

    fn is_head(&self) -> bool {
        matches!(self.header[3], HEADERS | CONTINUATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(sort: u8, flags: u8, length: u8) -> Vec<u8> {
        [&[0, 0, length, sort, flags, 0, 0, 0, 1], &vec![HEADERS; length.into()][..]].concat()
    }

    #[test]
    fn only_blocks_without_their_end_are_unfinished_heads() {
        let (settings, data, ping) = (frame(4, 0, 0), frame(0, 0, 200), frame(6, 0, 8));
        let (whole, begin) = (frame(HEADERS, END_HEADERS, 100), frame(HEADERS, 1, 50));
        let (more, end) = (frame(CONTINUATION, 0, 30), frame(CONTINUATION, END_HEADERS, 20));
        let steps = [
            (PREFACE, 0),
            (&settings, 0),
            (&data, 0),
            (&whole, 0),
            (&ping, 0),
            (&begin, 50),
            (&more, 80),
            (&end, 0),
            (&begin[..29], 20),
        ];
        for size in [1, 7, 1000] {
            let mut frames = Frames::new();
            for (bytes, unfinished) in steps {
                let last = bytes.chunks(size).map(|part| frames.read(part)).last();
                assert_eq!(last.flatten(), Some(unfinished), "{size} {bytes:?}");
            }
        }
    }

    #[test]
    fn other_protocols_have_no_frames() {
        for text in ["GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/1.1\r\n\r\n"] {
            let mut frames = Frames::new();
            assert!(text.as_bytes().chunks(4).all(|part| frames.read(part).is_none()));
            assert!(matches!(frames, Frames::Http1));
        }
    }
}
