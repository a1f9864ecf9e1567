//! What the loader brings into the process: the program and its libraries, and later each library that is opened.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Mutex;

use super::jump::jump;

/// The program or a library.
pub(super) struct Object {
    pub file: PathBuf,
    /// What has to be added to the addresses in the file.
    pub address: usize,
    /// Its constructors have run.
    pub has_begun: bool,
}

/// The loader's description of itself for debuggers, `struct r_debug` of `link.h`.
#[repr(C)]
struct Debug {
    version: c_int,
    first: *const Map,
    /// A function that does nothing. The loader calls it before and after it adds objects.
    hook: usize,
    state: c_int,
}

/// `struct link_map` of `link.h`.
#[repr(C)]
struct Map {
    address: usize,
    name: *const c_char,
    dynamic: *const c_void,
    next: *const Map,
}

/// All objects are there, and those that are new have not begun.
const CONSISTENT: c_int = 0;
/// `endbr64`, which may be before the `ret` of the hook.
const BRANCH_TARGET: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
const RETURN: u8 = 0xc3;
/// Where functions of the loader begin: up to there nothing follows the hook.
const ALIGNMENT: usize = 16;

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

struct Seen {
    visit: fn(&Object),
    /// Where the objects are that were visited, and are still there.
    at: HashSet<usize>,
}

/// Visits every object that is loaded now, of which only the program has not begun, and from now on every one before its constructors
/// run.
pub(super) fn visit_all(visit: fn(&Object)) -> Result<(), String> {
    let debug = debug().ok_or("the loader does not tell what it has loaded")?;
    if let Ok(mut seen) = SEEN.lock() {
        *seen = Some(Seen { visit, at: HashSet::new() });
    }
    visit_new(true);
    if !cfg!(target_arch = "x86_64") {
        // No function can give way: what has a runtime in it says so.
        return Ok(());
    }
    // SAFETY: the loader's description lives as long as the process.
    let hook = unsafe { (*debug).hook };
    if !is_empty(hook) {
        return Err("the loader does not tell of libraries that are opened later".to_owned());
    }
    // SAFETY: the function has this room, as was just seen. Another thread could only be in it while it opens a library.
    unsafe { jump(hook, loaded as *const () as usize) }
}

/// Takes the place of the loader's hook.
extern "C" fn loaded() {
    // SAFETY: the loader's description lives as long as the process.
    if debug().is_some_and(|debug| unsafe { (*debug).state } == CONSISTENT) {
        visit_new(false);
    }
}

fn visit_new(libraries_have_begun: bool) {
    // What this opens by itself is visited by the call that is under way.
    let Ok(mut seen) = SEEN.try_lock() else { return };
    let Some(seen) = seen.as_mut() else { return };
    let objects = objects(libraries_have_begun);
    for object in objects.iter().filter(|object| !seen.at.contains(&object.address)) {
        (seen.visit)(object);
    }
    seen.at = objects.iter().map(|object| object.address).collect();
}

fn objects(libraries_have_begun: bool) -> Vec<Object> {
    // SAFETY: the loader's list, which it does not change while it calls its hook and before the program begins.
    let first = debug().map_or(std::ptr::null(), |debug| unsafe { (*debug).first });
    // SAFETY: as above.
    let maps = std::iter::successors(unsafe { first.as_ref() }, |map| unsafe { map.next.as_ref() });
    maps.map(|map| {
        // SAFETY: the loader's names end with a zero.
        let name = unsafe { CStr::from_ptr(map.name) }.to_bytes();
        // The program has no name.
        let file = PathBuf::from(OsStr::from_bytes(if name.is_empty() { b"/proc/self/exe" } else { name }));
        Object { file, address: map.address, has_begun: libraries_have_begun && !name.is_empty() }
    })
    .collect()
}

fn debug() -> Option<*const Debug> {
    // SAFETY: the name ends with a zero.
    let debug = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_r_debug".as_ptr()) };
    (!debug.is_null()).then_some(debug.cast_const().cast())
}

/// Whether this function returns at once, and nothing is in the bytes after it that a jump takes.
fn is_empty(function: usize) -> bool {
    if function == 0 || !function.is_multiple_of(ALIGNMENT) {
        return false;
    }
    // SAFETY: it is a function of the loader, and code is there up to the end of its page.
    let code = unsafe { std::slice::from_raw_parts(function as *const u8, ALIGNMENT) };
    code.strip_prefix(&BRANCH_TARGET).unwrap_or(code).first() == Some(&RETURN)
}
