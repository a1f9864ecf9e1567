//! The calls of the program that tests ask about, one to a line: the name, and of the arguments what is the same in each run.

use std::ffi::{CStr, CString, c_char};
use std::sync::Mutex;

use ptx_gpu::Call;

use crate::driver::{bytes_from, name_of};

static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The calls so far; the list starts anew. Whoever asks owns the text.
#[unsafe(no_mangle)]
extern "C" fn fake_take_calls() -> *mut c_char {
    let calls = std::mem::take(&mut *CALLS.lock().unwrap());
    CString::new(calls.join("\n")).unwrap_or_default().into_raw()
}

/// Writes a call down.
pub(crate) fn note(call: Call<'_>) {
    if let Some(said) = said(call) {
        let name = call.name.trim_end_matches("_v2");
        CALLS.lock().unwrap().push(format!("{name} {said}").trim_end().to_owned());
    }
}

fn said(Call { name, arguments }: Call<'_>) -> Option<String> {
    let number = |at: usize| arguments[at].to_string();
    // SAFETY: the program hands over a C string there.
    let text = |at: usize| unsafe { CStr::from_ptr(arguments[at] as *const c_char) }.to_string_lossy();
    Some(match name {
        "cuInit" => number(0),
        "cuDeviceGet" | "cuMemAlloc_v2" | "cuMemAllocHost_v2" => number(1),
        "cuMemcpyHtoD_v2" | "cuMemcpyHtoDAsync_v2" | "cuMemcpyDtoH_v2" | "cuMemcpyDtoDAsync_v2" => number(2),
        "cuTensorMapEncodeTiled" | "cuTensorMapEncodeIm2col" | "cuTensorMapEncodeIm2colWide" => number(2),
        "cuMemFree_v2" | "cuMemFreeHost" => bytes_from(arguments[0]).unwrap_or_default().to_string(),
        "cuMemsetD8_v2" | "cuMemsetD8Async" => format!("{:#04x} {}", arguments[1], arguments[2]),
        "cuModuleLoadDataEx" => text(1).len().to_string(),
        "cuModuleGetFunction" | "cuModuleGetGlobal_v2" => text(arguments.len() - 1).into_owned(),
        "cuCtxSetLimit" => format!("{} {}", arguments[0], arguments[1]),
        "cuCtxResetPersistingL2Cache" => String::new(),
        "cuLaunchKernel" => format!("{} {:?} {}", name_of(arguments[0]), &arguments[1..7], arguments[7]),
        _ => return None,
    })
}
