//! The functions of `libcublas.so` and `libcublasLt.so`, as NVIDIA's manual and headers name and describe them.
//!
//! NVIDIA's libraries have machine code alone. Here a call is a piece of work in its handle's stream, as a kernel is one: what it
//! reads and writes is checked, and a CPU computes it. Each operation is one function, for all types of elements; [`exports`] gives
//! it its names.
#![allow(non_snake_case)]
// The library's own functions have as many.
#![allow(clippy::too_many_arguments)]

pub(crate) mod call;
mod compute;
mod copies;
pub(crate) mod filled;
mod gemm;
pub(crate) mod grid;
mod grouped;
mod handle;
mod kind;
mod level1;
mod level2;
mod level3;
mod lt_algorithm;
mod lt_epilogue;
mod lt_object;
mod lt_product;
mod matrix;
mod missing;
mod number;
mod operand;
mod rotations;
mod routine;
mod status;
mod updates;

use crate::changed::Call;
use crate::runtime::error::answer_of_library;
use crate::status::Result;

/// The functions of one form: `gemm (…arguments…) { cublasSgemm_v2(F32) … }`. Each calls that operation with what is in its own
/// parentheses, and then its arguments. A name with `_64` takes numbers (`Int`) of 64 bits, the other one of 32.
macro_rules! exports {
    ($($does:ident $arguments:tt { $($name:ident $given:tt)* })*) => {
        $($($crate::blas::export! { $does $name $given $arguments })*)*
    };
}

macro_rules! export {
    ($does:ident $name:ident ($($given:expr),*) ($($argument:ident: $type:ty),* $(,)?)) => {
        const _: () = {
            #[allow(dead_code)]
            type Int = i32;
            $crate::blas::function! { (stringify!($name)) $does ($($given),*) ($($argument: $type),*) }
        };
        const _: () = {
            #[allow(dead_code)]
            type Int = i64;
            $crate::blas::function! { (concat!(stringify!($name), "_64")) $does ($($given),*) ($($argument: $type),*) }
        };
    };
}

macro_rules! function {
    (($name:expr) $does:ident ($($given:expr),*) ($($argument:ident: $type:ty),*)) => {
        #[unsafe(export_name = $name)]
        extern "C" fn function($($argument: $type),*) -> u32 {
            let call = $crate::changed::Call { name: $name, arguments: &[$($crate::call::bits(&$argument)),*] };
            $crate::blas::answer(call, move || $does($($given,)* $($argument.into()),*))
        }
    };
}

/// Functions that take no such numbers, with their bodies.
macro_rules! library {
    ($($all:tt)*) => { $crate::call::functions! { $crate::blas::answer; $($all)* } };
}

pub(crate) use kind::Kind;
pub(crate) use operand::Dimension;
pub(crate) use {export, exports, function, library};

/// Does a call. What goes wrong in this library itself is `CUBLAS_STATUS_INTERNAL_ERROR`.
pub(crate) fn answer(call: Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    answer_of_library(call, status::INTERNAL_ERROR, body)
}
