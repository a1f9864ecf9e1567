//! NVIDIA's driver, opened at run time.
//!
//! A program that launches kernels by [`cust`](https://docs.rs/cust) needs `-lcuda` and its `cu…` functions when it is linked.
//! A machine without a GPU has neither. With this crate the program links and starts everywhere, and says at run time whether
//! there is a GPU:
//!
//! ```
//! match ptx_driver::gpu() {
//!     Ok(gpu) => println!("{} (sm_{})", gpu.name, gpu.sm),
//!     Err(no_gpu) => println!("{no_gpu}"),
//! }
//! ```
//!
//! This crate defines the functions that `cust` names. Each is one jump through a pointer. The pointer leads to the real driver
//! after [`load`] has opened it, or after `cuInit` is called. The functions hide nothing else on the machine, because the
//! libraries that an executable opens do not see its own functions. Without a driver they return `CUDA_ERROR_STUB_LIBRARY`.
//!
//! # In a project
//!
//! `cargo ptx new` makes one. To do it by hand, let the program depend on `cust` 0.3 and on this crate, and call [`gpu`] or
//! [`load`] before it uses `cust`. `cust`'s build script looks for a CUDA toolkit. A folder is enough for it, and an empty
//! archive in that folder is enough for the linker:
//!
//! ```sh
//! mkdir -p .cargo/cuda/lib64
//! printf '!<arch>\n' > .cargo/cuda/lib64/libcuda.a
//! ```
//!
//! `.cargo/config.toml` names the folder:
//!
//! ```toml
//! [env]
//! CUDA_LIBRARY_PATH = { value = ".cargo/cuda", relative = true }
//! ```
//!
//! If a toolkit is installed, this does no harm. The crate works on Linux, on x86-64 and 64-bit Arm.

mod gpu;
mod tensor_map;

pub use gpu::{Gpu, NoGpu, gpu};
pub use tensor_map::{NoTensorMap, tensor_map_im2col, tensor_map_im2col_wide, tensor_map_tiled};

use libloading::Library;
use std::{
    error::Error,
    ffi::{CStr, c_char, c_void},
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicPtr, Ordering},
    },
};

/// Names the file to open instead of the machine's own driver.
pub const DRIVER_VARIABLE: &str = "PTX_INTRINSICS_DRIVER";

/// Where a driver is looked for when [`DRIVER_VARIABLE`] is not set.
const DRIVER_FILES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// What every function answers while no driver is loaded: `CUDA_ERROR_STUB_LIBRARY`.
pub const STUB_LIBRARY: u32 = 34;

/// What a function answers that the loaded driver does not have: `CUDA_ERROR_NOT_FOUND`.
pub const NOT_FOUND: u32 = 500;

/// An entry point of the driver as the linker sees it; its callers know its real type.
type EntryPoint = unsafe extern "C" fn() -> u32;

