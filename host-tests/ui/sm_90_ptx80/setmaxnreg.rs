use ptx_intrinsics::prelude::*;

fn main() {
    unsafe { setmaxnreg_inc_sync_aligned::<232>() }
}
