//! A CUDA driver without a GPU, for the tests: device memory is the host's, every call is written
//! down, and a launch is handed to the test. It needs nothing but `std`, so `rustc` alone builds it.
//!
//! `FAKE_INIT`, `FAKE_VERSION`, `FAKE_DEVICES` and `FAKE_SM` say what it pretends. How it misbehaves is in `hostile.rs`.
#![allow(
    non_snake_case,
    missing_docs,
    unsafe_op_in_unsafe_fn,
    unreachable_pub,
    clippy::missing_safety_doc,
    clippy::undocumented_unsafe_blocks
)]

extern crate alloc;

/// What the interpreter reads as a tensor map: of columns, and of all.
#[allow(dead_code)]
#[path = "../../ptx-intrinsics/src/cpu/tensor/columns.rs"]
mod columns;
mod hostile;
mod launches;
mod memory;
mod modules;
#[allow(dead_code)]
#[path = "../../ptx-intrinsics/src/cpu/tensor/map.rs"]
mod tensor_map;

use hostile::{all_arrive, is_late};
use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{copy_nonoverlapping, write_bytes};
use std::sync::Mutex;

pub(crate) const SUCCESS: u32 = 0;
pub(crate) const INVALID_VALUE: u32 = 1;
const INVALID_DEVICE: u32 = 101;
pub(crate) const NOT_FOUND: u32 = 500;
pub(crate) const NOT_SUPPORTED: u32 = 801;
pub(crate) const NOT_READY: u32 = 600;
pub(crate) const INVALID_PTX: u32 = 218;

/// `CU_JIT_ERROR_LOG_BUFFER`
pub(crate) const ERROR_LOG_BUFFER: u32 = 5;

/// What is done with a launch: the number of the module, name, grid, block and dynamic shared memory (seven numbers), pointers
/// to the arguments. It says how the kernel ends.
pub(crate) type Launcher = unsafe extern "C" fn(usize, *const c_char, *const u32, *mut *mut c_void) -> u32;

pub(crate) static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);
static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Start and length of every piece of device memory.
static MEMORY: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());
/// The kernels that were asked for; a function handle is the place here plus one.
pub(crate) static KERNELS: Mutex<Vec<Kernel>> = Mutex::new(Vec::new());
/// What a kernel ended with, if it failed; as on a GPU, that shows when it is waited for, and stays.
pub(crate) static FAULT: Mutex<u32> = Mutex::new(SUCCESS);
/// The modules that were loaded; a handle is the place here plus one.
pub(crate) static MODULES: Mutex<Vec<Module>> = Mutex::new(Vec::new());

pub(crate) struct Kernel {
    pub(crate) module: usize,
    pub(crate) name: CString,
    /// The part of L1 that is shared memory; -1 if nobody has said so.
    pub(crate) carve_out: i32,
    /// The bytes of its parameters, where the module is PTX.
    pub(crate) parameters: Option<Vec<usize>>,
}

pub(crate) struct Module {
    pub(crate) text: String,
    /// Its symbols, if it is a cubin whose text is not known.
    pub(crate) symbols: Option<BTreeMap<String, usize>>,
    /// Where its variables stand.
    pub(crate) variables: BTreeMap<String, u64>,
}

pub(crate) fn note(call: String) -> u32 {
    CALLS.lock().unwrap().push(call);
    SUCCESS
}

pub(crate) fn setting(name: &str, otherwise: i32) -> i32 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 256).unwrap()
}

/// Whether `bytes` bytes at `start` lie in one piece of device memory.
fn is_device_memory(start: u64, bytes: usize) -> bool {
    let memory = MEMORY.lock().unwrap();
    let piece = memory.range(..=start).next_back();
    piece.is_some_and(|(at, length)| start + bytes as u64 <= at + *length as u64)
}

/// The calls so far, one to a line; the list starts anew.
#[unsafe(no_mangle)]
pub extern "C" fn fake_take_calls() -> *mut c_char {
    let calls = std::mem::take(&mut *CALLS.lock().unwrap());
    CString::new(calls.join("\n")).unwrap().into_raw()
}

#[unsafe(no_mangle)]
pub extern "C" fn fake_set_launcher(launcher: Launcher) {
    *LAUNCHER.lock().unwrap() = Some(launcher);
}

/// The text of a module.
#[unsafe(no_mangle)]
pub extern "C" fn fake_text_of(module: usize) -> *mut c_char {
    CString::new(MODULES.lock().unwrap()[module].text.clone()).unwrap().into_raw()
}

/// The interpreter takes an ordinary address for a multimem address of one copy.
#[unsafe(no_mangle)]
pub extern "C" fn fake_has_multimem() -> bool {
    true
}

