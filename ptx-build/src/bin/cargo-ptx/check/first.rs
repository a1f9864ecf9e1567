//! What the loader loads before a program that `cargo ptx check` runs. It has no function that could take the place of another by its
//! name. It opens the library that stands for the driver, and that sees to the rest.
#![no_std]

use core::ffi::{CStr, c_char, c_int, c_void};

const VARIABLE: &CStr = c"PTX_CHECK_OPENS";
const RTLD_NOW: c_int = 2;

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    // SAFETY: the names end with a zero, and no other thread changes the environment yet.
    unsafe {
        let file = getenv(VARIABLE.as_ptr());
        if !file.is_null() {
            dlopen(file, RTLD_NOW);
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
