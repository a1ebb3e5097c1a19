//! The PostgreSQL store against a private server.

mod basics;