/// How many pieces of device memory are not freed.
#[unsafe(no_mangle)]
pub extern "C" fn fake_live_allocations() -> usize {
    MEMORY.lock().unwrap().len()
}

/// Whether so many bytes are in one piece of device memory.
#[unsafe(no_mangle)]
pub extern "C" fn fake_holds(start: u64, bytes: usize) -> bool {
    is_device_memory(start, bytes)
}

/// Where a variable of the module that was loaded last is; 0 if it has none of that name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_variable(name: *const c_char) -> u64 {
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    let modules = MODULES.lock().unwrap().len();
    variable(modules.wrapping_sub(1), name)
}

/// The same of any module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_variable_of(module: usize, name: *const c_char) -> u64 {
    variable(module, unsafe { CStr::from_ptr(name) }.to_str().unwrap())
}

/// Where a variable of a module is; 0 if nobody asked for one of that name.
fn variable(module: usize, name: &str) -> u64 {
    MODULES.lock().unwrap().get(module).and_then(|module| module.variables.get(name).copied()).unwrap_or(0)
}

pub(crate) fn allocate(bytes: usize) -> u64 {
    let start = unsafe { alloc(layout(bytes)) } as u64;
    if is_late() {
        unsafe { write_bytes(start as *mut u8, 0xa5, bytes) };
    }
    MEMORY.lock().unwrap().insert(start, bytes);
    start
}

pub(crate) fn free(address: u64) -> Option<usize> {
    all_arrive();
    let bytes = MEMORY.lock().unwrap().remove(&address)?;
    unsafe { dealloc(address as *mut u8, layout(bytes)) };
    Some(bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: u32) -> u32 {
    note(format!("cuInit {flags}"));
    setting("FAKE_INIT", 0) as u32
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut i32) -> u32 {
    unsafe { version.write(setting("FAKE_VERSION", 13000)) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: u32, text: *mut *const c_char) -> u32 {
    let name = match code {
        INVALID_PTX => c"CUDA_ERROR_INVALID_PTX",
        999 => c"CUDA_ERROR_UNKNOWN",
        _ => return INVALID_VALUE,
    };
    unsafe { text.write(name.as_ptr()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_code: u32, text: *mut *const c_char) -> u32 {
    unsafe { text.write(c"said by the fake driver".as_ptr()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut i32) -> u32 {
    unsafe { count.write(setting("FAKE_DEVICES", 1)) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut i32, ordinal: i32) -> u32 {
    note(format!("cuDeviceGet {ordinal}"));
    unsafe { device.write(ordinal) };
    // As the real one: that there is no device, only the count says.
    if ordinal < setting("FAKE_DEVICES", 1) { SUCCESS } else { INVALID_DEVICE }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: i32, _device: i32) -> u32 {
    let text = c"Fake GPU".to_bytes_with_nul();
    assert!(text.len() <= length as usize);
    unsafe { copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut i32, which: i32, _device: i32) -> u32 {
    let sm = setting("FAKE_SM", 90);
    let answer = match which {
        16 => 4,                                // multiprocessors
        38 => setting("FAKE_L2", 1 << 14),      // bytes of L2
        108 => setting("FAKE_L2", 1 << 14) / 2, // those that can be set aside
        81 => 228 << 10,                        // bytes of shared memory of a multiprocessor
        111 => 1 << 10,                         // those of them that every block has for the driver
        75 => sm / 10,                          // compute capability, major
        76 => sm % 10,                          // and minor
        _ => return INVALID_VALUE,
    };
    unsafe { value.write(answer) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(text: *mut c_char, length: i32, _device: i32) -> u32 {
    let bus = c"0000:01:00.0".to_bytes_with_nul();
    assert!(bus.len() <= length as usize);
    unsafe { copy_nonoverlapping(bus.as_ptr().cast(), text, bus.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) -> u32 {
    unsafe { bytes.write(1 << 30) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _device: i32) -> u32 {
    unsafe { context.write(0xc0 as *mut c_void) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetLimit(which: u32, value: usize) -> u32 {
    note(format!("cuCtxSetLimit {which} {value}"))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxResetPersistingL2Cache() -> u32 {
    note("cuCtxResetPersistingL2Cache".into())
}

macro_rules! succeed {
    ($($name:ident($($argument:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $argument),*) -> u32 {
            SUCCESS
        }
    )*};
}

succeed! {
    cuCtxSetCurrent(*mut c_void);
    cuDevicePrimaryCtxRelease_v2(i32);
    cuEventDestroy_v2(*mut c_void);
    cuEventSynchronize(*mut c_void);
    cuStreamDestroy_v2(*mut c_void);
}
