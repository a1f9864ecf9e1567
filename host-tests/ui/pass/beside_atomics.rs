//! `core::sync::atomic` and the prelude can be imported whole: there orders are values, and here they are types.

use core::sync::atomic::{Ordering::*, *};
use ptx_intrinsics::prelude::*;

const READY: Ld<Global, order::Acquire<Gpu>> = ld_global::<NoHint, NoPrefetch>().acquire();

fn main() {
    let flag = AtomicU32::new(0);
    flag.store(1, Release);
    fence(SeqCst);
    // SAFETY: the addresses are those of locals.
    unsafe {
        assert_eq!(READY.read(flag.as_ptr()), 1);
        assert_eq!(ld_global_nc::<EvictLast, Prefetch256>().read(&2.5f32), 2.5);
        assert_eq!(ptx!(ld.relaxed.sys.global.u32 [flag.as_ptr()]), 1);
    }
    assert_eq!(flag.load(Relaxed) + flag.load(Acquire), 2);
}
