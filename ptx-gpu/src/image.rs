//! What a program loads: PTX, or a fat binary with PTX in it.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};

use ptx_interpreter::link;
use ptx_sass::cubin;
use ptx_sass::fatbin::{self, Image, Kind};
use ptx_sass::target::runs_on;

use crate::changed::changed;
use crate::gpu::Code;
use crate::kept;
use crate::status::{INVALID_IMAGE, INVALID_PTX, INVALID_VALUE, NO_BINARY_FOR_GPU, Status};

/// What nvcc puts before the pointer to a fat binary.
const WRAPPER: u32 = 0x4662_43b1;
/// The version of that where nvcc has linked device code, which `-rdc=true` asks for. What was linked comes after the pointer.
const LINKED: u32 = 2;
/// What a library of NVIDIA's defines that `-rdc=true` links to every program: `cudadevrt`.
const OF_DEVICE_RUNTIME: &str = "cudaGetParameterBufferV2";
/// The kind of a section that has no bytes in the file.
const NO_BITS: usize = 8;

/// Why an image cannot be run, and what to do.
pub(crate) struct Refused(pub(crate) Status, pub(crate) String);

/// What an image has that a GPU of this kind can run.
///
/// # Safety
/// The image is a text that ends with 0, a fat binary, or machine code.
pub(crate) unsafe fn code(image: *const c_void, sm: u32) -> Result<Code, Refused> {
    if image.is_null() {
        return Err(Refused(INVALID_VALUE, "the image is a null pointer".into()));
    }
    let wrapper = image.cast::<u8>();
    // SAFETY: the caller says so.
    let start = unsafe { unwrapped(wrapper) };
    if start != wrapper {
        // SAFETY: the version is the second number, and a pointer follows the one to the fat binary; the list ends with a null pointer.
        unsafe {
            let units = wrapper.add(16).cast::<*const *const u8>().read_unaligned();
            if wrapper.add(4).cast::<u32>().read_unaligned() == LINKED && !units.is_null() {
                let units = (0..).map(|at| *units.add(at)).take_while(|unit| !unit.is_null());
                return of_linked(fat_binary(start), units.map(|unit| fat_binary(unit)), sm);
            }
        }
    }
    // SAFETY: it is none of nvcc's wrappers any longer.
    if unsafe { begins(start, b"\x7fELF") } {
        // SAFETY: as above; machine code is as long as its tables say.
        return unsafe { of_machine_code(start) };
    }
    // SAFETY: as above; a fat binary is as long as its header says.
    if unsafe { begins(start, &0xba55_ed50_u32.to_le_bytes()) } {
        // SAFETY: as above.
        return of_fat_binary(unsafe { fat_binary(start) }, sm);
    }
    // SAFETY: it is a text then.
    let text = unsafe { CStr::from_ptr(start.cast()) }.to_string_lossy().into_owned();
    Ok(Code { ptx: of_text(text, sm)?, registers: HashMap::new() })
}

/// Whether a GPU of this kind would run the machine code of a fat binary.
///
/// # Safety
/// It is a fat binary, or what nvcc puts before one.
pub(crate) unsafe fn has_machine_code(image: *const c_void, sm: u32) -> bool {
    // SAFETY: the caller says so.
    let bytes = unsafe { fat_binary(unwrapped(image.cast())) };
    fatbin::images(bytes).is_ok_and(|images| machine_code_for(sm, &images).is_some())
}

/// Where the fat binary is, if this is what nvcc puts before a pointer to one.
///
/// # Safety
/// The image is as [`code`] takes it.
unsafe fn unwrapped(image: *const u8) -> *const u8 {
    // SAFETY: the shortest of them, an empty text, has one byte; the others are longer than their first four bytes. What is put before
    // begins with two numbers and the pointer.
    unsafe {
        match begins(image, &WRAPPER.to_le_bytes()) {
            true => image.add(8).cast::<*const u8>().read_unaligned(),
            false => image,
        }
    }
}

/// # Safety
/// Bytes can be read up to the first one that differs.
unsafe fn begins(start: *const u8, with: &[u8]) -> bool {
    // SAFETY: each byte is read only if the ones before it are as expected.
    with.iter().enumerate().all(|(at, byte)| unsafe { start.add(at).read() } == *byte)
}

