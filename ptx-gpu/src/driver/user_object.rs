//! What a program keeps alive until the graphs that use it are gone.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::call::{calls, put};
use crate::handle::{Handle, next};
use crate::status::{INVALID_VALUE, Result};
use crate::work::HostFunction;

struct Object {
    data: usize,
    destroy: HostFunction,
    references: u32,
}

static OBJECTS: LazyLock<Mutex<HashMap<Handle, Object>>> = LazyLock::new(Mutex::default);

fn objects() -> MutexGuard<'static, HashMap<Handle, Object>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Errors: there is no such object.
pub(super) fn hold(object: Handle, count: u32) -> Result {
    objects().get_mut(&object).ok_or(INVALID_VALUE)?.references += count;
    Ok(())
}

/// Nobody needs it any more after the last reference.
pub(super) fn let_go(object: Handle, count: u32) {
    let mut all = objects();
    let Some(one) = all.get_mut(&object) else { return };
    one.references = one.references.saturating_sub(count);
    if one.references > 0 {
        return;
    }
    let gone = all.remove(&object);
    drop(all);
    if let Some(Object { data, destroy, .. }) = gone {
        // SAFETY: the program handed over the function and its data for this.
        unsafe { destroy(data as *mut c_void) };
    }
}

calls! {
    // The only flag, which has to be there, says that nobody may wait for the destructor.
    fn cuUserObjectCreate(
        object: *mut Handle,
        data: *mut c_void,
        destroy: Option<HostFunction>,
        references: u32,
        flags: u32,
    ) {
        let destroy = destroy.ok_or(INVALID_VALUE)?;
        if flags != 1 || references == 0 {
            return Err(INVALID_VALUE);
        }
        let handle = next();
        objects().insert(handle, Object { data: data as usize, destroy, references });
        put(object, handle)
    }

    fn cuUserObjectRetain(object: Handle, count: u32) {
        hold(object, count)
    }

    fn cuUserObjectRelease(object: Handle, count: u32) {
        hold(object, 0)?;
        let_go(object, count);
        Ok(())
    }
}
