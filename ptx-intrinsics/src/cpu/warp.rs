//! What the threads of a warp do together. Outside of an executor a thread is the only one of its warp, lane 0.

use super::thread;

/// What each lane brings; `None` of those that do not take part.
pub(crate) type Lanes = [Option<u64>; 32];

/// What the lanes of `mask` bring to the instruction of that name.
pub(crate) fn exchange(name: &'static str, mask: u32, value: u64) -> Lanes {
    let mut lanes = match thread::current() {
        Some(thread) => thread.exchange(name, value),
        None => core::array::from_fn(|lane| (lane == 0).then_some(value)),
    };
    for (lane, value) in lanes.iter_mut().enumerate() {
        *value = value.filter(|_| mask >> lane & 1 == 1);
    }
    lanes
}

/// The lane of the thread that runs here.
fn lane() -> u32 {
    thread::current().map_or(0, thread::Thread::lane)
}

/// The lowest lane of `mask` that takes part, and whether it is this one.
pub(crate) fn elect(mask: u32) -> (u32, bool) {
    let leader = exchange("elect.sync", mask, 0).iter().position(Option::is_some).unwrap_or(0) as u32;
    (leader, leader == lane())
}
