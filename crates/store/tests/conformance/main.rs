//! Every driver against the suite, and the suite against drivers that are wrong.

mod memory;
