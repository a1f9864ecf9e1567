//! The functions of `libcufft.so`, as NVIDIA's manual and headers name and describe them.
//!
//! NVIDIA's library has machine code alone. Here a CPU computes the transforms, in double precision, and a call is a piece of work in
//! the stream of its plan: what it reads and writes is checked.
#![allow(non_snake_case)]
// The library's own functions have as many.
#![allow(clippy::too_many_arguments)]

mod compute;
mod execute;
mod make;
mod missing;
mod plan;
mod shape;
mod status;
mod types;

use crate::changed::Call;
use crate::runtime::error::answer_of_library;
use crate::status::Result;

macro_rules! library {
    ($($all:tt)*) => { $crate::call::functions! { $crate::fft::answer; $($all)* } };
}

use library;

/// Does a call. What goes wrong in this library itself is `CUFFT_INTERNAL_ERROR`.
fn answer(call: Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    answer_of_library(call, status::INTERNAL_ERROR, body)
}

/// Writes a result to where the program wants it.
fn put<T>(place: *mut T, value: T) -> Result {
    crate::call::put(place, value).map_err(|_| status::INVALID_VALUE)
}
