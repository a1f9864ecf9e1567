//! Other libraries' functions that give way to those here: each of them then begins with a jump. `cargo ptx check` loads this library
//! before the program, and so it sees the program and every library before they begin.
//!
//! - A program or a library that has the runtime in it: nvcc links it so, if it is not told `-cudart shared`. Its symbols need not be
//!   there.
//! - NVIDIA's own `libcudart.so`, `libcuda.so`, `libcublas.so`, `libcublasLt.so`, `libcurand.so` and `libcufft.so`, if a program finds them by a path of its own.
//! - A copy of this library by the name `libcudart.so.12`: some functions of that release take other arguments by the same name.
//! - NVRTC, which is asked for machine code: it gives the PTX that it has as well, with lines of the source.
//! - nvJitLink, which links machine code: it gives linked PTX.

mod jit_link;
mod jump;
mod loader;
mod nvrtc;
mod redirect;
mod stripped;

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol, SymbolKind};

use crate::output::note;
use jump::{BYTES, jump};
use loader::Object;
use redirect::Names;

/// The library that is opened before the program, for that.
const VARIABLE: &str = "PTX_CHECK_OPENS";

/// NVIDIA's libraries whose functions are here.
const LIBRARIES: [&str; 6] =
    ["libcudart.so", "libcuda.so", "libcublas.so", "libcublasLt.so", "libcurand.so", "libcufft.so"];
/// The name of a copy.
const RUNTIME_12: &str = "libcudart.so.12";
/// A function of the runtime that each program of nvcc's calls.
const REGISTER: &str = "__cudaRegisterFatBinary";
/// By which a source of nvcc's tells its kernels: `__sti____cudaRegisterAll`.
const CONSTRUCTOR: &str = "_ZL24__sti____cudaRegisterAllv";
/// Where nvcc has linked several sources (`-rdc=true`), how many have called it: the last one tells the kernels of all.
const CALLED: &str = "_ZZL26__cudaRegisterLinkedBinaryPK19__fatBinC_Wrapper_tPFvPPvES2_E3__i";
/// The section of what was linked.
const OF_LINKED: &str = "__nv_relfatbin";
/// Whose second version takes the same arguments as the first, or is not of CUDA 12.
const SAME: [&str; 2] = ["cudaEventElapsedTime", "cudaLaunchHostFunc"];
/// Whose only version in CUDA 12 takes another argument than the one of CUDA 13.
const OTHER: [&str; 1] = ["cudaMemcpyBatchAsync"];
/// What the runtime of CUDA 11 has, and no later one: textures of that name went with CUDA 12.
const OF_11: &str = "cudaBindTexture";
/// Newer versions than CUDA 11's, which came with other arguments.
const SINCE_12: [&str; 10] = [
    "cudaGraphAddDependencies_v2",
    "cudaGraphExecUpdate_v2",
    "cudaGraphGetEdges_v2",
    "cudaGraphInstantiate_v2",
    "cudaGraphNodeGetDependencies_v2",
    "cudaGraphNodeGetDependentNodes_v2",
    "cudaGraphRemoveDependencies_v2",
    "cudaMemAdvise_v2",
    "cudaMemPrefetchAsync_v2",
    "cudaStreamGetCaptureInfo_v3",
];
/// Its structure is a smaller one in CUDA 11.
const ATTRIBUTES: &str = "cudaFuncGetAttributes";
/// Each release has it here, with a structure of its own.
const PROPERTIES: &str = "cudaGetDeviceProperties";

/// The loader calls it before the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    let is_copy = own().is_some_and(|(file, _)| file.file_name().is_some_and(|name| name == RUNTIME_12));
    if is_copy || std::env::var_os(VARIABLE).is_none() {
        return;
    }
    if let Err(error) = loader::visit_all(replace_in) {
        note(&format!("a runtime in a library stays as it is: {error}; link the library with `-cudart shared`"));
    }
}

/// Replaces the functions of an object, if it has any of the runtime's, the driver's or NVRTC's.
fn replace_in(object: &Object) {
    let Ok(file) = File::open(&object.file) else { return };
    let cache = ReadCache::new(file);
    let Ok(file) = ElfFile64::<object::Endianness, _>::parse(&cache) else { return };
    let name = object.file.file_name().and_then(OsStr::to_str).unwrap_or("");
    let replaced = if own().is_some_and(|(_, begin)| begin == object.address) {
        Ok(())
    } else if name.starts_with("libnvrtc.so") {
        nvrtc::replace(&functions(file.dynamic_symbols()), &Names::of(&file, object))
    } else if name.starts_with("libnvJitLink.so") {
        jit_link::replace(&Names::of(&file, object))
    } else if LIBRARIES.iter().any(|library| name.starts_with(library)) {
        replace(&functions(file.dynamic_symbols()), object.address)
    } else if file.symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(REGISTER)) {
        let called = file.symbols().filter(|symbol| symbol.name() == Ok(CALLED));
        called.filter(|_| object.has_begun).for_each(|called| call_again(object.address + called.address() as usize));
        replace_runtime(&functions(file.symbols()), object)
    } else if object.has_begun && file.section_by_name(OF_LINKED).is_some() {
        Err("it has begun, it is of several sources (-rdc=true), and it has no symbols".into())
    } else {
        // The others tell their kernels by themselves, later.
        let constructor = object.has_begun.then_some(CONSTRUCTOR);
        let functions = stripped::functions(&file, constructor).unwrap_or_default();
        let functions: Vec<Function> = functions.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        replace_runtime(&functions, object)
    };
    if let Err(error) = replaced {
        note(&format!(
            "the runtime in {} stays as it is: {error}; link it with `-cudart shared`",
            object.file.display()
        ));
    }
}

