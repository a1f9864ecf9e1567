//! Handles of the library, and what they say about its calls.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ptx_interpreter::{Finding, Kind as Wrong, Record};

use super::call::{Compute, Routine, Scalar};
use super::kind::{Kind, Wide};
use super::library;
use super::operand::{Operand, Place, View};
use super::routine::finding;
use super::status::{EXECUTION_FAILED, INVALID_VALUE, NOT_INITIALIZED};
use crate::call::put;
use crate::caller::Caller;
use crate::calling::call_name;
use crate::gpu::{any, live};
use crate::handle::{Handle, next};
use crate::memory::Home;
use crate::output::tell;
use crate::perform;
use crate::status::Result;
use crate::work::Work;

/// Of the headers of CUDA 13.
const VERSION: [i32; 3] = [13, 1, 0];
/// To what a workspace has to be aligned.
const WORKSPACE_ALIGNMENT: u64 = 256;

/// `CUBLAS_POINTER_MODE_DEVICE`; the host's is 0.
const DEVICE: u32 = 1;

#[derive(Clone, Copy, Default)]
pub(super) struct Library {
    pub(super) stream: Handle,
    /// Whether scalars and results are the host's or the device's.
    pub(super) pointer_mode: u32,
    atomics: u32,
    math: u32,
    multiprocessors: i32,
}

static LIBRARIES: LazyLock<Mutex<HashMap<Handle, Library>>> = LazyLock::new(Mutex::default);

fn libraries() -> MutexGuard<'static, HashMap<Handle, Library>> {
    LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn library_of(handle: Handle) -> Result<Library> {
    libraries().get(&handle).copied().ok_or(NOT_INITIALIZED)
}

fn change(handle: Handle, change: impl FnOnce(&mut Library)) -> Result {
    libraries().get_mut(&handle).map(change).ok_or(NOT_INITIALIZED)
}

/// Asks for a part of what a handle says.
fn ask<T>(handle: Handle, place: *mut T, part: impl FnOnce(&Library) -> T) -> Result {
    let library = library_of(handle)?;
    if place.is_null() { Err(INVALID_VALUE) } else { put(place, part(&library)) }
}

fn create(handle: *mut Handle) -> Result {
    drop(live().map_err(|_| NOT_INITIALIZED)?);
    if handle.is_null() {
        return Err(INVALID_VALUE);
    }
    let new = next();
    libraries().insert(new, Library::default());
    put(handle, new)
}

/// The host waits for what the handle's stream was given.
fn destroy(handle: Handle) -> Result {
    libraries().remove(&handle).ok_or(NOT_INITIALIZED)?;
    let mut gpu = any();
    let here = gpu.here();
    gpu.order.host_waits_for_gpu(here);
    Ok(())
}

impl Library {
    /// A handle that says nothing else.
    pub(super) fn of_stream(stream: Handle) -> Library {
        Library { stream, ..Library::default() }
    }

    /// `alpha` and its like: a value, or where it will be.
    pub(super) fn scalar(&self, name: &'static str, kind: Kind, at: u64) -> Result<Scalar> {
        if at == 0 {
            return Err(INVALID_VALUE);
        }
        if self.pointer_mode == DEVICE {
            return Ok(Scalar::Device(Operand::scalar(name, kind, at)));
        }
        is_of_host(name, "reads", at)?;
        let view = View { operand: Operand::scalar(name, kind, at), start: at };
        Ok(Scalar::Value(view.load::<Wide>().content[0]))
    }

    /// Where a result goes.
    pub(super) fn result(&self, name: &'static str, kind: Kind, at: u64) -> Result<Operand> {
        if at == 0 {
            return Err(INVALID_VALUE);
        }
        let result = Operand::scalar(name, kind, at).result();
        if self.pointer_mode == DEVICE {
            return Ok(result);
        }
        is_of_host(name, "writes", at)?;
        Ok(Operand { place: Place::Host(at), ..result })
    }

    /// Gives a call to the stream, and waits for a result on the host.
    pub(super) fn submit(
        &self,
        scalars: Vec<Scalar>,
        operands: Vec<Operand>,
        batch: usize,
        compute: Compute,
    ) -> Result {
        let waits = operands.iter().any(|operand| matches!(operand.place, Place::Host(_)));
        let routine = Routine { call: call_name(), caller: Caller::of_call(), scalars, operands, batch, compute };
        let work = Work::Library(Arc::new(routine));
        perform::submit(self.stream, work).map_err(|_| EXECUTION_FAILED)?;
        if waits {
            live().and_then(|mut gpu| gpu.wait_for(self.stream)).map_err(|_| EXECUTION_FAILED)?;
        }
        Ok(())
    }
}

