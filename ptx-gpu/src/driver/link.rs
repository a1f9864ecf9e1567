//! The linker: texts of PTX that belong together become one text.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{LazyLock, Mutex, PoisonError};

use ptx_interpreter::link as linked;

use crate::call::{calls, put, put_if, text};
use crate::gpu::{Handle, live};
use crate::handle;
use crate::image::{self, Refused};
use crate::output::note;
use crate::status::{FILE_NOT_FOUND, INVALID_HANDLE, Result};

/// What a linker has been given so far, and what it has made of that, up to a 0.
#[derive(Default)]
struct Link {
    texts: Vec<String>,
    whole: Vec<u8>,
}

static LINKS: LazyLock<Mutex<HashMap<Handle, Link>>> = LazyLock::new(Mutex::default);

/// How a library of objects begins. The one that programs hand over is the device's runtime.
const LIBRARY: &[u8] = b"!<arch>\n";
const DEVICE_RUNTIME: &str = include_str!("device_runtime.ptx");

/// The PTX of what is linked, which has 16 bytes more.
pub(crate) fn text_of(data: &[u8], sm: u32) -> std::result::Result<String, Refused> {
    if data.starts_with(LIBRARY) {
        return Ok(DEVICE_RUNTIME.to_owned());
    }
    // SAFETY: the program hands over an image.
    unsafe { image::code(data.as_ptr().cast(), sm) }.map(|code| code.ptx)
}

fn add(link: Handle, data: &[u8]) -> Result {
    let sm = live()?.device.sm;
    let text = text_of(data, sm).map_err(|Refused(status, why)| {
        note(&format!("cuLinkAddData: {why}"));
        status
    })?;
    let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
    links.get_mut(&link).ok_or(INVALID_HANDLE)?.texts.push(text);
    Ok(())
}

calls! {
    fn cuLinkCreate_v2(_count: u32, _keys: *mut u32, _values: *mut *mut c_void, link: *mut Handle) {
        live().map(drop)?;
        let handle = handle::next();
        LINKS.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, Link::default());
        put(link, handle)
    }

    fn cuLinkAddData_v2(
        link: Handle,
        _kind: u32,
        data: *mut c_void,
        bytes: usize,
        _name: *const c_char,
        _count: u32,
        _keys: *mut u32,
        _values: *mut *mut c_void,
    ) {
        // A text need not end with 0 here.
        // SAFETY: the program says that `bytes` bytes are readable at `data`.
        let mut whole = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) }.to_vec();
        whole.extend([0; 16]);
        add(link, &whole)
    }

    fn cuLinkAddFile_v2(
        link: Handle,
        _kind: u32,
        path: *const c_char,
        _count: u32,
        _keys: *mut u32,
        _values: *mut *mut c_void,
    ) {
        let mut whole = std::fs::read(text(path)?).map_err(|_| FILE_NOT_FOUND)?;
        whole.extend([0; 16]);
        add(link, &whole)
    }

    fn cuLinkComplete(link: Handle, image: *mut *const c_void, bytes: *mut usize) {
        let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
        let Link { texts, whole } = links.get_mut(&link).ok_or(INVALID_HANDLE)?;
        *whole = (linked(texts) + "\0").into_bytes();
        put(image, whole.as_ptr().cast())?;
        put_if(bytes, whole.len())
    }

    fn cuLinkDestroy(link: Handle) {
        LINKS.lock().unwrap_or_else(PoisonError::into_inner).remove(&link).map(drop).ok_or(INVALID_HANDLE)
    }
}