/// # Safety
/// It is a fat binary, all of it.
unsafe fn fat_binary<'a>(start: *const u8) -> &'a [u8] {
    // SAFETY: its header has 16 bytes, and says how long it is.
    unsafe {
        let header = std::slice::from_raw_parts(start, 16);
        std::slice::from_raw_parts(start, fatbin::length(header).unwrap_or(header.len()))
    }
}

fn no_ptx(what: &str) -> Refused {
    let text = format!(
        "the image has {what}, and only PTX can be run here: compile with \
         `nvcc -gencode arch=compute_90,code=[sm_90,compute_90]`, or load PTX; where a build script calls nvcc, set \
         NVCC_APPEND_FLAGS=\"-gencode arch=compute_90,code=compute_90\""
    );
    Refused(NO_BINARY_FOR_GPU, text)
}

/// The same of a file that `nvcc --cubin` has made.
fn no_ptx_of_machine_code() -> Refused {
    let text = "the image is machine code, and only PTX can be run here: load PTX, or where the program calls `nvcc --cubin`, set \
                NVCC_APPEND_FLAGS=\"--ptx -lineinfo\"";
    Refused(NO_BINARY_FOR_GPU, text.into())
}

/// A program that nvcc has linked: its machine code is one image, and the PTX is beside it, in what was linked.
fn of_linked<'a>(whole: &[u8], units: impl Iterator<Item = &'a [u8]>, sm: u32) -> Result<Code, Refused> {
    let mut texts = Vec::new();
    for (number, unit) in units.enumerate() {
        let images = fatbin::images(unit).unwrap_or_default();
        let functions = machine_code_for(sm, &images).map(|code| registers(&code)).unwrap_or_default();
        match of_fat_binary(unit, sm) {
            _ if functions.contains_key(OF_DEVICE_RUNTIME) => {}
            Ok(code) => texts.push(code.ptx),
            Err(Refused(status, why)) => {
                let file = images.iter().find_map(|image| image.file.map(str::to_owned));
                let function = || Some(format!("that of `{}`", functions.keys().min()?));
                let name = file.or_else(function).unwrap_or_else(|| format!("number {}", number + 1));
                let has_ptx = images.iter().any(|image| image.kind == Kind::Ptx);
                let why = if has_ptx { why } else { no_ptx_of_unit(&content(&images), sm) };
                return Err(Refused(status, format!("of the files that nvcc has linked (-rdc=true), {name}: {why}")));
            }
        }
    }
    let machine_code = fatbin::images(whole).ok().and_then(|images| machine_code_for(sm, &images));
    let registers = machine_code.map(|code| registers(&code)).unwrap_or_default();
    Ok(Code { ptx: link(&texts), registers })
}

/// What to write where one of the files has no PTX that nvcc has linked.
fn no_ptx_of_unit(what: &str, sm: u32) -> String {
    format!(
        "it has {what}, and only PTX can be run here: compile each file with \
         `nvcc -rdc=true -gencode arch=compute_{sm},code=[sm_{sm},compute_{sm}]`, without `-dlto`"
    )
}