/// Whether the host may use an address: the pointer mode says that it is the host's.
fn is_of_host(name: &str, verb: &str, at: u64) -> Result {
    let gpu = any();
    if gpu.memory.find(at).is_none_or(|one| one.home != Home::Device) {
        return Ok(());
    }
    let call = call_name();
    let title = format!("{call} {verb} device memory on the host, as {name}");
    let what = format!("{verb} {name}: {}", gpu.memory.describe(at));
    let help =
        "set the pointer mode to CUBLAS_POINTER_MODE_DEVICE (cublasSetPointerMode), or give a pointer of the host";
    // Where the program is in Python is asked without the driver's lock.
    drop(gpu);
    let found: Finding = finding(&Caller::of_call(), Wrong::Bounds, title, &what, help);
    tell(&Record { kernel: call.into(), is_library: true, findings: vec![found], ..Record::default() });
    Err(EXECUTION_FAILED)
}

fn set_pointer_mode(handle: Handle, mode: u32) -> Result {
    if mode > DEVICE { Err(INVALID_VALUE) } else { change(handle, |library| library.pointer_mode = mode) }
}

fn property(which: u32, place: *mut i32) -> Result {
    let part = VERSION.get(which as usize).ok_or(INVALID_VALUE)?;
    put(place, *part)
}

fn version() -> i32 {
    let [major, minor, patch] = VERSION;
    major * 10000 + minor * 100 + patch
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetVersion() -> usize {
    version() as usize
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetCudartVersion() -> usize {
    13000
}

#[unsafe(no_mangle)]
extern "C" fn cublasGetCudartVersion() -> usize {
    std::hint::black_box(13000)
}

library! {
    fn cublasCreate_v2(handle: *mut Handle) {
        create(handle)
    }

    fn cublasLtCreate(handle: *mut Handle) {
        create(handle)
    }

    fn cublasDestroy_v2(handle: Handle) {
        destroy(handle)
    }

    fn cublasLtDestroy(handle: Handle) {
        destroy(handle)
    }

    fn cublasGetVersion_v2(_handle: Handle, place: *mut i32) {
        put(place, version()).map_err(|_| INVALID_VALUE)
    }

    fn cublasGetProperty(which: u32, place: *mut i32) {
        property(which, place)
    }

    fn cublasLtGetProperty(which: u32, place: *mut i32) {
        property(which, place)
    }

    fn cublasSetStream_v2(handle: Handle, stream: Handle) {
        change(handle, |library| library.stream = stream)
    }

    fn cublasGetStream_v2(handle: Handle, stream: *mut Handle) {
        ask(handle, stream, |library| library.stream)
    }

    fn cublasSetPointerMode_v2(handle: Handle, mode: u32) {
        set_pointer_mode(handle, mode)
    }

    fn cublasGetPointerMode_v2(handle: Handle, mode: *mut u32) {
        ask(handle, mode, |library| library.pointer_mode)
    }

    fn cublasSetAtomicsMode(handle: Handle, mode: u32) {
        change(handle, |library| library.atomics = mode)
    }

    fn cublasGetAtomicsMode(handle: Handle, mode: *mut u32) {
        ask(handle, mode, |library| library.atomics)
    }

    fn cublasSetMathMode(handle: Handle, mode: u32) {
        change(handle, |library| library.math = mode)
    }

    fn cublasGetMathMode(handle: Handle, mode: *mut u32) {
        ask(handle, mode, |library| library.math)
    }

    fn cublasSetSmCountTarget(handle: Handle, count: i32) {
        change(handle, |library| library.multiprocessors = count)
    }

    fn cublasGetSmCountTarget(handle: Handle, count: *mut i32) {
        ask(handle, count, |library| library.multiprocessors)
    }

    // What it holds meanwhile is not used here.
    fn cublasSetWorkspace_v2(handle: Handle, workspace: u64, _bytes: usize) {
        library_of(handle)?;
        if workspace.is_multiple_of(WORKSPACE_ALIGNMENT) { Ok(()) } else { Err(INVALID_VALUE) }
    }

    // Nothing is logged here.
    fn cublasLoggerConfigure(_is_on: i32, _to_output: i32, _to_error: i32, _file: *const c_char) {
        Ok(())
    }

    fn cublasSetLoggerCallback(_call: *const c_void) {
        Ok(())
    }

    fn cublasGetLoggerCallback(call: *mut *const c_void) {
        put(call, std::ptr::null())
    }

    fn cublasLtLoggerSetCallback(_call: *const c_void) {
        Ok(())
    }

    fn cublasLtLoggerSetFile(_file: *mut c_void) {
        Ok(())
    }

    fn cublasLtLoggerOpenFile(_file: *const c_char) {
        Ok(())
    }

    fn cublasLtLoggerSetLevel(_level: i32) {
        Ok(())
    }

    fn cublasLtLoggerSetMask(_mask: i32) {
        Ok(())
    }

    fn cublasLtLoggerForceDisable() {
        Ok(())
    }
}
