//! `ptx!` needs nothing of the prelude, and none of the names of `core`.
#![no_implicit_prelude]
#![allow(non_camel_case_types, unused_macros, dead_code)]

use ::ptx_intrinsics::element::{B128, V8};
use ::ptx_intrinsics::{CachePolicy, SharedPtr, ptx};

// What the prelude and `core` call so is something else here.
macro_rules! concat {
    ($($any:tt)*) => {
        ::core::compile_error!("not the user's")
    };
}
macro_rules! stringify {
    ($($any:tt)*) => {
        ::core::compile_error!("not the user's")
    };
}
macro_rules! asm {
    ($($any:tt)*) => {
        ::core::compile_error!("not the user's")
    };
}
mod core {}
mod ptx_intrinsics {}
struct Some;
struct None;

pub fn main() {
    // SAFETY: the addresses are those of locals.
    unsafe {
        let (mut number, mut wide, mut row) = (5u32, B128(6), V8::new([1.0f32; 8]));
        let (address, long, eight) = (&raw mut number, &raw mut wide, &raw mut row);
        let shared = SharedPtr::new(address);
        let (own, yes) = (CachePolicy::EVICT_LAST, true);
        ptx!(st.u32[address], 5u32);
        ptx!(st.global.L2::cache_hint.u32 [address], 5u32, own);
        ptx!(@yes st.release.gpu.global.u32 [address], 5u32);
        ptx!(@yes st.release.gpu.global.L2::cache_hint.u32 [address], 5u32, own);
        ptx!(st.shared.u32[shared], 5u32);
        ptx!(st.b128[long], B128(6));
        ptx!(st.v8.f32 [eight], {1.0, _, 1.0, _, _, 1.0, _, 1.0});
        ptx!(st.L2::cache_hint.v8.f32 [eight], {1.0, _, 1.0, _, _, 1.0, _, 1.0}, own);
        let loaded = [
            ptx!(ld.u32[address]),
            ptx!(ld.u32[address].unified),
            ptx!(ld.global.L2::cache_hint.u32 [address], own),
            ptx!(@yes ld.acquire.sys.u32 [address], else 0u32),
            ptx!(@yes ld.global.L2::cache_hint.u32 [address], own, else 0u32),
            ptx!(@(yes) ld.global.u32 [address].unified, else 0u32),
            ptx!(ld.shared.u32[shared]),
            ptx!(@yes ld.shared.u32 [shared], else 0u32),
            ptx!(ldu.global.u32[address]),
            ptx!(atom.exch.b32[address], 5u32),
            ptx!(atom.global.exch.L2::cache_hint.b32 [address], 5u32, own),
            ptx!(@yes atom.exch.b32 [address], 5u32, else 0u32),
            ptx!(@yes atom.global.exch.L2::cache_hint.b32 [address], 5u32, own, else 0u32),
            ptx!(atom.cas.b32[address], 5u32, 5u32),
            ptx!(@yes atom.cas.b32 [address], 5u32, 5u32, else 0u32),
            ptx!(atom.shared.add.u32[shared], 0u32),
        ];
        ptx!(red.add.u32[address], 0u32);
        ptx!(@yes red.add.u32 [address], 0u32);
        ptx!(red.global.add.L2::cache_hint.u32 [address], 0u32, own);
        ptx!(red.shared.add.u32[shared], 0u32);
        let lanes_of = ptx!(ld.v8.f32 {a, _, b, _, _, c, _, e}, [eight]).0;
        let hinted = ptx!(ld.global.L2::cache_hint.v8.f32 {a, _, b, _, _, c, _, e}, [eight], own).0;
        let wides =
            [ptx!(ld.b128[long]), ptx!(atom.exch.b128[long], B128(6)), ptx!(atom.cas.b128[long], B128(6), B128(6))];
        ::core::assert!(loaded[15] == 5 && wides[2] == B128(6) && lanes_of[7] == hinted[7]);
    }
}
