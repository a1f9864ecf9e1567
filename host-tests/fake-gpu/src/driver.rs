//! The driver below: what its calls return, and those that this library makes by itself.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    fn cuFuncGetName(name: *mut *const c_char, function: usize) -> u32;
    fn cuFuncGetParamCount(function: usize, count: *mut usize) -> u32;
    fn cuMemGetAddressRange_v2(begin: *mut u64, bytes: *mut usize, address: u64) -> u32;
    fn cuStreamGetFlags(stream: usize, flags: *mut u32) -> u32;
}

/// What makes a call of the program.
pub(crate) type Body<'a> = Box<dyn FnOnce() -> u32 + 'a>;

/// A call that returned this has done what it should.
pub(crate) const SUCCESS: u32 = 0;

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

/// The name of a kernel.
pub(crate) fn name_of(function: u64) -> String {
    let mut name = std::ptr::null();
    // SAFETY: the place is writable, and a name is a C string that stays.
    unsafe {
        cuFuncGetName(&mut name, function as usize);
        if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
    }
}

/// How many parameters a kernel has.
pub(crate) fn parameters_of(function: u64) -> usize {
    let mut count = 0;
    // SAFETY: the place is writable.
    unsafe { cuFuncGetParamCount(function as usize, &mut count) };
    count
}

/// The bytes of device memory from an address to the end of its allocation.
pub(crate) fn bytes_from(address: u64) -> Option<usize> {
    let (mut begin, mut bytes) = (0, 0);
    // SAFETY: the places are writable.
    let status = unsafe { cuMemGetAddressRange_v2(&mut begin, &mut bytes, address) };
    (status == SUCCESS).then(|| bytes - (address - begin) as usize)
}

/// Whether a stream waits for no other.
pub(crate) fn is_alone(stream: u64) -> bool {
    let mut flags = 0;
    // SAFETY: the place is writable.
    unsafe { cuStreamGetFlags(stream as usize, &mut flags) };
    flags & NON_BLOCKING != 0
}
