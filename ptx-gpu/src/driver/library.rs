//! Libraries: modules that no context has to load. A library is a module here, and a kernel is a function.

use std::ffi::{c_char, c_void};

use super::module::{load, load_file};
use crate::call::{calls, put, put_if, text};
use crate::gpu::{Handle, begun, contexts, live};
use crate::status::{INVALID_HANDLE, Result};

/// A library may be loaded before there is a context.
fn with_context<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    let primary = begun()?.primary.0;
    contexts(|all| all.push(primary));
    let result = body();
    contexts(Vec::pop);
    result
}

calls! {
    fn cuLibraryLoadData(
        library: *mut Handle,
        image: *const c_void,
        _jit_keys: *mut u32,
        _jit_values: *mut *mut c_void,
        _jit_count: u32,
        _keys: *mut u32,
        _values: *mut *mut c_void,
        _count: u32,
    ) {
        put(library, with_context(|| load(image, |_| {}, "cuLibraryLoadData"))?)
    }

    fn cuLibraryLoadFromFile(
        library: *mut Handle,
        path: *const c_char,
        _jit_keys: *mut u32,
        _jit_values: *mut *mut c_void,
        _jit_count: u32,
        _keys: *mut u32,
        _values: *mut *mut c_void,
        _count: u32,
    ) {
        put(library, with_context(|| load_file(path, "cuLibraryLoadFromFile"))?)
    }

    fn cuLibraryUnload(library: Handle) {
        begun()?.unload(library)
    }

    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        if !live()?.modules.contains_key(&library) {
            return Err(INVALID_HANDLE);
        }
        put(module, library)
    }

    fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) {
        put(kernel, begun()?.kernel(library, text(name)?)?)
    }

    fn cuLibraryGetKernelCount(count: *mut u32, library: Handle) {
        let gpu = begun()?;
        let module = gpu.modules.get(&library).ok_or(INVALID_HANDLE)?;
        put(count, module.program.kernels().len() as u32)
    }

    fn cuLibraryEnumerateKernels(kernels: *mut Handle, count: u32, library: Handle) {
        let mut gpu = begun()?;
        let program = gpu.modules.get(&library).ok_or(INVALID_HANDLE)?.program.clone();
        for (at, name) in program.kernels().into_iter().take(count as usize).enumerate() {
            put(kernels.wrapping_add(at), gpu.kernel(library, name)?)?;
        }
        Ok(())
    }

    fn cuLibraryGetGlobal(address: *mut u64, bytes: *mut usize, library: Handle, name: *const c_char) {
        let (place, size) = live()?.variable(library, text(name)?)?;
        put_if(address, place)?;
        put_if(bytes, size)
    }

    fn cuLibraryGetManaged(address: *mut u64, bytes: *mut usize, library: Handle, name: *const c_char) {
        let (place, size) = live()?.variable(library, text(name)?)?;
        put_if(address, place)?;
        put_if(bytes, size)
    }

    fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) {
        live()?.function(kernel)?;
        put(function, kernel)
    }

    fn cuKernelGetLibrary(library: *mut Handle, kernel: Handle) {
        put(library, live()?.function(kernel)?.module)
    }
}
