use ptx_intrinsics::prelude::*;

fn look(p: *const u32) -> u32 {
    unsafe { ld_shared().release::<Cta>().read(p) }
}

fn main() {}
