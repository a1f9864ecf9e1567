//! A hint is a parameter.
use ptx_intrinsics::prelude::*;

fn kernel(p: *const f32, out: *mut f32) {
    unsafe {
        let x = ld_global::<NoHint, NoPrefetch>().evict_last().read(p);
        st_global::<NoHint>().cs().write(out, x);
        let _ = ld().no_allocate().read(p);
    }
}

fn main() {}
