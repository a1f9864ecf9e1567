//! How the driver misbehaves, if it is told to. A setting names a kernel; or texts, kernels or calls, each followed by `=`
//! and what happens to it, separated by commas:
//!
//! | Setting | What the driver does |
//! | --- | --- |
//! | `FAKE_REFUSE=TEXT=CODE` | refuses the images that have the text |
//! | `FAKE_PARAMETERS=0` | knows no parameters of a kernel |
//! | `FAKE_HANG=KERNEL` | never ends the kernel |
//! | `FAKE_FAULT=KERNEL=CODE` | ends the kernel with the code, and every later call too |
//! | `FAKE_LAUNCH=KERNEL=CODE` | refuses the launch, and that alone |
//! | `FAKE_DISAPPEAR=KERNEL` | ends the process at the launch, by a signal |
//! | `FAKE_LEAVE=KERNEL` | ends the process at the launch as if all were done |
//! | `FAKE_STALL=CALL=TEXT` | never returns from that call: of an image that has the text, or of a copy after that kernel |
//! | `FAKE_LATE=1` | returns from a copy to the GPU before the bytes are there. They come with the next call that waits for them |

use std::ffi::CStr;
use std::sync::Mutex;

/// Copies that are on their way: where to, and what.
static LATE: Mutex<Vec<(u64, Vec<u8>)>> = Mutex::new(Vec::new());

/// The kernel that was launched last.
static LAUNCHED: Mutex<String> = Mutex::new(String::new());

unsafe extern "C" {
    fn _exit(code: i32) -> !;
}

/// Of the entries of a setting, what the first one says that is so.
fn said_of(setting: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let text = std::env::var(setting).ok()?;
    let entries = text.split(',').map(|entry| entry.rsplit_once('=').expect("an entry has two parts"));
    entries.into_iter().find(|(what, _)| is_it(what)).map(|(_, said)| said.to_owned())
}

/// The code of the first entry of a setting that is so.
pub(super) fn code_of(setting: &str, is_it: impl Fn(&str) -> bool) -> Option<u32> {
    said_of(setting, is_it).map(|code| code.parse().expect("a number"))
}

pub(super) fn names(setting: &str, kernel: &CStr) -> bool {
    std::env::var(setting).is_ok_and(|named| kernel.to_bytes() == named.as_bytes())
}

/// Never returns, if the setting names this call and what it is about.
pub(super) fn stall(call: &str, has: impl Fn(&str) -> bool) {
    while said_of("FAKE_STALL", |named| named == call).is_some_and(|text| has(&text)) {
        std::thread::park();
    }
}

pub(super) fn stall_after_kernel(call: &str) {
    stall(call, |kernel| *LAUNCHED.lock().unwrap() == kernel);
}

/// A kernel is launched.
pub(super) fn launched(kernel: &CStr) {
    *LAUNCHED.lock().unwrap() = kernel.to_string_lossy().into_owned();
    if names("FAKE_DISAPPEAR", kernel) {
        std::process::abort();
    }
    if names("FAKE_LEAVE", kernel) {
        unsafe { _exit(0) };
    }
}

/// Whether a copy is on its way from now on.
pub(super) unsafe fn is_late(to: u64, from: *const u8, bytes: usize) -> bool {
    let is_late = std::env::var_os("FAKE_LATE").is_some();
    if is_late {
        LATE.lock().unwrap().push((to, unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec()));
    }
    is_late
}

/// What is on its way arrives.
pub(super) fn land() {
    for (to, content) in LATE.lock().unwrap().drain(..) {
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), to as *mut u8, content.len()) };
    }
}
