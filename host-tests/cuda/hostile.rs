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
//! | `FAKE_FLIP=KERNEL` | changes a bit where the kernel's last argument points to, after it ran |
//! | `FAKE_DISAPPEAR=KERNEL` | ends the process at the launch, by a signal |
//! | `FAKE_LEAVE=KERNEL` | ends the process at the launch as if all were done |
//! | `FAKE_STALL=CALL=TEXT` | never returns from that call: of an image that has the text, or of a copy after that kernel |
//! | `FAKE_LATE=1` | lets a copy or a fill take effect no earlier than the next thing on its stream; new memory is not zeros |
//! | `FAKE_CARVE_OUT=0` | does not take the part of L1 that is to be shared memory |
//! | `FAKE_MICROSECONDS=N` | says by its events that each launch takes so long |

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

type Late = Box<dyn FnOnce() + Send>;

/// Copies and fills that have not taken effect yet, in their order, by the stream that they are on.
static LATE: Mutex<BTreeMap<usize, Vec<Late>>> = Mutex::new(BTreeMap::new());

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

/// The stream that every stream waits for, but for one that was made not to.
pub(super) const LEGACY: *mut c_void = std::ptr::null_mut();

/// `CU_STREAM_NON_BLOCKING`, which the handle of such a stream has.
const NON_BLOCKING: usize = 1;

/// The stream whose order work on a stream is in.
fn order_of(stream: *mut c_void) -> usize {
    if stream as usize & NON_BLOCKING == 0 { LEGACY as usize } else { stream as usize }
}

/// Whether copies come late.
pub(super) fn is_late() -> bool {
    std::env::var_os("FAKE_LATE").is_some()
}

/// Does to memory what a copy or a fill does: at once, or when the next thing on its stream begins.
pub(super) fn take_effect(stream: *mut c_void, effect: impl FnOnce() + Send + 'static) {
    if !is_late() {
        return effect();
    }
    arrive(stream);
    LATE.lock().unwrap().entry(order_of(stream)).or_default().push(Box::new(effect));
}

/// What was late on a stream is there.
pub(super) fn arrive(stream: *mut c_void) {
    let late = LATE.lock().unwrap().remove(&order_of(stream));
    late.into_iter().flatten().for_each(|effect| effect());
}

/// What was late on any stream is there.
pub(super) fn all_arrive() {
    let late = std::mem::take(&mut *LATE.lock().unwrap());
    late.into_values().flatten().for_each(|effect| effect());
}
