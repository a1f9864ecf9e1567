//! `redux.sync`: one number of the numbers of all threads of a warp.

#[cfg(not(ptx_device))]
use crate::cpu::{float, warp};

/// Each operation on integers: what comes out, the function, the opcode, PTX, LLVM's intrinsic, the type, and what it does on a CPU.
macro_rules! redux {
    ($($what:literal: $redux:ident $alias:literal $ptx:literal $intrinsic:literal $of:ident $cpu:expr;)*) => {
        instructions! { SINGLES:
            instruction "redux.sync", isa "parallel-synchronization-and-communication-instructions-redux-sync", effect message, T = u8 { $(
                #[doc = concat!($what, " of the values that the threads in `mask` have, in each of them.")]
                #[doc(alias = $alias)]
                #[doc(alias = "redux.sync")]
                unsafe fn $redux(number: $of as reg32, mask: u32 as reg32) -> ($of as all: $of) {
                    ptx: $ptx -> all, number, mask;
                    intrinsic: { $intrinsic(number: $of, mask: u32) };
                    needs: Reductions;
                    safety: "All threads of the warp in `mask`, this one among them, come to this call with the same `mask`.";
                    cpu: warp::reduce(stringify!($redux), mask, number as u32, |a, b| $cpu(a as $of, b as $of) as u32) as $of;
                }
            )* }
        }
    };
}
redux! {
    "The sum, which wraps around,": redux_sync_add_s32 "redux.sync.add" "redux.sync.add.s32" "llvm.nvvm.redux.sync.add" i32 i32::wrapping_add;
    "The smallest": redux_sync_min_s32 "redux.sync.min" "redux.sync.min.s32" "llvm.nvvm.redux.sync.min" i32 i32::min;
    "The smallest": redux_sync_min_u32 "redux.sync.min" "redux.sync.min.u32" "llvm.nvvm.redux.sync.umin" u32 u32::min;
    "The largest": redux_sync_max_s32 "redux.sync.max" "redux.sync.max.s32" "llvm.nvvm.redux.sync.max" i32 i32::max;
    "The largest": redux_sync_max_u32 "redux.sync.max" "redux.sync.max.u32" "llvm.nvvm.redux.sync.umax" u32 u32::max;
    "The AND": redux_sync_and_b32 "redux.sync.and" "redux.sync.and.b32" "llvm.nvvm.redux.sync.and" u32 core::ops::BitAnd::bitand;
    "The OR": redux_sync_or_b32 "redux.sync.or" "redux.sync.or.b32" "llvm.nvvm.redux.sync.or" u32 core::ops::BitOr::bitor;
    "The XOR": redux_sync_xor_b32 "redux.sync.xor" "redux.sync.xor.b32" "llvm.nvvm.redux.sync.xor" u32 core::ops::BitXor::bitxor;
}

/// Each operation on floats: what comes out, the function, the opcode, PTX, LLVM's intrinsic, and what it does on a CPU.
macro_rules! redux_f32 {
    ($($what:literal: $redux:ident $alias:literal $ptx:literal $intrinsic:literal $cpu:expr;)*) => {
        instructions! { FLOATS:
            instruction "redux.sync", isa "parallel-synchronization-and-communication-instructions-redux-sync", effect message, T = u8 { $(
                #[doc = concat!($what, " of the values that the threads in `mask` have, in each of them.")]
                #[doc(alias = $alias)]
                #[doc(alias = "redux.sync")]
                unsafe fn $redux(number: f32 as reg32, mask: u32 as reg32) -> (f32 as all: f32) {
                    ptx: $ptx -> all, number, mask;
                    intrinsic: { $intrinsic(number: f32, mask: u32) };
                    needs: FloatReductions;
                    safety: "All threads of the warp in `mask`, this one among them, come to this call with the same `mask`.";
                    cpu: warp::reduce_floats(stringify!($redux), mask, number, $cpu);
                }
            )* }
        }
    };
}
redux_f32! {
    "The smallest, of which NaN is none if there is another number,": redux_sync_min_f32 "redux.sync.min" "redux.sync.min.f32"
        "llvm.nvvm.redux.sync.fmin" float::least;
    "The smallest absolute value, of which NaN is none if there is another number,": redux_sync_min_abs_f32 "redux.sync.min.abs"
        "redux.sync.min.abs.f32" "llvm.nvvm.redux.sync.fmin.abs" |a, b| float::least(a.abs(), b.abs());
    "The smallest, or NaN if there is one,": redux_sync_min_nan_f32 "redux.sync.min.NaN" "redux.sync.min.NaN.f32"
        "llvm.nvvm.redux.sync.fmin.NaN" float::least_or_nan;
    "The smallest absolute value, or NaN if there is one,": redux_sync_min_abs_nan_f32 "redux.sync.min.abs.NaN"
        "redux.sync.min.abs.NaN.f32" "llvm.nvvm.redux.sync.fmin.abs.NaN" |a, b| float::least_or_nan(a.abs(), b.abs());
    "The largest, of which NaN is none if there is another number,": redux_sync_max_f32 "redux.sync.max" "redux.sync.max.f32"
        "llvm.nvvm.redux.sync.fmax" float::largest;
    "The largest absolute value, of which NaN is none if there is another number,": redux_sync_max_abs_f32 "redux.sync.max.abs"
        "redux.sync.max.abs.f32" "llvm.nvvm.redux.sync.fmax.abs" |a, b| float::largest(a.abs(), b.abs());
    "The largest, or NaN if there is one,": redux_sync_max_nan_f32 "redux.sync.max.NaN" "redux.sync.max.NaN.f32"
        "llvm.nvvm.redux.sync.fmax.NaN" float::largest_or_nan;
    "The largest absolute value, or NaN if there is one,": redux_sync_max_abs_nan_f32 "redux.sync.max.abs.NaN"
        "redux.sync.max.abs.NaN.f32" "llvm.nvvm.redux.sync.fmax.abs.NaN" |a, b| float::largest_or_nan(a.abs(), b.abs());
}
