//! Where a program in Python is.

use std::ffi::{CStr, c_char, c_int, c_void};

type Object = *mut c_void;

/// Parts of the names of files that are not of the program.
const LIBRARIES: [&str; 3] = ["/site-packages/", "/dist-packages/", "/ptx_check_torch.py"];

/// A function, a file and a line.
pub(crate) type Place = (String, (String, u32));

/// A function of the interpreter, if the process has one.
fn function<F: Copy>(name: &CStr) -> Option<F> {
    assert_eq!(size_of::<F>(), size_of::<usize>());
    // SAFETY: the name ends with a zero.
    let place = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: each caller names the type that Python's documents give the function.
    (!place.is_null()).then(|| unsafe { std::mem::transmute_copy(&place) })
}

/// The function, the file and the line that this thread executes, in the first file that is of no library. None if it executes no
/// Python. It waits for the interpreter's lock, whose owner may wait for the driver's: this thread must not have that.
pub(crate) fn place() -> Option<Place> {
    let of_thread: extern "C" fn() -> Object = function(c"PyGILState_GetThisThreadState")?;
    if of_thread().is_null() {
        return None;
    }
    let lock: extern "C" fn() -> c_int = function(c"PyGILState_Ensure")?;
    let unlock: extern "C" fn(c_int) = function(c"PyGILState_Release")?;
    let before = lock();
    let place = place_of_frame();
    unlock(before);
    place
}

/// The interpreter is locked.
fn place_of_frame() -> Option<Place> {
    let innermost: extern "C" fn() -> Object = function(c"PyEval_GetFrame")?;
    let caller: extern "C" fn(Object) -> Object = function(c"PyFrame_GetBack")?;
    let give_back: extern "C" fn(Object) = function(c"Py_DecRef")?;
    let (mut first, mut frame, mut is_borrowed) = (None, innermost(), true);
    while !frame.is_null() {
        let place = place_in(frame, give_back)?;
        let next = caller(frame);
        if !is_borrowed {
            give_back(frame);
        }
        if !LIBRARIES.iter().any(|folder| place.1.0.contains(folder)) {
            give_back(next);
            return Some(place);
        }
        first.get_or_insert(place);
        (frame, is_borrowed) = (next, false);
    }
    first
}

fn place_in(frame: Object, give_back: extern "C" fn(Object)) -> Option<Place> {
    let line: extern "C" fn(Object) -> c_int = function(c"PyFrame_GetLineNumber")?;
    let code: extern "C" fn(Object) -> Object = function(c"PyFrame_GetCode")?;
    let code = code(frame);
    let names = [c"co_name", c"co_filename"].map(|name| text_of(code, name, give_back));
    give_back(code);
    let [name, file] = names;
    Some((name?, (file?, line(frame).max(0) as u32)))
}

fn text_of(object: Object, name: &CStr, give_back: extern "C" fn(Object)) -> Option<String> {
    let attribute: extern "C" fn(Object, *const c_char) -> Object = function(c"PyObject_GetAttrString")?;
    let text: extern "C" fn(Object) -> *const c_char = function(c"PyUnicode_AsUTF8")?;
    let value = attribute(object, name.as_ptr());
    if value.is_null() {
        return None;
    }
    let text = text(value);
    // SAFETY: Python's texts end with a zero, and live as long as their object.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
    give_back(value);
    text
}
