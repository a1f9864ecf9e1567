//! What has another release's functions of the runtime, or has them in itself: each of them then begins with a jump to the one of
//! this library.
//!
//! - A program that has the runtime in it: nvcc links it so, if it is not told `-cudart shared`. `cargo ptx check` loads this library
//!   before such a program.
//! - A copy of this library by the name `libcudart.so.12`: some functions of that release take other arguments by the same name.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::read::File;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::output::note;

/// What says that this library was loaded for that.
const VARIABLE: &str = "PTX_CHECK_LINKED";
/// The name of a copy.
const RUNTIME_12: &str = "libcudart.so.12";
/// The program.
const PROGRAM: &str = "/proc/self/exe";
/// `jmp [rip]`, and the address after it.
const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
const BYTES: usize = JUMP.len() + size_of::<usize>();

/// Whose second version takes the same arguments as the first, or is not of CUDA 12.
const SAME: [&str; 2] = ["cudaEventElapsedTime", "cudaLaunchHostFunc"];
/// Both releases have it here, each with a structure of its own.
const PROPERTIES: &str = "cudaGetDeviceProperties";

/// The loader calls it before the program registers its kernels.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    let Some((path, _)) = library_of(begin as *const c_void) else { return };
    if path.file_name().is_some_and(|name| name == RUNTIME_12) {
        if let Err(error) = replaced_by_library(&path) {
            note(&format!("{RUNTIME_12} cannot be used: {error}; link the program with the runtime of CUDA 13"));
        }
    } else if std::env::var_os(VARIABLE).is_some() {
        let own = handle(&path, libc::RTLD_NOLOAD).ok_or_else(|| "this library does not find itself".to_owned());
        if let Err(error) = own.and_then(replace_in_program) {
            note(&format!(
                "the runtime in the program stays as it is: {error}; link the program with `-cudart shared`"
            ));
        }
    }
}

/// A function of the program or of the copy, and the one that takes its place.
struct Replaced {
    at: u64,
    to: *mut c_void,
}

/// A function by its name, and where it is in its file.
type Function<'a> = (&'a str, u64);

fn replace_in_program(own: Handle) -> Result<(), String> {
    let program = read(Path::new(PROGRAM))?;
    let file = File::parse(&*program).map_err(|error| format!("{PROGRAM} cannot be read ({error})"))?;
    let functions: Vec<Function> =
        functions(file.symbols()).filter(|(name, _)| name.starts_with("cuda") || name.starts_with("__cuda")).collect();
    replace(&functions, address_of_program(), own)
}

/// Lets the library beside this copy replace the copy's functions: that one has the state, and its code is not changed meanwhile.
fn replaced_by_library(copy: &Path) -> Result<(), String> {
    let library = copy.with_file_name("libcuda.so.1");
    let lacks = || format!("there is no such library beside it: {}", library.display());
    let own = handle(&library, 0).ok_or_else(lacks)?;
    // SAFETY: the library is loaded, and the name ends with a zero.
    let replace = unsafe { libc::dlsym(own.0, c"ptx_gpu_replace_copy".as_ptr()) };
    if replace.is_null() {
        return Err(lacks());
    }
    // SAFETY: it is the function below.
    let replace: extern "C" fn(*const c_void) = unsafe { std::mem::transmute(replace) };
    replace(begin as *const c_void);
    Ok(())
}

/// Lets the functions of a copy, in which this address is, jump to those of this library.
#[unsafe(no_mangle)]
extern "C" fn ptx_gpu_replace_copy(address: *const c_void) {
    let replaced = (|| {
        let lost = || "this library does not find itself".to_owned();
        let (own, _) = library_of(begin as *const c_void).ok_or_else(lost)?;
        let (copy, begin) = library_of(address).ok_or_else(lost)?;
        replace_in_copy(&copy, begin, handle(&own, libc::RTLD_NOLOAD).ok_or_else(lost)?)
    })();
    if let Err(error) = replaced {
        note(&format!("{RUNTIME_12} cannot be used: {error}; link the program with the runtime of CUDA 13"));
    }
}

fn replace_in_copy(path: &Path, begin: u64, own: Handle) -> Result<(), String> {
    let copy = read(path)?;
    let file = File::parse(&*copy).map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
    let functions: Vec<Function> = functions(file.dynamic_symbols())
        .filter(|(name, _)| name.starts_with("cu") || name.starts_with("__cuda"))
        .collect();
    replace(&functions, begin, own)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{} cannot be read ({error})", path.display()))
}

