//! A generic function stores to shared memory through a pointer.
use ptx_intrinsics::prelude::*;

pub unsafe fn store<T>(p: *mut T, value: T) {
    unsafe { st_shared().write(p, value) }
}

fn main() {}
