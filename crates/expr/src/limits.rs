//! What expressions may cost, in Kubernetes' units: one is about 50 nanoseconds of its API server.

/// What one evaluation of one expression may cost.
pub const EXPRESSION_LIMIT: u64 = 1_000_000;

/// What all the rules of a schema together may cost for one object; messages that are expressions are paid from it, too.
pub const OBJECT_BUDGET: u64 = 10_000_000;

/// What one rule may cost by its estimate, times how often an object can have the place that it is for; also what an
/// expression for a message may cost, once.
pub const ESTIMATED_RULE_LIMIT: u64 = 10_000_000;

/// What all the rules and messages of a schema together may cost by their estimates.
pub const ESTIMATED_SCHEMA_LIMIT: u64 = 100_000_000;

/// How much of the largest total a rule must take to be named as one of the reasons when it is exceeded.
pub const NOTABLE_RULE_COST: u64 = ESTIMATED_SCHEMA_LIMIT / 100;

/// How many bytes a request can have, and so how large a value can be that has no limit of its own.
pub const REQUEST_BYTES: u64 = 3 * 1024 * 1024;

/// How many bytes a message that an expression gives may have.
pub const MESSAGE_BYTES: usize = 5 * 1024;