fn functions<'a, S: ObjectSymbol<'a>>(symbols: impl Iterator<Item = S>) -> impl Iterator<Item = Function<'a>> {
    let is_long = |symbol: &S| symbol.is_definition() && symbol.size() >= BYTES as u64;
    symbols
        .filter(move |symbol| symbol.kind() == SymbolKind::Text && is_long(symbol))
        .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
}

fn replace(functions: &[Function], begin: u64, own: Handle) -> Result<(), String> {
    let names: HashSet<&str> = functions.iter().map(|(name, _)| *name).collect();
    let is_12 = names.contains(&*format!("{PROPERTIES}_v2"));
    let replaced = functions.iter().filter_map(|(name, address)| {
        let is_of_12 = is_12 && name.starts_with("cuda");
        let name = if is_of_12 { name_in_13(name, |newer| names.contains(newer)) } else { (*name).to_owned() };
        let name = CString::new(name).ok()?;
        // SAFETY: the library is loaded, and the name ends with a zero.
        let to = unsafe { libc::dlsym(own.0, name.as_ptr()) };
        (!to.is_null()).then(|| Replaced { at: begin + address, to })
    });
    replaced.collect::<Vec<_>>().iter().try_for_each(jump)
}

/// The function here that takes the arguments of one of CUDA 12's. The newest version of a function there is the only one in CUDA 13,
/// and the driver still has the older ones.
fn name_in_13(name: &str, is_in_program: impl Fn(&str) -> bool) -> String {
    let (all, stream) = name.strip_suffix("_ptsz").map_or((name, ""), |all| (all, "_ptsz"));
    let versioned = all.rsplit_once("_v").and_then(|(stem, version)| Some((stem, version.parse::<u32>().ok()?)));
    let (stem, version) = versioned.unwrap_or((all, 1));
    let is_newest = !is_in_program(&format!("{stem}_v{}{stream}", version + 1));
    match stem {
        PROPERTIES => format!("{stem}_v{version}"),
        _ if is_newest || SAME.contains(&stem) => format!("{stem}{stream}"),
        _ => name.replacen("cuda", "cu", 1),
    }
}

/// What has to be added to the addresses in the program's file.
fn address_of_program() -> u64 {
    extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, to: *mut c_void) -> c_int {
        // SAFETY: the loader hands its description of the program, and what is below.
        unsafe { *to.cast::<u64>() = (*info).dlpi_addr };
        1
    }
    let mut address = 0u64;
    // SAFETY: the first one is the program, and the address lives longer than the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut address).cast()) };
    address
}

/// A library that is loaded, so that its functions are found and not others of the same names.
struct Handle(*mut c_void);

fn handle(path: &Path, flags: c_int) -> Option<Handle> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the name ends with a zero.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | flags) };
    (!handle.is_null()).then_some(Handle(handle))
}

/// The file of the library in which an address is, and where it begins.
fn library_of(address: *const c_void) -> Option<(PathBuf, u64)> {
    // SAFETY: the loader fills it in; its name lives as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut info) == 0 {
            return None;
        }
        let name = CStr::from_ptr(info.dli_fname.cast::<c_char>());
        Some((PathBuf::from(OsStr::from_bytes(name.to_bytes())), info.dli_fbase as u64))
    }
}

/// Lets a function begin with a jump.
#[cfg(target_arch = "x86_64")]
fn jump(replaced: &Replaced) -> Result<(), String> {
    let mut code = [0; BYTES];
    code[..JUMP.len()].copy_from_slice(&JUMP);
    code[JUMP.len()..].copy_from_slice(&(replaced.to as usize).to_le_bytes());
    // SAFETY: it asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let first = replaced.at / page * page;
    let bytes = (replaced.at + BYTES as u64 - first) as usize;
    let protect = |how: c_int| {
        // SAFETY: the pages are code of the program, which does not run yet.
        let status = unsafe { libc::mprotect(first as *mut c_void, bytes, how) };
        if status == 0 {
            Ok(())
        } else {
            Err(format!("its code cannot be changed ({})", std::io::Error::last_os_error()))
        }
    };
    protect(libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: the function has as many bytes, nobody executes it now, and its pages may be written.
    unsafe { (replaced.at as *mut u8).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
    protect(libc::PROT_READ | libc::PROT_EXEC)
}

#[cfg(not(target_arch = "x86_64"))]
fn jump(_: &Replaced) -> Result<(), String> {
    Err(format!("this is not known for the processor {}", std::env::consts::ARCH))
}