/// What a fat binary without PTX has.
fn content(images: &[Image<'_>]) -> String {
    let machine_code: Vec<_> = images.iter().filter(|image| image.kind == Kind::Cubin).collect();
    match machine_code[..] {
        [] if images.is_empty() => "no code".into(),
        [] => "code for nvcc's linker alone (-dlto)".into(),
        _ => format!("machine code of {} alone", names(machine_code)),
    }
}

/// The PTX that machine code was assembled from, if somebody knows it.
///
/// # Safety
/// It is machine code, all of it.
unsafe fn of_machine_code(start: *const u8) -> Result<Code, Refused> {
    // SAFETY: as above.
    let bytes = unsafe { std::slice::from_raw_parts(start, length(start)) };
    kept(bytes).ok_or_else(no_ptx_of_machine_code)
}

/// The PTX of machine code, if somebody has kept it.
fn kept(machine_code: &[u8]) -> Option<Code> {
    let registers = registers(machine_code);
    let known = changed().and_then(|changed| (changed.text_of)(machine_code));
    Some(Code { ptx: known.or_else(|| kept::text_of(machine_code, &registers))?, registers })
}

/// Machine code that cannot be read says nothing.
fn registers(machine_code: &[u8]) -> HashMap<String, i32> {
    let takes = cubin::takes(machine_code).unwrap_or_default();
    takes.into_iter().filter_map(|(name, takes)| Some((name, takes.registers? as i32))).collect()
}

/// The bytes of machine code: it ends with its last section, or with one of its two tables.
///
/// # Safety
/// It is machine code, all of it.
unsafe fn length(start: *const u8) -> usize {
    let number = |at: usize, bytes: usize| {
        let mut number = [0; 8];
        // SAFETY: the tables, and what they name, are within the machine code.
        unsafe { std::ptr::copy_nonoverlapping(start.add(at), number.as_mut_ptr(), bytes) };
        u64::from_le_bytes(number) as usize
    };
    let [programs, sections] =
        [(0x20, 0x36), (0x28, 0x3a)].map(|(at, of)| (number(at, 8), number(of, 2), number(of + 2, 2)));
    let section = |at: usize| sections.0 + at * sections.1;
    let has_bytes = |at: &usize| number(at + 4, 4) != NO_BITS;
    let ends = (0..sections.2).map(section).filter(has_bytes).map(|at| number(at + 24, 8) + number(at + 32, 8));
    let tables = [programs, sections].map(|(at, length, count)| at + length * count);
    ends.chain(tables).max().unwrap_or_default()
}

fn of_fat_binary(bytes: &[u8], sm: u32) -> Result<Code, Refused> {
    let invalid = |error: fatbin::Unreadable| Refused(INVALID_IMAGE, error.to_string());
    let images = fatbin::images(bytes).map_err(invalid)?;
    let mut ptx: Vec<&Image<'_>> = images.iter().filter(|image| image.kind == Kind::Ptx).collect();
    if ptx.is_empty() {
        let code = machine_code_for(sm, &images).and_then(|bytes| kept(&bytes));
        return code.ok_or_else(|| no_ptx(&content(&images)));
    }
    // As on a GPU: the newest that it knows.
    ptx.sort_by_key(|image| std::cmp::Reverse(image.sm));
    for image in ptx.iter().filter(|image| image.sm <= sm) {
        let ptx = image.text().map_err(invalid)?;
        if fits(&ptx, sm) {
            let registers = machine_code_for(sm, &images).map(|bytes| registers(&bytes)).unwrap_or_default();
            return Ok(Code { ptx, registers });
        }
    }
    let text = format!(
        "the image has PTX of {}, and the GPU is sm_{sm}: choose another with `cargo ptx check --sm`",
        names(ptx)
    );
    Err(Refused(NO_BINARY_FOR_GPU, text))
}

/// A GPU takes the machine code for the newest of its family that is not newer than itself.
fn machine_code_for(sm: u32, images: &[Image<'_>]) -> Option<Vec<u8>> {
    let runs = |image: &&Image<'_>| image.kind == Kind::Cubin && image.sm / 10 == sm / 10 && image.sm <= sm;
    images.iter().filter(runs).max_by_key(|image| image.sm)?.bytes().ok()
}

fn names<'a>(images: Vec<&Image<'a>>) -> String {
    images.iter().map(|image| format!("sm_{}", image.sm)).collect::<Vec<_>>().join(", ")
}

fn of_text(text: String, sm: u32) -> Result<String, Refused> {
    if !text.contains(".version") || !text.contains(".target") {
        let begin: String = text.chars().take(40).collect();
        return Err(Refused(INVALID_IMAGE, format!("this is no PTX: it has no `.version` or no `.target`: {begin:?}")));
    }
    if !fits(&text, sm) {
        let wants = target(&text).unwrap_or_default();
        let text =
            format!("the PTX is for {wants}, and the GPU is sm_{sm}: choose another with `cargo ptx check --sm`");
        return Err(Refused(INVALID_PTX, text));
    }
    Ok(text)
}

fn target(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    line.split([',', '/']).next().map(str::trim)
}

/// Whether PTX runs on such a GPU.
fn fits(text: &str, sm: u32) -> bool {
    let Some(name) = target(text).and_then(|target| target.strip_prefix("sm_")) else { return true };
    let digits = name.trim_end_matches(|c: char| !c.is_ascii_digit());
    let Ok(wants) = digits.parse::<u32>() else { return true };
    runs_on(wants, name[digits.len()..].chars().next(), sm)
}
