//! Orders that are too weak: what they lack, and that in words.

use super::actor::Actor;
use super::checks::{Checks, Event, Found, Lack, Missed, State, Through};
use super::clock::Known;
use super::heads::Reach;
use super::reach::scope_of;
use super::record::Record;
use super::shadow::Mark;
use crate::ptx::access::Scope;

/// What a thread remembers of orders that were too weak, at most.
const MISSED: usize = 8;

impl State {
    pub(super) fn miss(&mut self, missed: Missed) {
        remember(&mut self.missed, Missed { epoch: self.epoch, ..missed });
    }
}

pub(super) fn remember(all: &mut Vec<Missed>, missed: Missed) {
    let is_same = |old: &Missed| (old.write, old.read, old.why) == (missed.write, missed.read, missed.why);
    match all.iter().position(is_same) {
        Some(place) => {
            all[place..].rotate_left(1);
            all.pop();
        }
        None if all.len() == MISSED => drop(all.remove(0)),
        None => {}
    }
    all.push(missed);
}

impl Checks {
    /// What the order from a strong write to a read of it lacks.
    pub(super) fn lack(&self, record: &Record, event: Event, reach: Reach, distance: usize) -> Option<Lack> {
        let needed = scope_of(distance);
        let scope = event.how.scope?;
        if self.level(scope) < distance {
            return Some(Lack::AcquireScope(scope, needed));
        }
        if self.level(record.scope) < distance {
            return Some(Lack::ReleaseScope(record.scope, needed));
        }
        let reaches = |level: usize| record.heads.reaches(Reach { level, ..reach });
        match (reaches(reach.level), reaches(self.widest())) {
            _ if record.heads.is_empty() => Some(Lack::Release),
            (_, false) => Some(Lack::ReleaseScope(Scope::Block, needed)),
            (false, true) => Some(Lack::AcquireScope(scope, needed)),
            (true, _) => (!event.how.acquires).then_some(Lack::Acquire),
        }
    }

    /// Whether somebody who acquires the flag is handed over what a thread did until an epoch.
    fn tells(&self, missed: &Missed, reader: Actor, (actor, epoch): (Actor, u32)) -> bool {
        let Some(record) = &missed.record else { return true };
        let mut handed = Known::default();
        record.heads.give(self.reach(reader, Scope::System), &mut handed);
        handed.ordered.of_thread(actor.block, actor.number) >= epoch
    }

    /// Whether the thread that accesses the bytes has written the flag before that, in one epoch: a flag tells only what comes before it.
    fn is_too_early(&self, missed: &Missed, old: &Mark, actor: Actor) -> bool {
        let is_behind = missed.through == Through::Flag && self.sites.is_behind(old.site, missed.write);
        is_behind && missed.known.is_by(actor) && missed.known.of_thread(actor) == old.epoch
    }

    /// The order that would have covered an earlier access, had it been stronger, and who read the flag: the thread itself, or another
    /// of its block before it. What both access is no flag for itself.
    pub(super) fn missed(&self, old: &Mark, actor: Actor, event: Event) -> Option<(Actor, &Missed)> {
        let is_apart = |flag: Option<(u64, usize)>| {
            let (begin, end) = (event.address, event.address + event.bytes as u64);
            flag.is_none_or(|(at, bytes)| at >= end || at + bytes as u64 <= begin)
        };
        self.missed_of(event, &|missed| {
            let is_known = missed.known.of_thread(actor) >= old.epoch && is_apart(missed.flag);
            is_known && !self.is_too_early(missed, old, actor)
        })
    }

    /// The newest order that was too weak and is such a one: of a thread, or of another of its block before it.
    pub(super) fn missed_of(&self, event: Event, is_it: &dyn Fn(&Missed) -> bool) -> Option<(Actor, &Missed)> {
        if !self.misses {
            return None;
        }
        let covers = |missed: &&Missed| is_it(missed);
        let own = self.known_state(event.actor);
        if let Some(missed) = own.missed.iter().rev().find(covers) {
            return Some((event.actor, missed));
        }
        let block = event.actor.block;
        (0..self.threads).map(|number| Actor { block, number }).find_map(|reader| {
            let before = own.known.ordered.of_thread(block, reader.number);
            let is_before = |missed: &&Missed| missed.epoch <= before && covers(missed);
            let missed = self.known_state(reader).missed.iter().rev().find(is_before)?;
            Some((reader, missed))
        })
    }

