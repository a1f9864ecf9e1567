//! A CUDA driver without a GPU, for the tests: device memory is the host's, every call is written
//! down, and a launch is handed to the test. It needs nothing but `std`, so `rustc` alone builds it; in the crate `fake-gpu`
//! an interpreter runs the launches.
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

mod hostile;

use hostile::{LEGACY, all_arrive, arrive, code_of, is_late, launched, names, stall, stall_after_kernel, take_effect};
use std::{
    alloc::{Layout, alloc, dealloc},
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_void},
    ptr::{copy_nonoverlapping, write_bytes},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

const SUCCESS: u32 = 0;
const INVALID_VALUE: u32 = 1;
const INVALID_DEVICE: u32 = 101;
const NOT_FOUND: u32 = 500;
const NOT_SUPPORTED: u32 = 801;
const NOT_READY: u32 = 600;
const INVALID_PTX: u32 = 218;
const INVALID_IMAGE: u32 = 200;

/// `CU_JIT_ERROR_LOG_BUFFER`
const ERROR_LOG_BUFFER: u32 = 5;

/// What a test does with a launch: name, grid and block (six numbers), pointers to the arguments.
type Launcher = unsafe extern "C" fn(*const c_char, *const u32, *mut *mut c_void) -> u32;

/// What a crate that has this file does with a launch, if no test wants it: the number of the module, its text, name, grid and
/// block, pointers to the arguments.
pub type Runner = unsafe fn(usize, &str, &str, [u32; 6], *mut *mut c_void) -> u32;

/// The PTX that an image was assembled from, if it is known.
pub type TextOf = fn(&[u8]) -> Option<String>;

pub static RUNNER: Mutex<Option<(Runner, TextOf)>> = Mutex::new(None);

static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);
/// Start and length of every piece of device memory.
static MEMORY: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());
/// The kernels that were asked for; a function handle is the place here plus one.
static KERNELS: Mutex<Vec<Kernel>> = Mutex::new(Vec::new());
/// What a kernel ended with, if it failed; as on a GPU, that shows when it is waited for, and stays.
static FAULT: Mutex<u32> = Mutex::new(SUCCESS);
/// The modules that were loaded; a handle is the place here plus one.
static MODULES: Mutex<Vec<Module>> = Mutex::new(Vec::new());

struct Kernel {
    module: usize,
    name: CString,
    /// The part of L1 that is shared memory; -1 if nobody has said so.
    carve_out: i32,
    /// The bytes of its parameters, where the module is PTX.
    parameters: Option<Vec<usize>>,
}

struct Module {
    text: String,
    /// Its symbols, if it is a cubin whose text is not known.
    symbols: Option<BTreeMap<String, usize>>,
    /// Where its variables stand.
    variables: BTreeMap<String, u64>,
}

fn note(call: String) -> u32 {
    CALLS.lock().unwrap().push(call);
    SUCCESS
}

fn setting(name: &str, otherwise: i32) -> i32 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 256).unwrap()
}

