//! Modules.

use std::ffi::{c_char, c_void};

use crate::call::{calls, get, put, put_if, text};
use crate::gpu::{Handle, live};
use crate::image::{self, Refused};
use crate::output::note;
use crate::status::{FILE_NOT_FOUND, INVALID_HANDLE, Result};

/// `CU_JIT_ERROR_LOG_BUFFER`, and that of its size.
const ERROR_LOG: u32 = 5;
const ERROR_LOG_SIZE: u32 = 6;

/// Loads an image. What is wrong with it goes to standard error, and to the program's log if it has one.
pub(crate) fn load(image: *const c_void, log: impl FnOnce(&str), call: &str) -> Result<Handle> {
    let mut gpu = live()?;
    // SAFETY: the program hands over an image.
    match unsafe { image::code(image, gpu.device.sm) } {
        Ok(code) => gpu.load(code),
        Err(Refused(status, why)) => {
            note(&format!("{call}: {why}"));
            log(&why);
            Err(status)
        }
    }
}

/// The same, for a program that asks for it: a GPU may have to wait for all streams.
fn asked(image: *const c_void, log: impl FnOnce(&str), call: &str) -> Result<Handle> {
    live()?.is_unsafe()?;
    load(image, log, call)
}

pub(crate) fn load_file(path: *const c_char, call: &str) -> Result<Handle> {
    let mut bytes = std::fs::read(text(path)?).map_err(|_| FILE_NOT_FOUND)?;
    bytes.extend([0; 8]);
    load(bytes.as_ptr().cast(), |_| {}, call)
}

/// Writes into the log that the options name.
fn log(text: &str, count: u32, keys: *const u32, values: *const *mut c_void) {
    let find = |key: u32| {
        let at = (0..count as usize).find(|at| get(keys.wrapping_add(*at)) == Ok(key))?;
        get(values.wrapping_add(at)).ok()
    };
    let (Some(buffer), Some(size)) = (find(ERROR_LOG), find(ERROR_LOG_SIZE)) else { return };
    // A size that does not fit is none: what comes of it is no matter of the load.
    let _ = crate::call::put_text(buffer.cast(), i32::try_from(size as usize).unwrap_or(i32::MAX), text);
}

calls! {
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) {
        live()?.is_unsafe()?;
        put(module, load_file(path, "cuModuleLoad")?)
    }

    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        put(module, asked(image, |_| {}, "cuModuleLoadData")?)
    }

    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) {
        put(module, asked(image, |_| {}, "cuModuleLoadFatBinary")?)
    }

    fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        count: u32,
        keys: *const u32,
        values: *const *mut c_void,
    ) {
        put(module, asked(image, |why| log(why, count, keys, values), "cuModuleLoadDataEx")?)
    }

    fn cuModuleUnload(module: Handle) {
        let mut gpu = live()?;
        gpu.is_unsafe()?;
        gpu.unload(module)
    }

    fn cuModuleGetLoadingMode(mode: *mut u32) {
        put(mode, 1)
    }

    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        put(function, live()?.kernel(module, text(name)?)?)
    }

    fn cuModuleGetFunctionCount(count: *mut u32, module: Handle) {
        let gpu = live()?;
        let module = gpu.modules.get(&module).ok_or(INVALID_HANDLE)?;
        put(count, module.program.kernels().len() as u32)
    }

    fn cuModuleEnumerateFunctions(functions: *mut Handle, count: u32, module: Handle) {
        let mut gpu = live()?;
        let program = gpu.modules.get(&module).ok_or(INVALID_HANDLE)?.program.clone();
        for (at, name) in program.kernels().into_iter().take(count as usize).enumerate() {
            put(functions.wrapping_add(at), gpu.kernel(module, name)?)?;
        }
        Ok(())
    }

    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char) {
        let (place, size) = live()?.variable(module, text(name)?)?;
        put_if(address, place)?;
        put_if(bytes, size)
    }
}