    /// A value was seen that came after the access, but it brought no order.
    pub(super) fn too_weak(
        &self,
        missed: &Missed,
        reader: Actor,
        (old, actor): (&Mark, Actor),
        event: Event,
        found: &mut Found,
    ) {
        let needed = scope_of(self.distance(actor.block, event.actor.block)).word();
        let (writes, reads) = match missed.through {
            Through::Flag => ("writes the flag", "reads the flag"),
            Through::Mbarrier => ("arrives at the mbarrier", "waits for the mbarrier"),
        };
        let writer = if missed.known.is_by(actor) { actor } else { missed.writer };
        found.places.push((writer, missed.write, writes.into()));
        found.places.push((reader, missed.read, reads.into()));
        let in_cuda = match needed {
            "sys" => "__threadfence_system()",
            "cta" => "__threadfence_block()",
            _ => "__threadfence()",
        };
        let fence = format!("`fence.acq_rel.{needed}` ({in_cuda})");
        let (title, note, help) = match missed.why {
            _ if missed.through == Through::Mbarrier => at_mbarrier(missed.why, needed),
            Lack::Release => (
                "a flag says that bytes are ready, but its write does not release them".to_owned(),
                "the write of the flag is relaxed, and no fence is between the bytes and it".to_owned(),
                format!(
                    "write the flag with `st.release.{needed}`, or put {fence} before it"
                ),
            ),
            Lack::Acquire if writer == actor && !self.tells(missed, reader, (actor, old.epoch)) => (
                "a flag says that bytes are ready, but what releases it does not release them".to_owned(),
                "the thread has a fence or a release before the bytes, and none between them and the flag".to_owned(),
                format!(
                    "write the flag with `st.release.{needed}`, or put {fence} between the bytes and it"
                ),
            ),
            Lack::Acquire if !self.tells(missed, reader, (actor, old.epoch)) => (
                "a flag says that bytes are ready, but what releases it does not release them".to_owned(),
                "the thread that writes the flag knows of the bytes by a barrier or a flag, and has no fence after that".to_owned(),
                format!(
                    "write the flag with `st.release.{needed}`, or put {fence} between that barrier and it, in the same thread"
                ),
            ),
            Lack::Acquire => (
                "a flag says that bytes are ready, but its read does not acquire them".to_owned(),
                "the read of the flag is relaxed, and no fence is between it and the bytes".to_owned(),
                format!(
                    "read the flag with `ld.acquire.{needed}`, or put {fence} after it"
                ),
            ),
            Lack::ReleaseScope(scope, wide) => narrow("write", "release", scope, wide),
            Lack::AcquireScope(scope, wide) => narrow("read", "acquire", scope, wide),
        };
        found.title = title;
        found.notes.push(note);
        found.help = help;
    }
}

fn narrow(access: &str, order: &str, scope: Scope, needed: Scope) -> (String, String, String) {
    let (scope, needed) = (scope.word(), needed.word());
    (
        format!("the {order} of a flag is for the scope `.{scope}`, and the other thread is outside of it"),
        format!("the {access} of the flag orders nothing between these two threads: they need `.{needed}` or wider"),
        format!("write `.{order}.{needed}` instead of `.{scope}`, and the same scope at the fence, if there is one"),
    )
}

/// What the arrival at an mbarrier lacks, or the wait for it.
fn at_mbarrier(why: Lack, needed: &str) -> (String, String, String) {
    let (who, word, scope) = match why {
        Lack::Release => ("arrival", "arrive.release", None),
        Lack::ReleaseScope(scope, wide) => ("arrival", "arrive.release", Some((scope.word(), wide.word()))),
        Lack::Acquire => ("wait", "try_wait.acquire", None),
        Lack::AcquireScope(scope, wide) => ("wait", "try_wait.acquire", Some((scope.word(), wide.word()))),
    };
    // Two threads of a block may meet at the barrier of another one.
    let needed = scope.map_or(needed, |(_, wide)| wide);
    let (title, note) = match scope {
        None => ("is relaxed", "it orders nothing".to_owned()),
        Some((scope, _)) => (
            "is for a scope that the other thread is outside of",
            format!("its scope is `.{scope}`, which is what an mbarrier's instruction has if it does not say one"),
        ),
    };
    (
        format!("two threads meet at an mbarrier, and the {who} {title}"),
        format!("{note}: what one thread did before it is not ordered before what the other does after it"),
        format!("write `mbarrier.{word}.{needed}`"),
    )
}