/// Whether `bytes` bytes at `start` lie in one piece of device memory.
pub fn is_device_memory(start: u64, bytes: usize) -> bool {
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

/// Where a variable of a module is; 0 if nobody asked for one of that name.
pub fn variable(module: usize, name: &str) -> u64 {
    MODULES.lock().unwrap().get(module).and_then(|module| module.variables.get(name).copied()).unwrap_or(0)
}

fn allocate(bytes: usize) -> u64 {
    let start = unsafe { alloc(layout(bytes)) } as u64;
    if is_late() {
        unsafe { write_bytes(start as *mut u8, 0xa5, bytes) };
    }
    MEMORY.lock().unwrap().insert(start, bytes);
    start
}

fn free(address: u64) -> Option<usize> {
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

/// The bytes of a cubin: it ends with its last section, or with one of its two tables.
unsafe fn length(image: *const u8) -> usize {
    let number = |at: usize, bytes: usize| -> usize {
        let mut number = [0; 8];
        unsafe { copy_nonoverlapping(image.add(at), number.as_mut_ptr(), bytes) };
        u64::from_le_bytes(number) as usize
    };
    let [programs, sections] =
        [(0x20, 0x36), (0x28, 0x3a)].map(|(at, of)| (number(at, 8), number(of, 2), number(of + 2, 2)));
    const NO_BITS: usize = 8;
    let section = |at: usize| sections.0 + at * sections.1;
    let ends = (0..sections.2)
        .map(section)
        .filter(|at| number(at + 4, 4) != NO_BITS)
        .map(|at| number(at + 24, 8) + number(at + 32, 8));
    let tables = [programs, sections].map(|(at, length, count)| at + length * count);
    ends.chain(tables).max().unwrap_or_default()
}

/// The symbols of a cubin, with their bytes: kernels and variables.
unsafe fn symbols(image: *const u8) -> BTreeMap<String, usize> {
    let number = |at: usize, bytes: usize| -> usize {
        let mut number = [0; 8];
        unsafe { copy_nonoverlapping(image.add(at), number.as_mut_ptr(), bytes) };
        u64::from_le_bytes(number) as usize
    };
    let (sections, length, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    let section = |at: usize| sections + at * length;
    const SYMBOLS: usize = 2;
    let Some(table) = (0..count).map(section).find(|at| number(at + 4, 4) == SYMBOLS) else {
        return BTreeMap::new();
    };
    let (start, bytes, names) =
        (number(table + 24, 8), number(table + 32, 8), number(section(number(table + 40, 4)) + 24, 8));
    let symbol = |at: usize| {
        let name = unsafe { CStr::from_ptr(image.add(names + number(at, 4)).cast()) };
        (name.to_str().unwrap().to_owned(), number(at + 16, 8))
    };
    (start..start + bytes).step_by(24).map(symbol).collect()
}

/// Refuses an image with `bad` in it, with a log if one is asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut *mut c_void,
    image: *const c_char,
    options: u32,
    keys: *const u32,
    values: *const *mut u8,
) -> u32 {
    let start = image.cast::<u8>();
    let image = unsafe { CStr::from_ptr(image) }.to_bytes();
    let is_cubin = image.starts_with(b"\x7fELF");
    if image.windows(3).any(|word| word == b"bad") {
        let log = (0..options as usize).find(|at| unsafe { *keys.add(*at) } == ERROR_LOG_BUFFER);
        if let Some(at) = log {
            let text = c"line 4: bad is not an opcode".to_bytes_with_nul();
            unsafe { copy_nonoverlapping(text.as_ptr(), *values.add(at), text.len()) };
        }
        return INVALID_PTX;
    }
    let has = |text: &str| image.windows(text.len()).any(|part| part == text.as_bytes());
    stall("cuModuleLoadDataEx", has);
    if let Some(code) = code_of("FAKE_REFUSE", has) {
        return code;
    }
    let text_of = RUNNER.lock().unwrap().map(|(_, text_of)| text_of).filter(|_| is_cubin);
    let new = match text_of {
        None => Module {
            text: String::from_utf8_lossy(image).into_owned(),
            symbols: is_cubin.then(|| unsafe { symbols(start) }),
            variables: BTreeMap::new(),
        },
        Some(text_of) => match text_of(unsafe { std::slice::from_raw_parts(start, length(start)) }) {
            Some(text) => Module { text, symbols: None, variables: BTreeMap::new() },
            None => return INVALID_IMAGE,
        },
    };
    let mut modules = MODULES.lock().unwrap();
    modules.push(new);
    unsafe { module.write(modules.len() as *mut c_void) };
    note(format!("cuModuleLoadDataEx {}", image.len()))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(module: usize) -> u32 {
    for address in std::mem::take(&mut MODULES.lock().unwrap()[module - 1].variables).into_values() {
        free(address);
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) -> u32 {
    let name = unsafe { CStr::from_ptr(name) };
    let kernel = name.to_str().unwrap();
    let modules = MODULES.lock().unwrap();
    let Module { text, symbols, .. } = &modules[module - 1];
    if symbols.as_ref().is_some_and(|symbols| !symbols.contains_key(kernel)) {
        return NOT_FOUND;
    }
    if text.contains(".entry ") && !text.contains(&format!(".entry {kernel}(")) {
        return NOT_FOUND;
    }
    let mut kernels = KERNELS.lock().unwrap();
    let parameters = parameters(text, kernel);
    kernels.push(Kernel { module: module - 1, name: name.to_owned(), carve_out: -1, parameters });
    unsafe { function.write(kernels.len()) };
    note(format!("cuModuleGetFunction {kernel}"))
}

/// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`
const SHARED_SIZE: u32 = 1;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`
const CARVE_OUT: u32 = 9;

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(function: usize, which: u32, value: i32) -> u32 {
    if which != CARVE_OUT || !(-1..=100).contains(&value) {
        return INVALID_VALUE;
    }
    if setting("FAKE_CARVE_OUT", 1) != 0 {
        KERNELS.lock().unwrap()[function - 1].carve_out = value;
    }
    SUCCESS
}

/// Every kernel has 32 KiB of shared memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(value: *mut i32, which: u32, function: usize) -> u32 {
    let answer = match which {
        SHARED_SIZE => 32 << 10,
        CARVE_OUT => KERNELS.lock().unwrap()[function - 1].carve_out,
        _ => return INVALID_VALUE,
    };
    unsafe { value.write(answer) };
    SUCCESS
}

/// The bytes of an entry's parameters, as its PTX declares them.
fn parameters(image: &str, kernel: &str) -> Option<Vec<usize>> {
    let (_, behind) = image.split_once(&format!(".entry {kernel}("))?;
    let (list, _) = behind.split_once(')')?;
    let declared = list.split(',').filter(|one| !one.trim().is_empty());
    Some(declared.map(bytes_of_parameter).collect())
}

/// `.param .u64 name`, `.param .align 16 .b8 name[128]`
fn bytes_of_parameter(declared: &str) -> usize {
    let is_type = |word: &&str| word.starts_with(['b', 'u', 's', 'f']) && word[1..].parse::<usize>().is_ok();
    let of_type = declared.split_whitespace().filter_map(|word| word.strip_prefix('.')).find(is_type);
    let bits: usize = of_type.expect("a parameter has a type")[1..].parse().expect("a number");
    let count =
        declared.split_once('[').map_or(1, |(_, count)| count.trim().trim_end_matches(']').parse().expect("a number"));
    bits / 8 * count
}

/// Answers for kernels of PTX; offsets are not asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(function: usize, at: usize, _offset: *mut usize, size: *mut usize) -> u32 {
    if setting("FAKE_PARAMETERS", 1) == 0 {
        return INVALID_VALUE;
    }
    let kernels = KERNELS.lock().unwrap();
    let Some(sizes) = &kernels[function - 1].parameters else { return NOT_SUPPORTED };
    let Some(bytes) = sizes.get(at) else { return INVALID_VALUE };
    unsafe { size.write(*bytes) };
    SUCCESS
}

/// Variables of the module are of the size that its text says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut u64,
    bytes: *mut usize,
    module: usize,
    name: *const c_char,
) -> u32 {
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    let mut modules = MODULES.lock().unwrap();
    let Module { text, symbols, variables } = &mut modules[module - 1];
    let declared = text.lines().find_map(|line| line.split_once(&format!(".b8 {name}["))?.1.strip_suffix("];"));
    let in_cubin = symbols.as_ref().and_then(|symbols| symbols.get(name).copied());
    let Some(size) = declared.map(|size| size.parse::<usize>().expect("a number")).or(in_cubin) else {
        return NOT_FOUND;
    };
    let start = *variables.entry(name.to_owned()).or_insert_with(|| allocate(size));
    unsafe { address.write(start) };
    unsafe { bytes.write(size) };
    note(format!("cuModuleGetGlobal {name}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32 {
    if bytes == 0 {
        return INVALID_VALUE;
    }
    unsafe { address.write(allocate(bytes)) };
    note(format!("cuMemAlloc {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> u32 {
    free(address).map_or(INVALID_VALUE, |bytes| note(format!("cuMemFree {bytes}")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(address: *mut u64, bytes: usize) -> u32 {
    if bytes == 0 {
        return INVALID_VALUE;
    }
    unsafe { address.write(allocate(bytes)) };
    note(format!("cuMemAllocHost {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(address: u64) -> u32 {
    free(address).map_or(INVALID_VALUE, |bytes| note(format!("cuMemFreeHost {bytes}")))
}

/// What NVIDIA's manual asks of the arguments; the map is its dimensions, 1 where it is one of columns, and a mark.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeTiled(
    map: *mut [u64; 16],
    _data_type: u32,
    rank: u32,
    address: u64,
    _sizes: *const u64,
    strides: *const u64,
    tile: *const u32,
    _steps: *const u32,
    _interleave: u32,
    _swizzle: u32,
    _promotion: u32,
    _fill: u32,
) -> u32 {
    let sides = unsafe { std::slice::from_raw_parts(tile, rank as usize) };
    if !(1..=5).contains(&rank) || sides.iter().any(|side| !(1..=256).contains(side)) {
        return INVALID_VALUE;
    }
    unsafe { write_map(map, rank, address, strides, 0) }
        .map_or(INVALID_VALUE, |()| note(format!("cuTensorMapEncodeTiled {rank}")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeIm2col(
    map: *mut [u64; 16],
    _data_type: u32,
    rank: u32,
    address: u64,
    _sizes: *const u64,
    strides: *const u64,
    _lower: *const i32,
    _upper: *const i32,
    channels: u32,
    pixels: u32,
    _steps: *const u32,
    _interleave: u32,
    _swizzle: u32,
    _promotion: u32,
    _fill: u32,
) -> u32 {
    if !(3..=5).contains(&rank) || channels > 256 || pixels > 1024 {
        return INVALID_VALUE;
    }
    unsafe { write_map(map, rank, address, strides, 1) }
        .map_or(INVALID_VALUE, |()| note(format!("cuTensorMapEncodeIm2col {rank}")))
}

/// Checks what both kinds of map have in common.
unsafe fn write_map(map: *mut [u64; 16], rank: u32, address: u64, strides: *const u64, kind: u64) -> Option<()> {
    let strides = unsafe { std::slice::from_raw_parts(strides, rank as usize - 1) };
    let aligned = (map as u64).is_multiple_of(64)
        && address.is_multiple_of(16)
        && strides.iter().all(|stride| stride.is_multiple_of(16));
    if !aligned || !is_device_memory(address, 1) {
        return None;
    }
    let mut content = [0x7e_4509_6a70; 16];
    content[0] = u64::from(rank) | kind << 8;
    unsafe { map.write(content) };
    Some(())
}

/// As the real one does, it keeps what was in `from`, and comes back before that is on the GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) -> u32 {
    unsafe { cuMemcpyHtoDAsync_v2(to, from, bytes, LEGACY) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: *mut c_void) -> u32 {
    if !is_device_memory(to, bytes) {
        return INVALID_VALUE;
    }
    stall_after_kernel("cuMemcpyHtoD");
    let kept = unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec();
    take_effect(stream, move || unsafe { copy_nonoverlapping(kept.as_ptr(), to as *mut u8, bytes) });
    note(format!("cuMemcpyHtoD {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) -> u32 {
    if !is_device_memory(from, bytes) {
        return INVALID_VALUE;
    }
    stall_after_kernel("cuMemcpyDtoH");
    arrive(LEGACY);
    unsafe { copy_nonoverlapping(from as *const u8, to, bytes) };
    note(format!("cuMemcpyDtoH {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(to: u64, value: u8, bytes: usize) -> u32 {
    unsafe { cuMemsetD8Async(to, value, bytes, LEGACY) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(to: u64, value: u8, bytes: usize, stream: *mut c_void) -> u32 {
    if !is_device_memory(to, bytes) {
        return INVALID_VALUE;
    }
    take_effect(stream, move || unsafe { write_bytes(to as *mut u8, value, bytes) });
    note(format!("cuMemsetD8 {value:#04x} {bytes}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> u32 {
    if !is_device_memory(to, bytes) || !is_device_memory(from, bytes) {
        return INVALID_VALUE;
    }
    take_effect(stream, move || unsafe { copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) });
    note(format!("cuMemcpyDtoDAsync {bytes}"))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetLimit(which: u32, value: usize) -> u32 {
    note(format!("cuCtxSetLimit {which} {value}"))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxResetPersistingL2Cache() -> u32 {
    note("cuCtxResetPersistingL2Cache".into())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: usize,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    stream: *mut c_void,
    arguments: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> u32 {
    let (module, name) = {
        let Kernel { module, name, .. } = &KERNELS.lock().unwrap()[function - 1];
        (*module, name.clone())
    };
    let shape = [grid_x, grid_y, grid_z, block_x, block_y, block_z];
    note(format!("cuLaunchKernel {} {shape:?} {shared_bytes}", name.to_str().unwrap()));
    let launcher = *LAUNCHER.lock().unwrap();
    let fault = *FAULT.lock().unwrap();
    let is_this = |kernel: &str| name.to_bytes() == kernel.as_bytes();
    launched(&name);
    arrive(stream);
    LAUNCHED.fetch_add(1, Relaxed);
    if names("FAKE_HANG", &name) {
        *FAULT.lock().unwrap() = NOT_READY;
        return SUCCESS;
    }
    if let Some(code) = code_of("FAKE_LAUNCH", is_this) {
        return code;
    }
    if let Some(code) = code_of("FAKE_FAULT", is_this) {
        *FAULT.lock().unwrap() = code;
        return fault;
    }
    let runner = *RUNNER.lock().unwrap();
    match (launcher, runner, fault) {
        (Some(launch), _, SUCCESS) => {
            *FAULT.lock().unwrap() = unsafe { launch(name.as_ptr(), shape.as_ptr(), arguments) };
        }
        (None, Some((run, _)), SUCCESS) => {
            let text = MODULES.lock().unwrap()[module].text.clone();
            *FAULT.lock().unwrap() = unsafe { run(module, &text, name.to_str().unwrap(), shape, arguments) };
        }
        _ => {}
    }
    fault
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> u32 {
    arrive(stream);
    *FAULT.lock().unwrap()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(stream: *mut c_void) -> u32 {
    arrive(stream);
    *FAULT.lock().unwrap()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> u32 {
    all_arrive();
    *FAULT.lock().unwrap()
}

/// A GPU as new.
#[unsafe(no_mangle)]
pub extern "C" fn fake_forget_fault() {
    *FAULT.lock().unwrap() = SUCCESS;
}

/// The handle of a stream is 0xe0 and its flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, _priority: i32) -> u32 {
    unsafe { stream.write((0xe0 | flags as usize) as *mut c_void) };
    SUCCESS
}

/// How many kernels were launched.
static LAUNCHED: AtomicUsize = AtomicUsize::new(0);
/// How many there were when an event was recorded; its handle is the place here plus one.
static EVENTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _flags: u32) -> u32 {
    let mut events = EVENTS.lock().unwrap();
    events.push(0);
    unsafe { event.write(events.len() as *mut c_void) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: usize, _stream: *mut c_void) -> u32 {
    EVENTS.lock().unwrap()[event - 1] = LAUNCHED.load(Relaxed);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, stop: usize) -> u32 {
    let events = EVENTS.lock().unwrap();
    let elapsed = match setting("FAKE_MICROSECONDS", 0) {
        0 => 2.0,
        each => (events[stop - 1] - events[start - 1]).max(1) as f32 * each as f32 / 1e3,
    };
    unsafe { milliseconds.write(elapsed) };
    SUCCESS
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