/// A function of an object, and where it is in its file.
type Function<'a> = (&'a str, usize);

/// The functions that have room for a jump.
fn functions<'a, S: ObjectSymbol<'a>>(symbols: impl Iterator<Item = S>) -> Vec<Function<'a>> {
    symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() >= BYTES as u64)
        .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address() as usize)))
        .collect()
}

/// Replaces the runtime in a program or a library of nvcc's. A library that has begun tells its kernels again.
fn replace_runtime(functions: &[Function], object: &Object) -> Result<(), String> {
    let is_of_runtime = |(name, _): &&Function| name.starts_with("cuda") || name.starts_with("__cuda");
    replace(&functions.iter().filter(is_of_runtime).copied().collect::<Vec<_>>(), object.address)?;
    for (_, at) in functions.iter().filter(|(name, _)| object.has_begun && *name == CONSTRUCTOR) {
        // SAFETY: it is a constructor of the library, without arguments.
        unsafe { std::mem::transmute::<usize, extern "C" fn()>(object.address + at)() };
    }
    Ok(())
}

/// All sources call again.
fn call_again(called: usize) {
    // SAFETY: the symbol says that this number of the object is there. Nothing else of the object runs now.
    unsafe { (called as *mut i32).write(0) };
}

/// Lets each function begin with a jump to the one here that takes its arguments.
fn replace(functions: &[Function], address: usize) -> Result<(), String> {
    let names: HashSet<&str> = functions.iter().map(|(name, _)| *name).collect();
    let is_11 = names.contains(OF_11);
    let is_before_13 = is_11 || names.contains(&*format!("{PROPERTIES}_v2"));
    let has_newer = |newer: &str| {
        let newer_of_all = newer.strip_suffix("_ptsz").unwrap_or(newer);
        names.contains(newer) || is_11 && SINCE_12.contains(&newer_of_all)
    };
    for (name, at) in functions.iter().filter(|(name, _)| name.starts_with("cu") || name.starts_with("__cuda")) {
        let is_older = is_before_13 && name.starts_with("cuda");
        let name = if is_11 && *name == ATTRIBUTES {
            format!("{name}_v1")
        } else if is_older {
            name_in_13(name, has_newer)
        } else {
            (*name).to_owned()
        };
        if let Some(to) = function_here(&name) {
            // SAFETY: the symbol says that the function is there and how long it is, and nothing of the object has begun.
            unsafe { jump(address + at, to) }?;
        }
    }
    Ok(())
}

/// The function here that takes the arguments of one of CUDA 11's or 12's. The newest version of a function there is the only one in CUDA 13,
/// and the driver still has the older ones.
fn name_in_13(name: &str, is_in_program: impl Fn(&str) -> bool) -> String {
    let (all, stream) = name.strip_suffix("_ptsz").map_or((name, ""), |all| (all, "_ptsz"));
    let versioned = all.rsplit_once("_v").and_then(|(stem, version)| Some((stem, version.parse::<u32>().ok()?)));
    let (stem, version) = versioned.unwrap_or((all, 1));
    let is_newest = !is_in_program(&format!("{stem}_v{}{stream}", version + 1));
    match stem {
        PROPERTIES => format!("{stem}_v{version}"),
        _ if OTHER.contains(&stem) => name.replacen("cuda", "cu", 1),
        _ if is_newest || SAME.contains(&stem) => format!("{stem}{stream}"),
        _ => name.replacen("cuda", "cu", 1),
    }
}

/// A function of this library.
fn function_here(name: &str) -> Option<usize> {
    static OWN: OnceLock<Option<Handle>> = OnceLock::new();
    let own = OWN.get_or_init(|| handle(&own()?.0)).as_ref()?;
    let name = CString::new(name).ok()?;
    // SAFETY: the library is loaded, and the name ends with a zero.
    let function = unsafe { libc::dlsym(own.0, name.as_ptr()) };
    (!function.is_null()).then_some(function as usize)
}

/// A library that is loaded, so that its functions are found and not others of the same names.
struct Handle(*mut c_void);

// SAFETY: the loader takes it from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

fn handle(path: &Path) -> Option<Handle> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the name ends with a zero.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!handle.is_null()).then_some(Handle(handle))
}

/// The file of this library, and where it begins.
fn own() -> Option<(PathBuf, usize)> {
    // SAFETY: the loader fills it in; its name lives as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(begin as *const c_void, &raw mut info) == 0 {
            return None;
        }
        let name = CStr::from_ptr(info.dli_fname.cast::<c_char>());
        Some((PathBuf::from(OsStr::from_bytes(name.to_bytes())), info.dli_fbase as usize))
    }
}
