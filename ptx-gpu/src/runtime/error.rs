//! What a call of the runtime returns, and the last of a thread that failed.

use std::cell::Cell;
use std::ffi::{CStr, c_char};

use crate::changed::Call;
use crate::gpu::{any, contexts, current};
use crate::status::{Result, Status};

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// `cudaErrorInvalidConfiguration`, `cudaErrorInvalidSymbol` and `cudaErrorInvalidDeviceFunction`, which the driver has not.
pub(super) const INVALID_CONFIGURATION: Status = Status(9);
pub(super) const INVALID_SYMBOL: Status = Status(13);
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

/// The runtime begins the driver, and uses the primary context of a thread that has none.
pub(super) fn ready() {
    let primary = {
        let mut gpu = any();
        gpu.is_initialized = true;
        gpu.primary.0
    };
    if current() == 0 {
        contexts(|all| all.push(primary));
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

fn name(code: u32) -> &'static CStr {
    match code {
        0 => c"cudaSuccess",
        1 => c"cudaErrorInvalidValue",
        2 => c"cudaErrorMemoryAllocation",
        3 => c"cudaErrorInitializationError",
        9 => c"cudaErrorInvalidConfiguration",
        13 => c"cudaErrorInvalidSymbol",
        98 => c"cudaErrorInvalidDeviceFunction",
        100 => c"cudaErrorNoDevice",
        101 => c"cudaErrorInvalidDevice",
        200 => c"cudaErrorInvalidKernelImage",
        201 => c"cudaErrorDeviceUninitialized",
        209 => c"cudaErrorNoKernelImageForDevice",
        218 => c"cudaErrorInvalidPtx",
        400 => c"cudaErrorInvalidResourceHandle",
        401 => c"cudaErrorIllegalState",
        500 => c"cudaErrorSymbolNotFound",
        600 => c"cudaErrorNotReady",
        700 => c"cudaErrorIllegalAddress",
        701 => c"cudaErrorLaunchOutOfResources",
        702 => c"cudaErrorLaunchTimeout",
        710 => c"cudaErrorAssert",
        716 => c"cudaErrorMisalignedAddress",
        719 => c"cudaErrorLaunchFailure",
        720 => c"cudaErrorCooperativeLaunchTooLarge",
        801 => c"cudaErrorNotSupported",
        900 => c"cudaErrorStreamCaptureUnsupported",
        901 => c"cudaErrorStreamCaptureInvalidated",
        902 => c"cudaErrorStreamCaptureMerge",
        903 => c"cudaErrorStreamCaptureUnmatched",
        904 => c"cudaErrorStreamCaptureUnjoined",
        905 => c"cudaErrorStreamCaptureIsolation",
        906 => c"cudaErrorStreamCaptureImplicit",
        907 => c"cudaErrorCapturedEvent",
        908 => c"cudaErrorStreamCaptureWrongThread",
        910 => c"cudaErrorGraphExecUpdateFailure",
        912 => c"cudaErrorInvalidClusterSize",
        999 => c"cudaErrorUnknown",
        _ => c"unrecognized error code",
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: u32) -> *const c_char {
    name(code).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(code: u32) -> *const c_char {
    match code {
        9 => c"invalid configuration argument",
        13 => c"invalid device symbol",
        98 => c"invalid device function",
        _ => Status(code).words().map_or(c"unrecognized error code", |(_, words)| words),
    }
    .as_ptr()
}
