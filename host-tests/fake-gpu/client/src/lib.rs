//! The GPU `fake-gpu` for tests: where it is, what they ask of it and what they tell it. A test that opens it as its driver sets
//! `ptx_driver::DRIVER_VARIABLE` to [`library`], and what it pretends by the settings in `fake-gpu/src/faults.rs`.

use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;

use ptx_interpreter::{Delays, Finding, L1, Record};

/// Says which GPU it is: 90 for sm_90.
pub const SM_VARIABLE: &str = "PTX_CHECK_SM";

/// Set, it makes the GPU check each launch.
pub const CHECKS_VARIABLE: &str = "FAKE_CHECKS";

/// Names the file that findings go to.
pub const REPORT_VARIABLE: &str = "PTX_CHECK_REPORT";

/// The library, which cargo has compiled beside the tests.
pub fn library() -> PathBuf {
    let program = std::env::current_exe().expect("a test is a file");
    let library = program.with_file_name("libfake_gpu.so");
    assert!(library.is_file(), "cargo has not compiled {}", library.display());
    library
}

/// A function of the library.
///
/// # Safety
/// `F` is its type.
unsafe fn function<F: Copy>(name: &CStr) -> F {
    let driver = ptx_driver::load().expect("a driver is open");
    // SAFETY: by this function's contract.
    unsafe { driver.symbol(name) }.unwrap_or_else(|| panic!("{} has no {name:?}", driver.path()))
}

/// The calls that arrived since this was last asked, with those of their arguments that are the same in each run.
pub fn calls() -> Vec<String> {
    // SAFETY: the library has this function, of this type, and gives a text that nobody else has.
    let text = unsafe { CString::from_raw(function::<extern "C" fn() -> *mut c_char>(c"fake_take_calls")()) };
    text.to_string_lossy().lines().map(str::to_owned).collect()
}

/// What was found in the launches of this process so far.
pub fn findings() -> Vec<Finding> {
    let report = std::env::var_os(REPORT_VARIABLE).expect("the file");
    let text = std::fs::read_to_string(report).unwrap_or_default();
    let records = text.lines().map(|line| serde_json::from_str::<Record>(line).expect("a record"));
    records.flat_map(|record| record.findings).collect()
}

/// From here on, launches run on a machine with this L1 and these delays.
pub fn on_machine(l1: L1, delays: Delays) {
    // SAFETY: the library has this function, of this type.
    let set = unsafe { function::<extern "C" fn(usize, usize)>(c"fake_set_machine") };
    set(l1 as usize, delays as usize);
}

/// A GPU as new, after a kernel has failed.
pub fn forget_fault() {
    // SAFETY: the driver has this function, of this type.
    let reset = unsafe { function::<extern "C" fn(i32) -> u32>(c"cuDevicePrimaryCtxReset_v2") };
    assert_eq!(reset(0), 0, "the GPU cannot be reset");
}

/// Bytes of device memory in use, those of loaded modules too.
pub fn bytes_in_use() -> usize {
    // SAFETY: the driver has this function, of this type.
    let ask = unsafe { function::<unsafe extern "C" fn(*mut usize, *mut usize) -> u32>(c"cuMemGetInfo_v2") };
    let (mut free, mut all) = (0, 0);
    // SAFETY: both places are writable.
    assert_eq!(unsafe { ask(&mut free, &mut all) }, 0, "the driver does not say");
    all - free
}
