//! nvJitLink, which links machine code for programs: it gives PTX. Of what is compiled for its linker alone (`-lto`) it makes PTX itself, if
//! it is asked for that. All other PTX is linked here.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ptx_interpreter::link as linked;

use super::redirect::{Names, options_of};
use crate::driver::link::text_of;
use crate::settings::SETTINGS;

type Handle = *mut c_void;
type Texts = *const *const c_char;

/// The functions of the library, by their header.
#[derive(Clone, Copy)]
struct Own {
    create: unsafe extern "C" fn(*mut Handle, u32, Texts) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    add: unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int,
    add_file: unsafe extern "C" fn(Handle, c_int, *const c_char) -> c_int,
    complete: unsafe extern "C" fn(Handle) -> c_int,
    size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    give: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
    size_of_ptx: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    give_ptx: unsafe extern "C" fn(Handle, *mut c_void) -> c_int,
}

/// What a program links.
#[derive(Default)]
struct Link {
    /// Whether the library is asked for PTX.
    is_for_linker: bool,
    /// Whether the library was given something.
    has_more: bool,
    texts: Vec<String>,
    /// The linked PTX, up to a 0. There is none if the library has machine code.
    whole: Vec<u8>,
}

struct State {
    file: PathBuf,
    own: Own,
    links: HashMap<usize, Link>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// `NVJITLINK_INPUT_LTOIR`, `NVJITLINK_SUCCESS` and `NVJITLINK_ERROR_INTERNAL`
const FOR_LINKER: c_int = 4;
const SUCCESS: c_int = 0;
const INTERNAL: c_int = 6;
/// What machine code and texts may be read beyond their end.
const ROOM: [u8; 16] = [0; 16];

/// Lets its functions be those here, by all the names that they have. A second library in the process stays as it is.
pub(super) fn replace(names: &Names) -> Result<(), String> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    if state.as_ref().is_some_and(|state| state.file != names.file) {
        return Ok(());
    }
    // SAFETY: each is the function that the header has by this name.
    let Some(own) = (unsafe { own(names) }) else { return Ok(()) };
    *state = Some(State { file: names.file.clone(), own, links: HashMap::new() });
    let here = [
        ("Create", create as *const ()),
        ("Destroy", destroy as *const ()),
        ("AddData", add as *const ()),
        ("AddFile", add_file as *const ()),
        ("Complete", complete as *const ()),
        ("GetLinkedCubinSize", size as *const ()),
        ("GetLinkedCubin", give as *const ()),
    ];
    for (name, to) in here {
        names.redirect(&format!("nvJitLink{name}"), to as usize)?;
        let versions = format!("__nvJitLink{name}_");
        names.beginning_with(&versions).try_for_each(|name| names.redirect(name, to as usize))?;
    }
    Ok(())
}

/// # Safety
/// The functions are those of the header.
unsafe fn own(names: &Names) -> Option<Own> {
    // SAFETY: as above.
    unsafe {
        Some(Own {
            create: function(names, "Create")?,
            destroy: function(names, "Destroy")?,
            add: function(names, "AddData")?,
            add_file: function(names, "AddFile")?,
            complete: function(names, "Complete")?,
            size: function(names, "GetLinkedCubinSize")?,
            give: function(names, "GetLinkedCubin")?,
            size_of_ptx: function(names, "GetLinkedPtxSize")?,
            give_ptx: function(names, "GetLinkedPtx")?,
        })
    }
}

/// # Safety
/// The function has this type.
unsafe fn function<F: Copy>(names: &Names, name: &str) -> Option<F> {
    assert_eq!(size_of::<F>(), size_of::<usize>());
    let at = names.get(&format!("nvJitLink{name}"))?;
    // SAFETY: as above.
    Some(unsafe { std::mem::transmute_copy(&at) })
}

fn library() -> Option<Own> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|state| state.own)
}

/// Does something with what a program links, if that is linked here.
fn with<T>(handle: Handle, what: impl FnOnce(&mut Link) -> T) -> Option<T> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    state.as_mut()?.links.get_mut(&(handle as usize)).map(what)
}

/// Takes a text, if these bytes have one that is no work for the library.
fn take(handle: Handle, kind: c_int, content: &[u8]) -> bool {
    let text = || text_of(&[content, &ROOM].concat(), SETTINGS.sm).ok();
    with(handle, |link| {
        let text = if kind == FOR_LINKER { None } else { text() };
        link.has_more |= text.is_none();
        let is_taken = text.is_some();
        link.texts.extend(text);
        is_taken
    })
    .unwrap_or(false)
}

