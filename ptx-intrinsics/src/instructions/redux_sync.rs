//! `redux.sync`: one number of the numbers of all threads of a warp.

#[cfg(not(ptx_device))]
use crate::cpu::warp;

/// Each operation: what comes out, the function, the opcode, PTX, LLVM's intrinsic, the type, and what it does on a CPU.
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
