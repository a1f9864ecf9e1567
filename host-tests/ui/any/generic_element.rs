//! `Element` says that PTX has the type, and not that this build's GPU has it.
use ptx_intrinsics::prelude::*;

pub unsafe fn store<T: Element>(p: *mut T, value: T) {
    unsafe { st_global::<Cs>().write(p, value) }
}

fn main() {}