/// # Safety
/// The arguments are those of the library's function. So it is with all of these.
unsafe extern "C" fn create(handle: *mut Handle, count: u32, options: Texts) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    // SAFETY: there are as many options.
    let (mut all, words) = unsafe { options_of(options, count as usize) };
    let (is_for_linker, is_ptx) = (words.contains(&c"-lto"), words.contains(&c"-ptx"));
    if is_for_linker && !is_ptx {
        all.push(c"-ptx".as_ptr());
    }
    // SAFETY: as above.
    let status = unsafe { (own.create)(handle, all.len() as u32, all.as_ptr()) };
    if status == SUCCESS && !is_ptx {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the library has put it there.
        let handle = unsafe { *handle } as usize;
        state.iter_mut().for_each(|state| {
            state.links.insert(handle, Link { is_for_linker, ..Link::default() });
        });
    }
    status
}

/// # Safety
/// As above.
unsafe extern "C" fn destroy(handle: *mut Handle) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    // SAFETY: as above.
    let known = unsafe { handle.as_ref() }.map_or(0, |handle| *handle as usize);
    STATE.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(|state| {
        state.links.remove(&known);
    });
    // SAFETY: as above.
    unsafe { (own.destroy)(handle) }
}

/// # Safety
/// As above.
unsafe extern "C" fn add(handle: Handle, kind: c_int, data: *const c_void, bytes: usize, name: *const c_char) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    // SAFETY: as above.
    if !data.is_null() && take(handle, kind, unsafe { std::slice::from_raw_parts(data.cast(), bytes) }) {
        return SUCCESS;
    }
    // SAFETY: as above.
    unsafe { (own.add)(handle, kind, data, bytes, name) }
}

/// # Safety
/// As above.
unsafe extern "C" fn add_file(handle: Handle, kind: c_int, path: *const c_char) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    // SAFETY: as above.
    let content = unsafe { CStr::from_ptr(path) }.to_str().ok().and_then(|path| std::fs::read(path).ok());
    if content.is_some_and(|content| take(handle, kind, &content)) {
        return SUCCESS;
    }
    // SAFETY: as above.
    unsafe { (own.add_file)(handle, kind, path) }
}

/// # Safety
/// As above.
unsafe extern "C" fn complete(handle: Handle) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    let has_more = with(handle, |link| link.has_more).unwrap_or(true);
    // SAFETY: as above.
    let status = if has_more { unsafe { (own.complete)(handle) } } else { SUCCESS };
    // SAFETY: as above.
    let more = (status == SUCCESS && has_more).then(|| unsafe { ptx_of(own, handle) }).flatten();
    with(handle, |link| {
        if has_more && !link.is_for_linker {
            return;
        }
        link.texts.extend(more);
        link.whole = (linked(&link.texts) + "\0").into_bytes();
    });
    status
}

/// The PTX that the library has made.
///
/// # Safety
/// As above.
unsafe fn ptx_of(own: Own, handle: Handle) -> Option<String> {
    let mut size = 0;
    // SAFETY: as above.
    if unsafe { (own.size_of_ptx)(handle, &raw mut size) } != SUCCESS {
        return None;
    }
    let mut text = vec![0u8; size + 1];
    // SAFETY: the text has room for its size.
    let status = unsafe { (own.give_ptx)(handle, text.as_mut_ptr().cast()) };
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    (status == SUCCESS).then(|| text.to_string_lossy().into_owned())
}

/// # Safety
/// As above.
unsafe extern "C" fn size(handle: Handle, to: *mut usize) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    match with(handle, |link| link.whole.len()).filter(|bytes| *bytes > 0 && !to.is_null()) {
        // SAFETY: as above.
        Some(bytes) => unsafe { to.write(bytes) },
        // SAFETY: as above.
        None => return unsafe { (own.size)(handle, to) },
    }
    SUCCESS
}

/// # Safety
/// As above.
unsafe extern "C" fn give(handle: Handle, to: *mut c_void) -> c_int {
    let Some(own) = library() else { return INTERNAL };
    match with(handle, |link| link.whole.clone()).filter(|whole| !whole.is_empty() && !to.is_null()) {
        // SAFETY: as above; the program has asked for the size.
        Some(whole) => unsafe { to.cast::<u8>().copy_from_nonoverlapping(whole.as_ptr(), whole.len()) },
        // SAFETY: as above.
        None => return unsafe { (own.give)(handle, to) },
    }
    SUCCESS
}
