//! The faults that a test can switch on. Each is a setting in the environment. Its value is a kernel, or a list with commas: each part
//! has a kernel, a call or a text, then `=`, then what happens to it.
//!
//! | Setting | What happens |
//! | --- | --- |
//! | `FAKE_FAIL=CALL=CODE` | the call fails with the code |
//! | `FAKE_REFUSE=TEXT=CODE` | an image that has the text is refused |
//! | `FAKE_LAUNCH=KERNEL=CODE` | the launch is refused, and that alone |
//! | `FAKE_FAULT=KERNEL=CODE` | the kernel ends with the code, and every later call too |
//! | `FAKE_HANG=KERNEL` | the kernel never ends |
//! | `FAKE_IDLE=1` | kernels do nothing |
//! | `FAKE_FLIP=KERNEL` | a bit is changed where the kernel's last argument points to, after it ran |
//! | `FAKE_DISAPPEAR=KERNEL` | the process ends at the launch, by a signal |
//! | `FAKE_LEAVE=KERNEL` | the process ends at the launch as if all were done |
//! | `FAKE_STALL=CALL=TEXT` | that call never returns: of an image that has the text, or of a copy after that kernel |
//! | `FAKE_CARVE_OUT=0` | the driver does not take the part of L1 that is to be shared memory |
//! | `FAKE_LATE=1` | copies come late: `late.rs` |
//! | `FAKE_VERSION=N`, `FAKE_DEVICES=N`, `FAKE_MICROSECONDS=N` | the driver's version, how many GPUs it has, how long a launch takes |

use std::ffi::{CStr, c_char};
use std::sync::Mutex;

use ptx_gpu::{Call, fail};

use crate::driver::{SUCCESS, name_of, parameters_of};
use crate::settings::{code_of, of, said_of};

const NOT_READY: u32 = 600;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`
const CARVE_OUT: u64 = 9;

/// The kernel that was launched last.
static LAUNCHED: Mutex<String> = Mutex::new(String::new());

unsafe extern "C" {
    fn _exit(code: i32) -> !;
}

/// What is returned in the place of a call, if it is not made.
pub(crate) fn instead(Call { name, arguments }: Call<'_>) -> Option<u32> {
    if let Some(code) = code_of("FAKE_FAIL", |call| call == name) {
        return Some(code);
    }
    match name {
        "cuModuleLoadDataEx" => {
            // SAFETY: the program hands over an image, which is a text or begins as one.
            let image = unsafe { CStr::from_ptr(arguments[1] as *const c_char) }.to_string_lossy();
            stall(name, |text| image.contains(text));
            code_of("FAKE_REFUSE", |text| image.contains(text))
        }
        "cuMemcpyHtoD_v2" | "cuMemcpyDtoH_v2" => {
            stall(name.trim_end_matches("_v2"), |kernel| *LAUNCHED.lock().unwrap() == kernel);
            None
        }
        "cuFuncSetAttribute" if arguments[1] == CARVE_OUT && of("FAKE_CARVE_OUT") == Some("0") => Some(SUCCESS),
        "cuLaunchKernel" => launched(&name_of(arguments[0])),
        _ => None,
    }
}

/// Never returns, if the setting names this call and what it is about.
fn stall(call: &str, is_about: impl Fn(&str) -> bool) {
    while said_of("FAKE_STALL", |named| named == call).is_some_and(&is_about) {
        std::thread::park();
    }
}

/// A kernel is launched.
fn launched(kernel: &str) -> Option<u32> {
    kernel.clone_into(&mut LAUNCHED.lock().unwrap());
    let is_named = |setting: &str| of(setting) == Some(kernel);
    if is_named("FAKE_DISAPPEAR") {
        std::process::abort();
    }
    if is_named("FAKE_LEAVE") {
        // SAFETY: it ends the process, whatever state that is in.
        unsafe { _exit(0) };
    }
    if let Some(code) = code_of("FAKE_LAUNCH", |named| named == kernel) {
        return Some(code);
    }
    let hangs = is_named("FAKE_HANG").then_some(NOT_READY);
    if let Some(code) = hangs.or_else(|| code_of("FAKE_FAULT", |named| named == kernel)) {
        fail(code);
        return Some(SUCCESS);
    }
    of("FAKE_IDLE").map(|_| SUCCESS)
}

/// A call has been made.
pub(crate) fn after(Call { name, arguments }: Call<'_>) {
    if name == "cuLaunchKernel"
        && of("FAKE_FLIP").is_some_and(|kernels| kernels.split(',').any(|kernel| kernel == name_of(arguments[0])))
    {
        let last = parameters_of(arguments[0]).checked_sub(1).expect("the kernel has parameters");
        // SAFETY: the last argument of the kernel is a pointer to device memory.
        unsafe { **(*(arguments[9] as *const *const *mut u8).add(last)) ^= 1 };
    }
}
