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
pub(crate) fn lane() -> u32 {
    thread::current().map_or(0, thread::Thread::lane)
}

/// The lowest lane of `mask` that takes part, and whether it is this one.
pub(crate) fn elect(mask: u32) -> (u32, bool) {
    let leader = exchange("elect.sync", mask, 0).iter().position(Option::is_some).unwrap_or(0) as u32;
    (leader, leader == lane())
}

/// One number of those that the lanes of `mask` bring.
pub(crate) fn reduce(name: &'static str, mask: u32, value: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
    let values = exchange(name, mask, value.into());
    values.into_iter().flatten().map(|value| value as u32).reduce(combine).unwrap_or(value)
}

/// One float of those that the lanes of `mask` bring. What is made of one lane's is made of it with itself.
pub(crate) fn reduce_floats(name: &'static str, mask: u32, value: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let values = exchange(name, mask, value.to_bits().into());
    let floats = values.into_iter().flatten().map(|value| f32::from_bits(value as u32));
    floats.map(|value| combine(value, value)).reduce(&combine).unwrap_or(value)
}

/// The lanes of `mask` that bring the same value.
pub(crate) fn equal(name: &'static str, mask: u32, value: u64) -> u32 {
    lanes_with(&exchange(name, mask, value), value)
}

/// `mask`, if its lanes bring one value, else 0; and whether they do.
pub(crate) fn all_equal(name: &'static str, mask: u32, value: u64) -> (u32, bool) {
    let values = exchange(name, mask, value);
    let same = values.iter().flatten().all(|other| *other == value);
    (if same { mask } else { 0 }, same)
}

fn lanes_with(values: &Lanes, value: u64) -> u32 {
    let lanes = values.iter().enumerate().filter(|(_, other)| **other == Some(value));
    lanes.fold(0, |mask, (lane, _)| mask | 1 << lane)
}
