//! What every driver of a [`Store`] must do, as tests that any driver can run.
//!
//! A driver's tests say how to make an empty store and how to open it, and get one test for each property:
//!
//! ```
//! use std::sync::Arc;
//! use wheelwright_store::{Answer, Memory, Store, conformance::Subject};
//!
//! struct InMemory(Memory);
//!
//! impl Subject for InMemory {
//!     fn open(&self) -> Answer<'_, Arc<dyn Store>> {
//!         Box::pin(async { Ok(Arc::new(self.0.clone()) as Arc<dyn Store>) })
//!     }
//!
//!     fn compact(&self) -> Answer<'_, bool> {
//!         Box::pin(async {
//!             self.0.compact();
//!             Ok(true)
//!         })
//!     }
//! }
//!
//! async fn empty() -> InMemory {
//!     InMemory(Memory::new())
//! }
//!
//! wheelwright_store::conformance_tests!(empty);
//! ```
//!
//! What a store does not promise by its [`Guarantees`] is not asked of it. A property that fails panics with what was done,
//! what the store should have answered, and what it did answer. Calls that fail because the store is
//! [busy](crate::ErrorKind::Unavailable) or [throttles](crate::ErrorKind::Throttled) are made again for as long as the
//! subject has [patience](Subject::patience).
//!
//! [`linearizable`] is for tests of a driver's own: it says whether what several processes were answered at the same time
//! can be explained by one order of their calls.

mod client;
mod compaction;
mod concurrency;
mod dropped;
pub mod linearizable;
mod lists;
mod model;
mod names;
mod random;
mod tokens;
mod values;
mod watches;
mod writes;

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use crate::{Answer, Store};
use client::Context;

#[cfg(doc)]
use crate::Guarantees;

/// A store under test. Each property gets one of its own, which is empty at first.
pub trait Subject: Send + Sync {
    /// Opens the store, as another process would: with connections, threads and caches of its own. What was written
    /// through one of them is there for all.
    fn open(&self) -> Answer<'_, Arc<dyn Store>>;

    /// Makes the store forget all history that it can: what happened before now, and how things were. False if it forgets
    /// nothing that can be tested.
    fn compact(&self) -> Answer<'_, bool> {
        Box::pin(async { Ok(false) })
    }

    /// The bytes of a value that is too large for the store; none if there is no such value, or none that could be tried.
    /// Every store takes values of 1 MiB.
    fn too_large(&self) -> Option<usize> {
        None
    }

    /// How long an answer, or the news of a change, may take before it counts as lost.
    fn patience(&self) -> Duration {
        Duration::from_secs(20)
    }
}

/// Something that every store must do.
pub struct Property {
    /// What it is, as the name of a test.
    pub name: &'static str,
    run: fn(Context) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Property {
    /// Tests a store for it, on the runtime of tokio that this is called from.
    ///
    /// # Panics
    /// The store does not have the property.
    pub async fn check(&self, subject: Arc<dyn Subject>) {
        (self.run)(Context::new(subject)).await;
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Tests an empty store for one of the [properties](PROPERTIES), on a runtime of its own.
///
/// # Panics
/// The store does not have the property, or there is no property of this name.
pub fn check<S: Subject + 'static>(name: &str, make: impl AsyncFnOnce() -> S) {
    let property = PROPERTIES.iter().find(|property| property.name == name);
    let property = property.unwrap_or_else(|| panic!("there is no property {name}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime can be started");
    runtime.block_on(async { property.check(Arc::new(make().await)).await });
}

/// Makes a test for each property that a driver must have, all in the module where it stands. It takes what makes a
/// [`Subject`]: an `async fn` without arguments, or a closure that is one.
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr) => {
        $crate::conformance_tests! { @list tests $make }
    };
    (@list $what:ident $($make:expr)?) => {
        $crate::conformance_tests! {
            @$what $($make)?;
            writes:
                a_key_without_a_value_can_be_created,
                a_key_with_a_value_cannot_be_created,
                only_the_value_with_the_revision_is_replaced,
                only_the_value_with_the_revision_is_deleted,
                a_write_that_fails_changes_nothing,
                a_revision_never_comes_back,
                a_key_has_the_revision_of_its_value_and_no_other,
                a_revision_that_is_none_matches_nothing,
                of_many_writers_one_wins,
                a_read_sees_what_was_acknowledged_before_it_began,
                a_mark_moves_with_every_write,
                what_has_the_mark_of_now_is_the_value_of_now,
                everything_survives_closing,
                health_is_good_and_leaves_no_trace;
            values:
                a_value_is_any_bytes,
                a_value_may_have_a_megabyte,
                a_value_that_is_too_large_is_refused;
            names:
                keys_that_look_alike_are_different,
                lists_are_in_the_order_of_the_bytes,
                a_prefix_ends_with_a_whole_segment,
                a_key_may_be_as_long_as_allowed;
            lists:
                a_list_of_nothing_is_empty,
                a_list_has_every_value_once_whatever_the_limit,
                a_page_has_at_most_as_many_values_as_wanted,
                all_pages_show_the_moment_of_the_first,
                a_long_list_comes_in_pages_without_a_limit,
                watching_from_a_list_has_no_gap,
                what_was_can_be_listed_and_looked_up_if_it_is_kept,
                a_change_is_never_denied;
            tokens:
                a_continuation_of_somebody_else_is_refused,
                a_cursor_of_somebody_else_is_refused,
                tokens_hold_after_closing;
            watches:
                a_watch_tells_every_change_in_order,
                a_watch_from_now_on_tells_nothing_older,
                a_watch_tells_only_of_its_prefix,
                a_watch_can_be_taken_up_after_every_event,
                a_watch_tells_what_others_write,
                watches_do_not_disturb_each_other,
                peeking_takes_nothing,
                the_cursor_of_a_watch_moves_on_without_events;
            compaction:
                what_is_forgotten_is_too_old,
                a_watch_that_falls_behind_says_so_or_tells_all,
                what_is_there_outlives_the_history;
            dropped:
                dropping_next_loses_nothing,
                a_dropped_write_is_whole_or_nothing,
                dropped_reads_hurt_nobody;
            concurrency:
                every_watcher_sees_the_chain_of_each_key,
                concurrent_calls_are_linearizable;
            model:
                random_calls_do_what_a_simple_model_does;
        }
    };
    (@tests $make:expr; $($module:ident: $($name:ident),+;)+) => {
        $($(
            #[test]
            fn $name() {
                $crate::conformance::check(stringify!($name), $make);
            }
        )+)+
    };
    (@table; $($module:ident: $($name:ident),+;)+) => {
        /// Every property, in the order in which they are best mended.
        pub const PROPERTIES: &[Property] = &[
            $($(Property { name: stringify!($name), run: |context| Box::pin($module::$name(context)) },)+)+
        ];
    };
}

conformance_tests! { @list table }
