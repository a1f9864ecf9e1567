//! The functions of `libcurand.so`, as NVIDIA's manual and headers name and describe them.
//!
//! NVIDIA's library has machine code alone. Here a CPU draws the numbers, and a call is a piece of work in the stream of its
//! generator. Numbers have the distribution that a call asks for, and a seed gives the same ones each time; they are not those of
//! NVIDIA's library.
#![allow(non_snake_case)]

mod generator;
mod missing;
mod numbers;
mod status;

use crate::changed::Call;
use crate::runtime::error::answer_of_library;
use crate::status::Result;

macro_rules! library {
    ($($all:tt)*) => { $crate::call::functions! { $crate::rand::answer; $($all)* } };
}

use library;

/// Does a call. What goes wrong in this library itself is `CURAND_STATUS_INTERNAL_ERROR`.
fn answer(call: Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    answer_of_library(call, status::INTERNAL_ERROR, body)
}
