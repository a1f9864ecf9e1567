use ptx_intrinsics::prelude::*;

fn look(p: *const u32) -> u32 {
    unsafe { ld_global_nc::<NoHint, NoPrefetch>().acquire::<Gpu>().read(p) }
}

fn main() {}
