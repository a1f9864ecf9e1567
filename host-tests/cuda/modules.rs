//! Images, modules and their functions.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::copy_nonoverlapping;

use super::hostile::{code_of, stall};
use super::{
    ERROR_LOG_BUFFER, INVALID_PTX, INVALID_VALUE, KERNELS, Kernel, MODULES, Module, NOT_FOUND, NOT_SUPPORTED, SUCCESS,
    allocate, free, note, setting,
};

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
    let new = Module {
        text: String::from_utf8_lossy(image).into_owned(),
        symbols: is_cubin.then(|| unsafe { symbols(start) }),
        variables: BTreeMap::new(),
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
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
const MAX_DYNAMIC_SHARED: u32 = 8;

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(function: usize, which: u32, value: i32) -> u32 {
    if which == MAX_DYNAMIC_SHARED {
        return note(format!("cuFuncSetAttribute {function} {which} {value}"));
    }
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
