use ptx_intrinsics::prelude::*;

fn main() {
    let _ = unsafe { redux_sync_max_abs_nan_f32(1.0, u32::MAX) };
}
