//! Libraries, for the runtime.

use std::ffi::{c_char, c_void};

use super::error::{forward, runtime};
use crate::driver::function::{kernel_on, set_attribute};
use crate::driver::library as driver;
use crate::gpu::{Handle, live};

forward! {
    cudaLibraryLoadData(
        library: *mut Handle,
        image: *const c_void,
        jit_keys: *mut u32,
        jit_values: *mut *mut c_void,
        jit_count: u32,
        keys: *mut u32,
        values: *mut *mut c_void,
        count: u32,
    ) => driver::cuLibraryLoadData, library, image, jit_keys, jit_values, jit_count, keys, values, count;
    cudaLibraryLoadFromFile(
        library: *mut Handle,
        path: *const c_char,
        jit_keys: *mut u32,
        jit_values: *mut *mut c_void,
        jit_count: u32,
        keys: *mut u32,
        values: *mut *mut c_void,
        count: u32,
    ) => driver::cuLibraryLoadFromFile, library, path, jit_keys, jit_values, jit_count, keys, values, count;
    cudaLibraryUnload(library: Handle) => driver::cuLibraryUnload, library;
    cudaLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char)
        => driver::cuLibraryGetKernel, kernel, library, name;
    cudaLibraryGetKernelCount(count: *mut u32, library: Handle) => driver::cuLibraryGetKernelCount, count, library;
    cudaLibraryEnumerateKernels(kernels: *mut Handle, count: u32, library: Handle)
        => driver::cuLibraryEnumerateKernels, kernels, count, library;
    cudaLibraryGetGlobal(address: *mut u64, bytes: *mut usize, library: Handle, name: *const c_char)
        => driver::cuLibraryGetGlobal, address, bytes, library, name;
    cudaLibraryGetManaged(address: *mut u64, bytes: *mut usize, library: Handle, name: *const c_char)
        => driver::cuLibraryGetManaged, address, bytes, library, name;
}

runtime! {
    fn cudaKernelSetAttributeForDevice(kernel: Handle, which: u32, value: i32, device: i32) {
        let mut gpu = live()?;
        let kernel = kernel_on(&mut gpu, kernel, device)?;
        set_attribute(&mut gpu, kernel, which, value)
    }
}