/// One function that `cust` links to.
struct Shim {
    name: &'static str,
    slot: &'static AtomicPtr<c_void>,
    /// Kept so that whatever needs this table also brings the functions into the executable.
    entry: EntryPoint,
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump_through {
    ($slot:path) => {
        core::arch::naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym $slot)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump_through {
    ($slot:path) => {
        core::arch::naked_asm!(
            "adrp x16, {slot}",
            "ldr x16, [x16, :lo12:{slot}]",
            "br x16",
            slot = sym $slot,
        )
    };
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("ptx-driver opens NVIDIA's driver on Linux, on x86-64 and 64-bit Arm, and this is another target");

/// Defines the functions; each starts at the answer after its arrow, or at [`no_driver`].
macro_rules! shims {
    ($($name:ident $(=> $first:path)?,)*) => {
        #[allow(non_upper_case_globals)]
        mod slot {
            use super::*;
            $(pub(super) static $name: AtomicPtr<c_void> =
                AtomicPtr::new(first!($($first)?) as *mut c_void);)*
        }

        mod entry {
            $(
                /// # Safety
                /// As the driver function of this name says.
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                #[allow(non_snake_case)]
                pub(super) unsafe extern "C" fn $name() -> u32 {
                    jump_through!(super::slot::$name)
                }
            )*
        }

        static SHIMS: &[Shim] = &[$(Shim {
            name: stringify!($name),
            slot: &slot::$name,
            entry: entry::$name,
        },)*];
    };
}

macro_rules! first {
    () => {
        no_driver as *const ()
    };
    ($first:path) => {
        $first as *const ()
    };
}

// Every function that cust 0.3.2 names, used or not.
shims! {
    cuArray3DCreate_v2,
    cuArray3DGetDescriptor_v2,
    cuArrayDestroy,
    cuCtxCreate_v2,
    cuCtxDestroy_v2,
    cuCtxGetApiVersion,
    cuCtxGetCacheConfig,
    cuCtxGetCurrent,
    cuCtxGetDevice,
    cuCtxGetFlags,
    cuCtxGetLimit,
    cuCtxGetSharedMemConfig,
    cuCtxGetStreamPriorityRange,
    cuCtxPopCurrent_v2,
    cuCtxPushCurrent_v2,
    cuCtxSetCacheConfig,
    cuCtxSetCurrent,
    cuCtxSetLimit,
    cuCtxSetSharedMemConfig,
    cuCtxSynchronize,
    cuDestroyExternalMemory,
    cuDeviceGet,
    cuDeviceGetAttribute,
    cuDeviceGetCount,
    cuDeviceGetName,
    cuDevicePrimaryCtxRelease_v2,
    cuDevicePrimaryCtxReset_v2,
    cuDevicePrimaryCtxRetain,
    cuDevicePrimaryCtxSetFlags_v2,
    cuDeviceTotalMem_v2,
    cuDriverGetVersion => load_then_get_version,
    cuEventCreate,
    cuEventDestroy_v2,
    cuEventElapsedTime,
    cuEventQuery,
    cuEventRecord,
    cuEventSynchronize,
    cuExternalMemoryGetMappedBuffer,
    cuFuncGetAttribute,
    cuFuncSetCacheConfig,
    cuFuncSetSharedMemConfig,
    cuGetErrorString => describe_without_driver,
    cuGraphAddKernelNode,
    cuGraphCreate,
    cuGraphDebugDotPrint,
    cuGraphDestroy,
    cuGraphGetEdges,
    cuGraphGetNodes,
    cuGraphKernelNodeGetParams,
    cuGraphNodeGetType,
    cuImportExternalMemory,
    cuInit => load_then_init,
    cuLaunchHostFunc,
    cuLaunchKernel,
    cuLinkAddData_v2,
    cuLinkComplete,
    cuLinkCreate_v2,
    cuLinkDestroy,
    cuMemAdvise,
    cuMemAllocAsync,
    cuMemAllocHost_v2,
    cuMemAllocManaged,
    cuMemAlloc_v2,
    cuMemFreeAsync,
    cuMemFreeHost,
    cuMemFree_v2,
    cuMemGetInfo_v2,
    cuMemPrefetchAsync,
    cuMemcpy2D_v2,
    cuMemcpyAtoH_v2,
    cuMemcpyDtoDAsync_v2,
    cuMemcpyDtoD_v2,
    cuMemcpyDtoHAsync_v2,
    cuMemcpyDtoH_v2,
    cuMemcpyHtoA_v2,
    cuMemcpyHtoDAsync_v2,
    cuMemcpyHtoD_v2,
    cuMemsetD16Async,
    cuMemsetD16_v2,
    cuMemsetD32Async,
    cuMemsetD32_v2,
    cuMemsetD8Async,
    cuMemsetD8_v2,
    cuModuleGetFunction,
    cuModuleGetGlobal_v2,
    cuModuleLoad,
    cuModuleLoadData,
    cuModuleLoadDataEx,
    cuModuleUnload,
    cuOccupancyAvailableDynamicSMemPerBlock,
    cuOccupancyMaxActiveBlocksPerMultiprocessor,
    cuOccupancyMaxPotentialBlockSize,
    cuStreamCreateWithPriority,
    cuStreamDestroy_v2,
    cuStreamGetFlags,
    cuStreamGetPriority,
    cuStreamSynchronize,
    cuStreamWaitEvent,
    cuSurfObjectCreate,
    cuSurfObjectDestroy,
    cuSurfObjectGetResourceDesc,
    cuTexObjectCreate,
    cuTexObjectDestroy,
    cuTexObjectGetResourceDesc,
    cuTexObjectGetResourceViewDesc,
}

extern "C" fn no_driver() -> u32 {
    STUB_LIBRARY
}

extern "C" fn not_in_this_driver() -> u32 {
    NOT_FOUND
}

/// Lets a program that knows only `cust` find the driver too.
extern "C" fn load_then_init(flags: u32) -> u32 {
    match load() {
        Ok(driver) => driver.init(flags),
        Err(_) => STUB_LIBRARY,
    }
}

/// # Safety
/// `version` points to a writable `i32`.
unsafe extern "C" fn load_then_get_version(version: *mut i32) -> u32 {
    match load() {
        Ok(driver) => {
            // SAFETY: by this function's contract.
            unsafe { version.write(driver.version.0) };
            0
        }
        Err(_) => STUB_LIBRARY,
    }
}

/// `cust` panics when it displays an error that has no description, so there is always one.
///
/// # Safety
/// `text` points to a writable pointer.
unsafe extern "C" fn describe_without_driver(_code: u32, text: *mut *const c_char) -> u32 {
    // SAFETY: by this function's contract.
    unsafe { text.write(c"no CUDA driver is loaded".as_ptr()) };
    0
}

/// The loaded driver. It stays loaded until the process ends.
#[derive(Debug)]
pub struct Driver {
    library: Library,
    path: String,
    version: CudaVersion,
}

impl Driver {
    /// The file it was loaded from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The newest CUDA version it serves.
    pub fn version(&self) -> CudaVersion {
        self.version
    }

    /// An entry point by name, for what `cust` lacks.
    ///
    /// # Safety
    /// `F` is the function pointer type of that entry point.
    pub unsafe fn symbol<F: Copy>(&self, name: &CStr) -> Option<F> {
        // SAFETY: by this function's contract; the library is never closed.
        unsafe { self.library.get::<F>(name) }.ok().map(|symbol| *symbol)
    }

    /// `cuInit`, with its answer as a plain number: drivers know codes that `cust` does not.
    pub fn init(&self, flags: u32) -> u32 {
        // SAFETY: this is the type of cuInit.
        let init = unsafe { self.symbol::<unsafe extern "C" fn(u32) -> u32>(c"cuInit") };
        // SAFETY: cuInit may be called at any time, any number of times.
        init.map_or(NOT_FOUND, |init| unsafe { init(flags) })
    }

    /// What the driver calls one of its answers, like `CUDA_ERROR_NO_DEVICE: no CUDA-capable
    /// device is detected`.
    pub fn describe(&self, code: u32) -> String {
        let text = |function: &CStr| {
            type Describe = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;
            // SAFETY: cuGetErrorName and cuGetErrorString are of this type.
            let describe = unsafe { self.symbol::<Describe>(function) }?;
            let mut text = std::ptr::null();
            // SAFETY: `text` is writable.
            if unsafe { describe(code, &mut text) } != 0 || text.is_null() {
                return None;
            }
            // SAFETY: the driver's texts are C strings that live as long as the driver.
            let text = unsafe { CStr::from_ptr(text) };
            Some(text.to_string_lossy().into_owned())
        };
        match (text(c"cuGetErrorName"), text(c"cuGetErrorString")) {
            (Some(name), Some(meaning)) => format!("{name}: {meaning}"),
            (Some(words), None) | (None, Some(words)) => words,
            (None, None) => "an error that the driver has no name for".into(),
        }
    }
}

/// A CUDA version as the driver counts: 12.4 is 12040.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion(pub i32);

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// Why no driver is loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDriver {
    /// None of the files could be opened; each with the system's reason.
    #[error("no CUDA driver could be opened ({})", .0.join("; "))]
    NotOpened(Vec<String>),
    /// A library was opened that is not a CUDA driver.
    #[error("{path} is not a CUDA driver: it has no working {function}")]
    NotADriver {
        /// The file.
        path: String,
        /// What it lacks.
        function: &'static str,
    },
}

/// Opens the machine's driver and leads `cust`'s calls to it; the first call decides.
///
/// ```
/// match ptx_driver::load() {
///     Ok(driver) => println!("{} serves CUDA {}", driver.path(), driver.version()),
///     Err(no_driver) => println!("{no_driver}"),
/// }
/// ```
pub fn load() -> Result<&'static Driver, NoDriver> {
    static DRIVER: OnceLock<Result<Driver, NoDriver>> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| {
        let driver = open()?;
        connect(&driver);
        Ok(driver)
    });
    driver.as_ref().map_err(NoDriver::clone)
}

