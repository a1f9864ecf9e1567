//! Libraries: modules that no context has to load. A library is a module here, and a kernel is a function.

use std::ffi::{c_char, c_void};

use super::module::{load, load_file};
use crate::call::{calls, put, put_if, text};
use crate::gpu::{Handle, begun, contexts, current, live};
use crate::status::{INVALID_HANDLE, NO_DEVICE, Result};

/// A library may be loaded before there is a context. Its kernels are every GPU's.
fn library(load: impl FnOnce() -> Result<Handle>) -> Result<Handle> {
    let primary = begun()?.gpus.first().ok_or(NO_DEVICE)?.primary;
    let context = if current() == 0 { primary } else { current() };
    contexts(|all| all.push(context));
    let result = load();
    contexts(Vec::pop);
    let module = result?;
    begun()?.modules.entry(module).and_modify(|of| of.is_library = true);
    Ok(module)
}

/// What a library has on this thread's GPU.
fn variable(library: Handle, name: *const c_char) -> Result<(u64, usize)> {
    let mut gpu = live()?;
    let here = gpu.here();
    let module = gpu.module_for(library, here)?;
    gpu.variable(module, text(name)?)
}

calls! {
    fn cuLibraryLoadData(
        place: *mut Handle,
        image: *const c_void,
        _jit_keys: *mut u32,
        _jit_values: *mut *mut c_void,
        _jit_count: u32,
        _keys: *mut u32,
        _values: *mut *mut c_void,
        _count: u32,
    ) {
        put(place, library(|| load(image, |_| {}, "cuLibraryLoadData"))?)
    }

    fn cuLibraryLoadFromFile(
        place: *mut Handle,
        path: *const c_char,
        _jit_keys: *mut u32,
        _jit_values: *mut *mut c_void,
        _jit_count: u32,
        _keys: *mut u32,
        _values: *mut *mut c_void,
        _count: u32,
    ) {
        put(place, library(|| load_file(path, "cuLibraryLoadFromFile"))?)
    }

    fn cuLibraryUnload(library: Handle) {
        begun()?.unload(library)
    }

    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        let mut gpu = live()?;
        let here = gpu.here();
        put(module, gpu.module_for(library, here)?)
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
        let (place, size) = variable(library, name)?;
        put_if(address, place)?;
        put_if(bytes, size)
    }

    fn cuLibraryGetManaged(address: *mut u64, bytes: *mut usize, library: Handle, name: *const c_char) {
        let (place, size) = variable(library, name)?;
        put_if(address, place)?;
        put_if(bytes, size)
    }

    fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) {
        let mut gpu = live()?;
        let here = gpu.here();
        put(function, gpu.kernel_for(kernel, here)?)
    }

    fn cuKernelGetLibrary(library: *mut Handle, kernel: Handle) {
        put(library, live()?.function(kernel)?.module)
    }
}
