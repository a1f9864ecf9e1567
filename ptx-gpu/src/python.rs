//! Where a program in Python is.

use std::ffi::{CStr, c_char, c_int, c_void};

type Object = *mut c_void;

/// Folders of other people's files.
const LIBRARIES: [&str; 2] = ["/site-packages/", "/dist-packages/"];

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
/// Python.
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
    let frame: extern "C" fn() -> Object = function(c"PyEval_GetFrame")?;
    let caller: extern "C" fn(Object) -> Object = function(c"PyFrame_GetBack")?;
    let line: extern "C" fn(Object) -> c_int = function(c"PyFrame_GetLineNumber")?;
    let code: extern "C" fn(Object) -> Object = function(c"PyFrame_GetCode")?;
    let mut first = None;
    // Frames that were asked for are never given back. There are few, and their functions are under way.
    let frames = std::iter::successors(Some(frame()), |frame| Some(caller(*frame)));
    for frame in frames.take_while(|frame| !frame.is_null()) {
        let code = code(frame);
        let file = text_of(code, c"co_filename")?;
        let is_own = !LIBRARIES.iter().any(|folder| file.contains(folder));
        let place = (text_of(code, c"co_name")?, (file, line(frame).max(0) as u32));
        if is_own {
            return Some(place);
        }
        first.get_or_insert(place);
    }
    first
}

fn text_of(object: Object, name: &CStr) -> Option<String> {
    let attribute: extern "C" fn(Object, *const c_char) -> Object = function(c"PyObject_GetAttrString")?;
    let text: extern "C" fn(Object) -> *const c_char = function(c"PyUnicode_AsUTF8")?;
    let value = attribute(object, name.as_ptr());
    if value.is_null() {
        return None;
    }
    let text = text(value);
    // SAFETY: Python's texts end with a zero, and live as long as their object, which is not given back.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
