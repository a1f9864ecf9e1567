//! Dynamic shared memory of more than 48 KiB.

use std::ffi::c_void;

use ptx_driver::{Driver, NOT_FOUND};

/// What every kernel may have.
const ALWAYS: u32 = 48 << 10;

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
const MAX_DYNAMIC_SHARED: u32 = 8;

/// Lets a kernel have so much dynamic shared memory: the driver's answer.
///
/// # Safety
/// `function` is a kernel of a loaded module.
pub unsafe fn allow(driver: &Driver, function: *mut c_void, bytes: u32) -> u32 {
    type SetAttribute = unsafe extern "C" fn(*mut c_void, u32, i32) -> u32;
    if bytes <= ALWAYS {
        return 0;
    }
    // SAFETY: this is the type of cuFuncSetAttribute, and the function is the caller's.
    unsafe {
        driver
            .symbol::<SetAttribute>(c"cuFuncSetAttribute")
            .map_or(NOT_FOUND, |set| set(function, MAX_DYNAMIC_SHARED, bytes as i32))
    }
}
