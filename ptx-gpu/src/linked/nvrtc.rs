//! NVRTC, which compiles CUDA C++ for programs: its PTX, with lines of the source, in the place of machine code.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::jump::jump;
use super::redirect::{Names, options_of};

/// What it is asked for, and what it gives.
const GIVES: [(&str, &str); 2] = [("nvrtcGetCUBINSize", "nvrtcGetPTXSize"), ("nvrtcGetCUBIN", "nvrtcGetPTX")];
const COMPILE: &str = "nvrtcCompileProgram";
/// Options that ask for lines.
const LINES: [&CStr; 4] = [c"-lineinfo", c"--generate-line-info", c"-G", c"--device-debug"];

type Compile = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;

/// The library that the program has, and its own function.
static OWN: Mutex<Option<(PathBuf, Compile)>> = Mutex::new(None);

/// Lets it give its PTX where it is asked for machine code. A second one in the process compiles as it is told.
pub(super) fn replace(functions: &[(&str, usize)], names: &Names) -> Result<(), String> {
    let has_room = |wanted: &str| functions.iter().any(|(name, _)| *name == wanted);
    for (machine_code, ptx) in GIVES.into_iter().filter(|(machine_code, _)| has_room(machine_code)) {
        if let (Some(at), Some(to)) = (names.get(machine_code), names.get(ptx)) {
            // SAFETY: as in `replace` of all others; both functions have the same arguments.
            unsafe { jump(at, to) }?;
        }
    }
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(COMPILE) {
        Some(at) if own.as_ref().is_none_or(|(file, _)| *file == names.file) => {
            // SAFETY: it is this function of NVRTC.
            *own = Some((names.file.clone(), unsafe { std::mem::transmute::<usize, Compile>(at) }));
            names.redirect(COMPILE, compile as *const () as usize)
        }
        _ => Ok(()),
    }
}

/// # Safety
/// The arguments are NVRTC's.
unsafe extern "C" fn compile(program: *mut c_void, count: c_int, options: *const *const c_char) -> c_int {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(_, own)| *own);
    // SAFETY: as above; it is called by this name alone, which leads here since the other one is known.
    let own = unsafe { own.unwrap_unchecked() };
    // SAFETY: there are as many options.
    let (mut all, words) = unsafe { options_of(options, count.max(0) as usize) };
    if !words.iter().any(|word| LINES.contains(word)) {
        all.push(c"-lineinfo".as_ptr());
    }
    // SAFETY: the arguments are those that it takes.
    unsafe { own(program, all.len() as c_int, all.as_ptr()) }
}