/// The names of the functions that lead to the driver.
pub fn functions() -> impl Iterator<Item = &'static str> {
    SHIMS.iter().map(|shim| shim.name)
}

fn open() -> Result<Driver, NoDriver> {
    let files = match std::env::var(DRIVER_VARIABLE) {
        Ok(file) => vec![file],
        Err(_) => DRIVER_FILES.map(String::from).to_vec(),
    };
    let mut reasons = Vec::new();
    for file in files {
        // SAFETY: a driver's initialisers run; the user asked for this file or the system has it.
        match unsafe { Library::new(&file) } {
            Ok(library) => return identify(library, file),
            Err(reason) => reasons.push(in_words(&reason)),
        }
    }
    Err(NoDriver::NotOpened(reasons))
}

/// The system's own words come after libloading's.
fn in_words(reason: &libloading::Error) -> String {
    reason.source().map_or_else(|| reason.to_string(), ToString::to_string)
}

fn identify(library: Library, file: String) -> Result<Driver, NoDriver> {
    type GetVersion = unsafe extern "C" fn(*mut i32) -> u32;
    let lacks = |function| NoDriver::NotADriver { path: file.clone(), function };
    // SAFETY: this is the type of cuInit; it is not called.
    let init = unsafe { library.get::<EntryPoint>(c"cuInit") }.map_err(|_| lacks("cuInit"))?;
    let path = mapped_file(*init as usize).unwrap_or_else(|| file.clone());
    // SAFETY: this is the type of cuDriverGetVersion.
    let get_version = unsafe { library.get::<GetVersion>(c"cuDriverGetVersion") };
    let get_version = get_version.map_err(|_| lacks("cuDriverGetVersion"))?;
    let mut version = 0;
    // SAFETY: `version` is writable, and the function needs no cuInit before it.
    if unsafe { get_version(&mut version) } != 0 {
        return Err(lacks("cuDriverGetVersion"));
    }
    Ok(Driver { library, path, version: CudaVersion(version) })
}

fn connect(driver: &Driver) {
    for shim in SHIMS {
        let name = std::ffi::CString::new(shim.name).expect("a Rust name holds no NUL");
        // SAFETY: the entry point is only stored; its callers know its type.
        let entry = unsafe { driver.symbol::<EntryPoint>(&name) };
        // A library that links to us would hand our own function back, and it would call itself.
        let entry = entry.filter(|entry| *entry as usize != shim.entry as usize);
        let target = entry.map_or(not_in_this_driver as *const (), |entry| entry as *const ());
        shim.slot.store(target.cast_mut().cast(), Ordering::Release);
    }
}

/// The file whose mapping holds `address`, by the kernel's own list.
fn mapped_file(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        let path = &rest[rest.find('/')?..];
        (start..end).contains(&address).then(|| path.to_string())
    })
}
