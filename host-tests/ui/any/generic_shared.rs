//! A generic function loads from shared memory.
use ptx_intrinsics::prelude::*;

pub unsafe fn load<T: GlobalElement>(p: SharedPtr<T>) -> T {
    unsafe { p.read() }
}

fn main() {}
