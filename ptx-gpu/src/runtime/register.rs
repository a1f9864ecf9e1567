//! What a program of nvcc's registers before `main`: its fat binaries, and which of its functions and variables stand for
//! which kernels and variables of the GPU. A fat binary is loaded when something of it is first used.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::error::{INVALID_DEVICE_FUNCTION, INVALID_SYMBOL, ready};
use crate::call::{get, text};
use crate::changed::Call;
use crate::driver::module::load;
use crate::gpu::{Handle, live};
use crate::image::has_machine_code;
use crate::output::tell_unrun;
use crate::status::{INVALID_HANDLE, NO_BINARY_FOR_GPU, Result, Status};

#[derive(Default)]
struct Registry {
    /// Where each fat binary is, and the module that was made of it, or that it has no code for the GPU.
    binaries: Vec<(usize, Option<Result<Handle>>)>,
    /// By the address of the host's stand-in: the fat binary and the name there.
    functions: HashMap<usize, (usize, String)>,
    variables: HashMap<usize, (usize, String)>,
    /// Pointers of the host that are to lead to managed variables.
    managed: Vec<(usize, usize, String)>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    fn module(&mut self, binary: usize) -> Result<Handle> {
        let (image, module) = self.binaries.get_mut(binary).ok_or(INVALID_HANDLE)?;
        if let Some(module) = module {
            return *module;
        }
        let loaded = load(*image as *const c_void, |_| {}, "__cudaRegisterFatBinary");
        if let Ok(loaded) = loaded {
            live()?.modules.entry(loaded).and_modify(|of| of.is_library = true);
        }
        if loaded.is_ok() || loaded == Err(NO_BINARY_FOR_GPU) {
            *module = Some(loaded);
        }
        loaded
    }

    /// The module for this thread's GPU.
    fn module_here(&mut self, binary: usize) -> Result<Handle> {
        let module = self.module(binary)?;
        let mut gpu = live()?;
        let here = gpu.here();
        gpu.module_for(module, here)
    }
}

/// The kernel that a function of the host stands for. A handle of a kernel stands for itself. If a GPU would have it and there is no PTX
/// of it, that is said: the program goes on as it does on no GPU.
pub(super) fn kernel(function: usize) -> Result<Handle> {
    found(function).inspect_err(|status| {
        let is_on_a_gpu = |image| {
            let sm = live().map(|gpu| gpu.device.sm);
            // SAFETY: the program has registered it as a fat binary.
            sm.is_ok_and(|sm| unsafe { has_machine_code(image as *const c_void, sm) })
        };
        lacks_ptx(function, *status, is_on_a_gpu);
    })
}

/// The kernel that is to be launched. If its program has no PTX of it, that is said.
pub(super) fn kernel_to_launch(function: usize) -> Result<Handle> {
    found(function).inspect_err(|status| lacks_ptx(function, *status, |_| true))
}

/// A kernel has no PTX for the GPU. Says so, once, if it matters for its fat binary.
fn lacks_ptx(function: usize, status: Status, matters: impl Fn(usize) -> bool) {
    let registry = registry();
    if status == NO_BINARY_FOR_GPU
        && let Some((binary, name)) = registry.functions.get(&function)
        && registry.binaries.get(*binary).is_some_and(|(image, _)| matters(*image))
    {
        tell_unrun(name);
    }
}

fn found(function: usize) -> Result<Handle> {
    let mut registry = registry();
    let Some((binary, name)) = registry.functions.get(&function).cloned() else {
        let unknown = if function == 0 { INVALID_DEVICE_FUNCTION } else { INVALID_HANDLE };
        let mut gpu = live()?;
        let here = gpu.here();
        return gpu.kernel_of_library(function, here).map_err(|_| unknown);
    };
    let module = registry.module_here(binary)?;
    live()?.kernel(module, &name).map_err(|_| INVALID_DEVICE_FUNCTION)
}

/// The variable that one of the host stands for: where it is, and its bytes.
pub(super) fn variable(symbol: usize) -> Result<(u64, usize)> {
    let mut registry = registry();
    let (binary, name) = registry.variables.get(&symbol).cloned().ok_or(INVALID_SYMBOL)?;
    let module = registry.module_here(binary)?;
    live()?.variable(module, &name).map_err(|_| INVALID_SYMBOL)
}

/// The handle of a fat binary is its place, and one more, as a pointer.
fn place(handle: usize) -> usize {
    handle.wrapping_sub(1)
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(image: usize) -> usize {
    let mut registry = registry();
    registry.binaries.push((image, None));
    registry.binaries.len()
}

/// Managed variables are there from the beginning.
fn give_managed(binary: usize) -> Result {
    let mut registry = registry();
    for (of, pointer, name) in registry.managed.clone() {
        if of == binary {
            let module = registry.module(binary)?;
            let (address, _) = live()?.variable(module, &name)?;
            crate::call::put(pointer as *mut u64, address)?;
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(handle: usize) {
    crate::call::answer(Call { name: "__cudaRegisterFatBinaryEnd", arguments: &[handle as u64] }, || {
        ready();
        give_managed(place(handle))
    });
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(handle: usize) -> c_char {
    crate::call::answer(Call { name: "__cudaInitModule", arguments: &[handle as u64] }, || {
        ready();
        give_managed(place(handle))
    });
    1
}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(_handle: usize) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    handle: usize,
    host: usize,
    _device: usize,
    name: *const c_char,
    _limit: i32,
    _thread: usize,
    _block: usize,
    _block_size: usize,
    _grid_size: usize,
    _warp_size: usize,
) {
    if let Ok(name) = text(name) {
        registry().functions.insert(host, (place(handle), name.to_owned()));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    handle: usize,
    host: usize,
    _device: usize,
    name: *const c_char,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    if let Ok(name) = text(name) {
        registry().variables.insert(host, (place(handle), name.to_owned()));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterManagedVar(
    handle: usize,
    pointer: usize,
    _device: usize,
    name: *const c_char,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    if let Ok(name) = text(name) {
        let mut registry = registry();
        registry.managed.push((place(handle), pointer, name.to_owned()));
        registry.variables.insert(pointer, (place(handle), name.to_owned()));
    }
}

/// A managed variable's symbol is the pointer to it.
pub(super) fn symbol(symbol: usize) -> Result<(u64, usize)> {
    variable(symbol).or_else(|error| {
        let pointed: u64 = get(symbol as *const u64)?;
        let gpu = live()?;
        let one = gpu.memory.find(pointed).ok_or(error)?;
        Ok((one.begin, one.bytes))
    })
}
