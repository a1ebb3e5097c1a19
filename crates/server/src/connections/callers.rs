//! Idle connections of callers that have half of the memory for connections: they make room for others of the same caller.

use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{Connections, FULL, Member, locked};
use crate::share::Shares;

/// More callers than can have half of the memory at a time.
const CALLERS: usize = 8;

/// How often connections of one caller make room, and for how long they may do so without a pause: connections are cheaper to
/// refuse than to serve, and a flood of one address is not to keep the server from others.
const PACE: Duration = Duration::from_millis(10);
const BURST: Duration = Duration::from_millis(500);

/// Idle connections by the address of their caller's shares.
pub(super) type IdleByCaller = HashMap<usize, Idle>;

/// Idle connections of one caller when they were last looked through.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// The one that makes room next is last.
    members: Vec<(Instant, Arc<Member>)>,
    /// When none was idle.
    was_full: Option<Instant>,
    /// When as many have made room as the pace allows.
    paced: Option<Instant>,
}

impl Connections {
    /// Asks an idle connection of a caller to leave: the one whose time is up first. Of connections without a request there
    /// is one only if they are a crowd, or if there is no other.
    pub(crate) fn dismiss_one_of(&self, caller: &Arc<Shares>) -> bool {
        let by_caller = &mut *locked(&self.idle_by_caller);
        if by_caller.len() >= CALLERS {
            by_caller.clear();
        }
        // Connections keep their caller, so another caller has this address only once there are none.
        let idle = by_caller.entry(Arc::as_ptr(caller) as usize).or_default();
        let now = Instant::now();
        let paced = idle.paced.map_or(now, |paced| paced.max(now));
        if idle.was_full.is_some_and(|then| then.elapsed() < FULL) || paced >= now + BURST {
            return false;
        }
        let is_found = idle.dismiss_one() || {
            idle.members = self.idle_of(caller);
            idle.dismiss_one()
        };
        idle.was_full = (!is_found).then_some(now);
        if is_found {
            idle.paced = Some(paced + PACE);
        }
        is_found
    }

    /// The idle connections of a caller, and last the one that makes room first.
    fn idle_of(&self, caller: &Arc<Shares>) -> Vec<(Instant, Arc<Member>)> {
        let (mut fresh, mut used, mut count) = (Vec::new(), Vec::new(), 0);
        for member in locked(&self.known).values() {
            if member.caller.get().is_some_and(|own| Arc::ptr_eq(own, caller)) {
                count += 1;
                let state = locked(&member.state);
                let list = if state.fresh_until.is_some() { &mut fresh } else { &mut used };
                list.extend(state.idle_until.map(|until| (until, member.clone())));
            }
        }
        for list in [&mut fresh, &mut used] {
            list.sort_unstable_by_key(|(until, _)| Reverse(*until));
        }
        match fresh.len() > count / 8 {
            true => [used, fresh].concat(),
            false => [fresh, used].concat(),
        }
    }
}

impl Idle {
    fn dismiss_one(&mut self) -> bool {
        while let Some((until, member)) = self.members.pop() {
            // A connection that was busy since then may be idle for longer now.
            if member.dismiss(until) {
                return true;
            }
        }
        false
    }
}
