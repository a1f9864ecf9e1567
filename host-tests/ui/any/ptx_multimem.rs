//! The words of `multimem`: what does not go together, and what is no word of it.
use ptx_intrinsics::prelude::*;

fn main() {}

fn words(p: *mut u32, v: u32) {
    unsafe {
        ptx!(multimem.ld_reduce.release.sys.global.add.u32 [p]);
        ptx!(multimem.ld_reduce.acquire.global.add.u32 [p]);
        ptx!(multimem.ld_reduce.global.u32 [p]);
        ptx!(multimem.ld_reduce.global.exch.b32 [p]);
        ptx!(multimem.ld_reduce.global.add.acc::f32.u32 [p]);
        ptx!(multimem.red.relaxed.gpu.shared.add.u32 [p], v);
        ptx!(multimem.st.weak.global.add.u32 [p], v);
        ptx!(multimem.load.global.u32 [p]);
        ptx!(multimem.red.global.min.v2.f16 [p], v);
        ptx!(multimem.red.relaxed.system.add.u32 [p], v);
    }
}
