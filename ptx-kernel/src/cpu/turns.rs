//! What the threads of a cluster wait for, and when they go on.

use super::dim3::Dim3;
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

/// Opens the barrier of these threads if all have come to it, or ended before; says whether they have. The threads are those of
/// whole blocks, each of so many threads, or of one warp.
///
/// # Panics
/// If threads of a warp have come to it by different instructions.
pub(super) fn open(states: &mut [State], places: &[Place], threads: usize, barrier: Barrier) -> bool {
    let here = |state: &State| state.waits_for(barrier);
    if !states.iter().any(here) || !states.iter().all(|state| here(state) || *state == State::Done) {
        return false;
    }
    for (states, places) in states.chunks(threads).zip(places.chunks(threads)) {
        let warps = states.chunks(WARP_SIZE as usize).zip(places.chunks(WARP_SIZE as usize));
        warps.for_each(|(states, places)| one_instruction(states.iter().zip(places)));
    }
    states.iter_mut().filter(|state| here(state)).for_each(|state| *state = State::Ready);
    true
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
    let waiting = states.iter().zip(places).filter_map(|(state, place)| {
        let barrier = format!("{:?}", state.wait()?.barrier).to_lowercase();
        Some(format!("{} for its {barrier}", name(place)))
    });
    waiting.take(4).collect::<Vec<_>>().join("; ")
}

pub(super) fn name(place: &Place) -> String {
    let (Dim3 { x, y, z }, block) = (place.thread, place.block);
    format!("thread ({x}, {y}, {z}) of block ({}, {}, {})", block.x, block.y, block.z)
}
