//! What users call their constants, statics, constant parameters, variants and unit structs changes nothing in `ptx!`.
#![allow(non_upper_case_globals, non_camel_case_types, dead_code, unused_imports, unused_variables)]

use ptx_intrinsics::prelude::*;

macro_rules! uses {
    () => {
        // SAFETY: the addresses are those of locals.
        unsafe {
            let (mut number, mut wide, mut row) = (5u32, B128(6), V8::new([1.0f32; 8]));
            let (address, long, eight) = (&raw mut number, &raw mut wide, &raw mut row);
            let shared = SharedPtr::new(address);
            let (own, yes) = (CachePolicy::EVICT_LAST, true);
            ptx!(st.u32 [address], 5u32);
            ptx!(st.global.L2::cache_hint.u32 [address], 5u32, own);
            ptx!(@yes st.release.gpu.global.u32 [address], 5u32);
            ptx!(@yes st.release.gpu.global.L2::cache_hint.u32 [address], 5u32, own);
            ptx!(st.shared.u32 [shared], 5u32);
            ptx!(st.b128 [long], B128(6));
            ptx!(st.v8.f32 [eight], {1.0, _, 1.0, _, _, 1.0, _, 1.0});
            ptx!(st.L2::cache_hint.v8.f32 [eight], {1.0, _, 1.0, _, _, 1.0, _, 1.0}, own);
            let loaded = [
                ptx!(ld.u32 [address]),
                ptx!(ld.u32 [address].unified),
                ptx!(ld.global.L2::cache_hint.u32 [address], own),
                ptx!(@yes ld.acquire.sys.u32 [address], else 0u32),
                ptx!(@yes ld.global.L2::cache_hint.u32 [address], own, else 0u32),
                ptx!(@(yes) ld.global.u32 [address].unified, else 0u32),
                ptx!(ld.shared.u32 [shared]),
                ptx!(@yes ld.shared.u32 [shared], else 0u32),
                ptx!(ldu.global.u32 [address]),
                ptx!(atom.exch.b32 [address], 5u32),
                ptx!(atom.global.exch.L2::cache_hint.b32 [address], 5u32, own),
                ptx!(@yes atom.exch.b32 [address], 5u32, else 0u32),
                ptx!(@yes atom.global.exch.L2::cache_hint.b32 [address], 5u32, own, else 0u32),
                ptx!(atom.cas.b32 [address], 5u32, 5u32),
                ptx!(@yes atom.cas.b32 [address], 5u32, 5u32, else 0u32),
                ptx!(atom.shared.add.u32 [shared], 0u32),
            ];
            ptx!(red.add.u32 [address], 0u32);
            ptx!(@yes red.add.u32 [address], 0u32);
            ptx!(red.global.add.L2::cache_hint.u32 [address], 0u32, own);
            ptx!(red.shared.add.u32 [shared], 0u32);
            let lanes_of = ptx!(ld.v8.f32 {a, _, b, _, _, c, _, e}, [eight]).0;
            let hinted = ptx!(ld.global.L2::cache_hint.v8.f32 {a, _, b, _, _, c, _, e}, [eight], own).0;
            let wides = [ptx!(ld.b128 [long]), ptx!(atom.exch.b128 [long], B128(6)), ptx!(atom.cas.b128 [long], B128(6), B128(6))];
            assert_eq!((loaded, wides), ([5; 16], [B128(6); 3]));
            assert_eq!((lanes_of, hinted), ([1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0], lanes_of));
        }
    };
}

/// Declares something of each name that a macro may use inside.
macro_rules! names {
    ($callback:ident) => {
        $callback! { p v d cond policy value or old compare d0 d1 d2 d3 d4 d5 d6 d7 c0 v0 words lanes WORDS LANES t r s e ty done state size bytes ns map }
    };
}

macro_rules! declared {
    ($($name:ident)*) => {
        mod constants {
            use super::*;
            $(const $name: u32 = 7;)*
            pub fn run() {
                uses! {}
                // The user's own are meant where the user writes them.
                let mut number = 1u32;
                let address = &raw mut number;
                // SAFETY: the address is that of a local.
                unsafe { $(
                    ptx!(st.u32 [address], $name);
                    assert_eq!(ptx!(atom.add.u32 [address], $name), 7);
                    assert_eq!(ptx!(@($name == 7) ld.u32 [address], else $name), 14);
                    assert_eq!(ptx!(atom.cas.b32 [address], $name, $name), 14);
                )* }
            }
        }
        mod statics {
            use super::*;
            $(static $name: u32 = 7;)*
            pub fn run() {
                uses! {}
                let mut number = 1u32;
                let address = &raw mut number;
                // SAFETY: the address is that of a local.
                unsafe { $(
                    ptx!(st.u32 [address], $name);
                    assert_eq!(ptx!(atom.add.u32 [address], $name), 7);
                    assert_eq!(ptx!(ld.u32 [&$name]), 7);
                )* }
            }
        }
        mod parameters {
            use super::*;
            pub fn run<$(const $name: u32),*>() {
                uses! {}
                let mut number = 1u32;
                let address = &raw mut number;
                // SAFETY: the address is that of a local.
                unsafe { $(
                    ptx!(st.u32 [address], $name);
                    assert_eq!(ptx!(atom.add.u32 [address], $name), 7);
                )* }
            }
            pub const RUN: fn() = run::<$({ let $name = 7; $name }),*>;
        }
        mod variants {
            use super::*;
            enum Names { $($name),* }
            use Names::*;
            pub fn run() {
                uses! {}
            }
        }
        mod units {
            use super::*;
            mod inner { $(pub struct $name;)* }
            use inner::{$($name),*};
            pub fn run() {
                uses! {}
            }
        }
    };
}
names! { declared }

pub fn main() {
    constants::run();
    statics::run();
    parameters::RUN();
    variants::run();
    units::run();
}
