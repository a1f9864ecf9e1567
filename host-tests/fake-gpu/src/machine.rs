//! The machine that runs the kernels: which L1 it has, and what its accesses wait for.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use ptx_interpreter::{Delays, L1, Launch};

const CACHES: [L1; 3] = [L1::None, L1::Kept, L1::Forgetful];
const DELAYS: [Delays; 6] = [
    Delays::None,
    Delays::Loads,
    Delays::Allowed,
    Delays::StoresForgotten,
    Delays::LoadsForgotten,
    Delays::FencesForgotten,
];

static CACHE: AtomicUsize = AtomicUsize::new(0);
static DELAY: AtomicUsize = AtomicUsize::new(0);

/// From here on, launches have this L1 and these delays, by their numbers.
#[unsafe(no_mangle)]
extern "C" fn fake_set_machine(l1: usize, delays: usize) {
    CACHE.store(l1, Relaxed);
    DELAY.store(delays, Relaxed);
}

/// Gives a launch that machine.
pub(crate) fn change(launch: &mut Launch<'_>) {
    launch.l1 = CACHES[CACHE.load(Relaxed)];
    launch.delays = DELAYS[DELAY.load(Relaxed)];
}
