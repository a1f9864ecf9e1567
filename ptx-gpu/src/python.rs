//! Where a program in Python is.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::Duration;

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
/// Python, or if nobody can look within [`PATIENCE`].
pub(crate) fn place() -> Option<Place> {
    let of_thread: extern "C" fn() -> Object = function(c"PyGILState_GetThisThreadState")?;
    let has_lock: extern "C" fn() -> c_int = function(c"PyGILState_Check")?;
    let thread = of_thread();
    match thread.is_null() {
        true => None,
        false if has_lock() != 0 => place_of(thread),
        false if is_ending() => None,
        false => asked(thread),
    }
}

/// Whether the interpreter ends: then no other thread gets its lock any more.
fn is_ending() -> bool {
    let told: Option<extern "C" fn() -> c_int> = function(c"Py_IsFinalizing").or_else(|| function(c"_Py_IsFinalizing"));
    told.is_some_and(|told| told() != 0)
}

/// How long a thread waits for the interpreter's lock. Its owner may wait for a lock that this thread has: PyTorch's, around its memory.
const PATIENCE: Duration = Duration::from_millis(100);

/// Another thread looks where this one is.
struct Question {
    /// Its state, as an address.
    thread: usize,
    answer: Mutex<Answer>,
    is_answered: Condvar,
}

enum Answer {
    Open,
    /// Nobody waits for it any more.
    GivenUp,
    Place(Option<Place>),
}

/// This thread does not have the interpreter's lock.
fn asked(thread: Object) -> Option<Place> {
    static ASKED: LazyLock<Mutex<Sender<Arc<Question>>>> = LazyLock::new(|| {
        let (asked, questions) = channel();
        let (mut thread, questions) = (0, Box::into_raw(Box::new(questions)));
        // SAFETY: the two types of functions are called alike.
        let as_of_c: extern "C" fn(*mut c_void) -> *mut c_void =
            unsafe { std::mem::transmute(answer as extern "C-unwind" fn(*mut c_void) -> *mut c_void) };
        // SAFETY: the thread alone uses the questions, which are never dropped.
        unsafe { libc::pthread_create(&mut thread, std::ptr::null(), as_of_c, questions.cast()) };
        Mutex::new(asked)
    });
    let question = Arc::new(Question {
        thread: thread.expose_provenance(),
        answer: Mutex::new(Answer::Open),
        is_answered: Condvar::new(),
    });
    ASKED.lock().unwrap_or_else(PoisonError::into_inner).send(Arc::clone(&question)).ok()?;
    let answer = question.answer.lock().unwrap_or_else(PoisonError::into_inner);
    let is_open = |answer: &mut Answer| matches!(answer, Answer::Open);
    let (mut answer, _) =
        question.is_answered.wait_timeout_while(answer, PATIENCE, is_open).unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *answer, Answer::GivenUp) {
        Answer::Place(place) => place,
        Answer::Open | Answer::GivenUp => None,
    }
}

/// Answers each question. An interpreter that ends also ends the threads that wait for its lock: `pthread_exit` unwinds them. A thread
/// of Rust's library would catch that, and the process would abort. Nothing here may need to be dropped meanwhile.
extern "C-unwind" fn answer(questions: *mut c_void) -> *mut c_void {
    let lock: Option<extern "C-unwind" fn() -> c_int> = function(c"PyGILState_Ensure");
    let unlock: Option<extern "C" fn(c_int)> = function(c"PyGILState_Release");
    let (Some(lock), Some(unlock)) = (lock, unlock) else { return null_mut() };
    // SAFETY: `asked` made them for this thread.
    let questions = unsafe { &*questions.cast::<Receiver<Arc<Question>>>() };
    while let Ok(question) = questions.recv() {
        let question = Arc::into_raw(question);
        let before = lock();
        // SAFETY: it is that of above.
        let question = unsafe { Arc::from_raw(question) };
        question.settle();
        unlock(before);
        question.is_answered.notify_one();
    }
    null_mut()
}

impl Question {
    /// The thread that asks stands still as long as the answer is open. The interpreter is locked.
    fn settle(&self) {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*answer, Answer::Open) {
            *answer = Answer::Place(place_of(std::ptr::with_exposed_provenance_mut(self.thread)));
        }
    }
}

/// Of a thread that stands still. The interpreter is locked.
fn place_of(thread: Object) -> Option<Place> {
    let innermost: extern "C" fn(Object) -> Object = function(c"PyThreadState_GetFrame")?;
    let caller: extern "C" fn(Object) -> Object = function(c"PyFrame_GetBack")?;
    let give_back: extern "C" fn(Object) = function(c"Py_DecRef")?;
    let (mut first, mut frame) = (None, innermost(thread));
    while !frame.is_null() {
        let place = place_in(frame, give_back);
        let next = caller(frame);
        give_back(frame);
        let place = place?;
        if !LIBRARIES.iter().any(|folder| place.1.0.contains(folder)) {
            give_back(next);
            return Some(place);
        }
        first.get_or_insert(place);
        frame = next;
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
