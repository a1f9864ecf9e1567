//! What a call of the runtime returns, and the last of a thread that failed.

use std::cell::Cell;
use std::ffi::{CStr, c_char};

use crate::changed::Call;
use crate::gpu::{any, contexts, current};
use crate::output;
use crate::status::{Result, Status};

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Errors that the driver has not: `cudaErrorInvalidConfiguration` and so on.
pub(super) const INVALID_CONFIGURATION: Status = Status(9);
pub(super) const INVALID_PITCH: Status = Status(12);
pub(super) const INVALID_SYMBOL: Status = Status(13);
pub(super) const INVALID_CHANNELS: Status = Status(20);
pub(super) const INVALID_DIRECTION: Status = Status(21);
pub(super) const INVALID_FILTER: Status = Status(26);
pub(super) const INVALID_NORM: Status = Status(27);
pub(super) const INVALID_DEVICE_FUNCTION: Status = Status(98);

/// As [`crate::call::functions`]; the thread remembers an error.
macro_rules! runtime {
    ($($all:tt)*) => { $crate::call::functions! { $crate::runtime::error::answer; $($all)* } };
}

/// Calls of the runtime that are calls of the driver by another name.
macro_rules! forward {
    ($($(#[$kind:ident $($others:tt)?])* $name:ident ($($argument:ident: $type:ty),* $(,)?) => $driver:path, $($given:expr),*;)*) => {
        $crate::runtime::error::runtime! {$(
            $(#[$kind $($others)?])* fn $name($($argument: $type),*) {
                $crate::runtime::error::of($driver($($given),*))
            }
        )*}
    };
}

pub(super) use {forward, runtime};

pub(super) fn answer(call: Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    let status = crate::call::answer(call, || {
        ready();
        body()
    });
    remember(status)
}

/// Does a call of another library. What goes wrong in this library itself is the status that `internal` says.
pub(crate) fn answer_of_library(call: Call<'_>, internal: Status, body: impl FnOnce() -> Result) -> u32 {
    let code = crate::call::answer(call, || {
        ready();
        body()
    });
    if code == crate::status::UNKNOWN.0 { internal.0 } else { code }
}

pub(super) fn remember(status: u32) -> u32 {
    // That something is not finished is no error.
    if status != 0 && status != 600 {
        LAST.set(status);
    }
    status
}

/// What a call of the driver returned, as an error if it is one.
pub(super) fn of(status: u32) -> Result {
    if status == 0 { Ok(()) } else { Err(Status(status)) }
}

/// The runtime begins the driver, retains the first GPU's primary context, and uses it in a thread that has none.
pub(super) fn ready() {
    let mut gpu = any();
    if !std::mem::replace(&mut gpu.is_initialized, true) {
        output::begin();
    }
    if current() != 0 {
        return;
    }
    if let Some(first) = gpu.gpus.first_mut() {
        first.retained = first.retained.max(1);
        contexts(|all| all.push(first.primary));
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> u32 {
    let fault = any().fault.map_or(0, |fault| fault.0);
    let last = LAST.replace(0);
    if fault != 0 { fault } else { last }
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> u32 {
    let fault = any().fault.map_or(0, |fault| fault.0);
    if fault != 0 { fault } else { LAST.get() }
}

/// What the runtime says of a number that is no error of its own.
const UNKNOWN: &CStr = c"unrecognized error code";

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    let name = Status(code).words().and_then(|words| words.runtime.as_deref());
    name.unwrap_or(UNKNOWN).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    let words = Status(code).words().filter(|words| words.runtime.is_some());
    words.map_or(UNKNOWN, |words| &words.text).as_ptr()
}
