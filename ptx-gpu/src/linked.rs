//! A program that has the runtime in it: nvcc links it so, if it is not told `-cudart shared`. `cargo ptx check` loads this
//! library before such a program. Each function of the runtime in the program then begins with a jump to the one of this library.

use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;

use object::read::File;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::output::note;

/// What says that this library was loaded for that.
const VARIABLE: &str = "PTX_CHECK_LINKED";
/// The program.
const PROGRAM: &str = "/proc/self/exe";
/// `jmp [rip]`, and the address after it.
const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
const BYTES: usize = JUMP.len() + size_of::<usize>();

/// Whose second version takes the same arguments as the first.
const SAME: [&str; 1] = ["cudaEventElapsedTime"];
/// Both releases have it here, each with a structure of its own.
const PROPERTIES: &str = "cudaGetDeviceProperties";

/// The loader calls it before the program registers its kernels.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    if let Err(error) = replace() {
        note(&format!("the runtime in the program stays as it is: {error}; link the program with `-cudart shared`"));
    }
}

/// A function of the program, and the one that takes its place.
struct Replaced {
    at: u64,
    to: *mut c_void,
}

fn replace() -> Result<(), String> {
    let program = fs::read(PROGRAM).map_err(|error| format!("{PROGRAM} cannot be read ({error})"))?;
    let file = File::parse(&*program).map_err(|error| format!("{PROGRAM} cannot be read ({error})"))?;
    let begin = address_of_program();
    let own = this_library().ok_or("this library does not find itself")?;
    let is_of_runtime = |name: &&str| name.starts_with("cuda") || name.starts_with("__cuda");
    let functions: Vec<_> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() >= BYTES as u64)
        .filter_map(|symbol| Some((symbol.name().ok().filter(is_of_runtime)?, symbol.address())))
        .collect();
    let names: HashSet<&str> = functions.iter().map(|(name, _)| *name).collect();
    let is_12 = names.contains(&*format!("{PROPERTIES}_v2"));
    let replaced = functions.iter().filter_map(|(name, address)| {
        let name = if is_12 { name_in_13(name, |newer| names.contains(newer)) } else { (*name).to_owned() };
        let name = CString::new(name).ok()?;
        // SAFETY: the library is loaded, and the name ends with a zero.
        let to = unsafe { libc::dlsym(own, name.as_ptr()) };
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
    if is_in_program(&format!("{stem}_v{}{stream}", version + 1)) && !SAME.contains(&stem) {
        return name.replacen("cuda", "cu", 1);
    }
    if stem == PROPERTIES { name.to_owned() } else { format!("{stem}{stream}") }
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

/// The handle of this library, so that its own functions are found and not the program's of the same names.
fn this_library() -> Option<*mut c_void> {
    // SAFETY: the loader fills it in; its name lives as long as the library.
    let name: &CStr = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(begin as *const c_void, &raw mut info) == 0 {
            return None;
        }
        CStr::from_ptr(info.dli_fname.cast::<c_char>())
    };
    // SAFETY: the name ends with a zero; the library is loaded already.
    let own = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!own.is_null()).then_some(own)
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
