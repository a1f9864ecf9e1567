//! What the threads of a cluster wait for, and when they go on.

use super::dim3::Dim3;
use super::meeting::Complete;
use super::place::{Barrier, Place, Wait};
use crate::WARP_SIZE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Waits(Wait),
    Done,
}

impl State {
    fn wait(self) -> Option<Wait> {
        match self {
            State::Waits(wait) => Some(wait),
            State::Ready | State::Done => None,
        }
    }

    fn waits_for(self, barrier: Barrier) -> bool {
        self.wait().is_some_and(|wait| wait.barrier == barrier)
    }
}

pub(super) fn all_done(states: &[State]) -> bool {
    states.iter().all(|state| *state == State::Done)
}

/// Opens the barrier of this warp if all of its threads have come to it, or ended before; says whether they have.
///
/// # Panics
/// If they have come to it by different instructions.
pub(super) fn open_warp(states: &mut [State], places: &[Place]) -> bool {
    let here = |state: &State| state.waits_for(Barrier::Warp);
    if !states.iter().any(here) || !states.iter().all(|state| here(state) || *state == State::Done) {
        return false;
    }
    go_on(states, places, Barrier::Warp, |_| ());
    true
}

/// Opens the barriers of this block to which all have come; says whether there was one.
///
/// # Panics
/// If threads of a warp have come to it by different instructions.
pub(super) fn open_block(states: &mut [State], places: &[Place]) -> bool {
    let living = states.iter().filter(|state| **state != State::Done).count();
    let complete = places[0].barriers().complete(living as u32);
    for &Complete { number, phase, threads, brought } in &complete {
        go_on(states, places, Barrier::Block { number, phase, threads }, |place| place.run.brought.set(brought));
    }
    !complete.is_empty()
}

/// Opens the barrier of this cluster if all threads have arrived or ended. Its blocks have `threads` threads each. Returns whether
/// it is open.
///
/// # Panics
/// If threads of a warp wait for it by different instructions.
pub(super) fn open_cluster(states: &mut [State], places: &[Place], threads: usize) -> bool {
    let phase = &places[0].memory().phase;
    let mut living = places.iter().zip(&*states).filter(|(_, state)| **state != State::Done).peekable();
    if living.peek().is_none() || !living.all(|(place, _)| place.has_arrived(phase.get())) {
        return false;
    }
    phase.set(phase.get() + 1);
    for (states, places) in states.chunks_mut(threads).zip(places.chunks(threads)) {
        go_on(states, places, Barrier::Cluster, |_| ());
    }
    true
}

/// Those of a block's threads that wait for this go on.
fn go_on(states: &mut [State], places: &[Place], barrier: Barrier, told: impl Fn(&Place)) {
    let warp = WARP_SIZE as usize;
    for (states, places) in states.chunks_mut(warp).zip(places.chunks(warp)) {
        let here = |(state, _): &(&State, &Place)| state.waits_for(barrier);
        one_instruction(states.iter().zip(places).filter(here));
        for (state, place) in states.iter_mut().zip(places).filter(|(state, _)| state.waits_for(barrier)) {
            *state = State::Ready;
            told(place);
        }
    }
}

/// Opens each barrier of some lanes of this warp to which all of them have come, or ended before; says whether there was one.
///
/// # Panics
/// If they have come to it by different instructions.
pub(super) fn open_lanes(states: &mut [State], places: &[Place]) -> bool {
    let mut any = false;
    for lane in 0..states.len() {
        let Some(Barrier::Lanes(mask)) = states[lane].wait().map(|wait| wait.barrier) else { continue };
        let barrier = Barrier::Lanes(mask);
        let member = |lane: &usize| mask >> lane & 1 == 1;
        let mut members = (0..states.len()).filter(member);
        if members.all(|lane| states[lane].waits_for(barrier) || states[lane] == State::Done) {
            let here: Vec<usize> = (0..states.len()).filter(|lane| states[*lane].waits_for(barrier)).collect();
            one_instruction(here.iter().map(|lane| (&states[*lane], &places[*lane])));
            here.into_iter().for_each(|lane| states[lane] = State::Ready);
            any = true;
        }
    }
    any
}

fn one_instruction<'a>(lanes: impl Iterator<Item = (&'a State, &'a Place)>) {
    let mut waiting = lanes.filter_map(|(state, place)| Some((state.wait()?, place)));
    let Some((wait, place)) = waiting.next() else { return };
    if let Some((other, of)) = waiting.find(|(other, _)| other.at != wait.at) {
        panic!(
            "the threads of a warp come to one instruction together, and here {} came to {}, and {} to {}",
            name(place),
            wait.at,
            name(of),
            other.at
        );
    }
}

/// Readies those that only let others go on; says whether there was one.
pub(super) fn take_turns(states: &mut [State]) -> bool {
    let mut any = false;
    for state in states.iter_mut().filter(|state| state.waits_for(Barrier::Turn)) {
        (*state, any) = (State::Ready, true);
    }
    any
}

/// Which threads wait for what; a few of them.
pub(super) fn who_waits(states: &[State], places: &[Place]) -> String {
    let waiting = states
        .iter()
        .zip(places)
        .filter_map(|(state, place)| Some(format!("{} for {}", name(place), state.wait()?.barrier)));
    waiting.take(4).collect::<Vec<_>>().join("; ")
}

pub(super) fn name(place: &Place) -> String {
    let (Dim3 { x, y, z }, block) = (place.thread, place.block);
    format!("thread ({x}, {y}, {z}) of block ({}, {}, {})", block.x, block.y, block.z)
}
