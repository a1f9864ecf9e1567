//! Whether this machine has a GPU.

use std::ffi::{CStr, c_char};

use crate::{DRIVER_VARIABLE, Driver, NOT_FOUND, NoDriver, STUB_LIBRARY, load};

/// `CUDA_ERROR_NO_DEVICE`
const NO_DEVICE: u32 = 100;

/// The first GPU of a machine, as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// What the driver calls it.
    pub name: String,
    /// Its compute capability, 90 for sm_90.
    pub sm: u32,
}

/// Why there is no GPU to run on, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGpu {
    /// No driver is installed, or the named file is none.
    #[error("no GPU: {0}\n  → install NVIDIA's driver, or name its libcuda.so.1 in {DRIVER_VARIABLE}")]
    NoDriver(#[from] NoDriver),
    /// What was opened is the toolkit's stub.
    #[error(
        "no GPU: {path} is a stub for linking, not a driver\n  → take its folder out of LD_LIBRARY_PATH, \
         or name the real libcuda.so.1 in {DRIVER_VARIABLE}"
    )]
    Stub {
        /// The stub.
        path: String,
    },
    /// The driver works and sees no device.
    #[error(
        "no GPU: the driver {path} (CUDA {version}) sees no device\n  → see whether `nvidia-smi` lists one; \
         in a container, pass the GPU in (`--gpus all`); look at CUDA_VISIBLE_DEVICES"
    )]
    NoDevice {
        /// The driver.
        path: String,
        /// The CUDA version it serves.
        version: String,
    },
    /// The driver or the device refused.
    #[error(
        "no GPU: {step} failed with {answer} (driver {path})\n  → see what `nvidia-smi` says; restart the machine \
             if its driver was just updated"
    )]
    Failed {
        /// What was asked of the driver.
        step: &'static str,
        /// What it answered.
        answer: String,
        /// The driver.
        path: String,
    },
}

/// The first GPU of this machine.
///
/// ```
/// match ptx_driver::gpu() {
///     Ok(gpu) => println!("{} (sm_{})", gpu.name, gpu.sm),
///     Err(no_gpu) => println!("{no_gpu}"),
/// }
/// ```
pub fn gpu() -> Result<Gpu, NoGpu> {
    const MAJOR: u32 = 75;
    const MINOR: u32 = 76;
    let driver = load()?;
    driver.start()?;
    let (mut count, mut device) = (0, 0);
    let mut name = [0u8; 256];
    let attribute = |device: i32, which: u32| -> Result<u32, NoGpu> {
        let mut value = 0i32;
        // SAFETY: this is the type of cuDeviceGetAttribute, and `value` is writable.
        driver.ask(c"cuDeviceGetAttribute", |get: unsafe extern "C" fn(*mut i32, u32, i32) -> u32| unsafe {
            get(&mut value, which, device)
        })?;
        Ok(value as u32)
    };
    // SAFETY: this is the type of cuDeviceGetCount, and `count` is writable.
    driver.ask(c"cuDeviceGetCount", |get: unsafe extern "C" fn(*mut i32) -> u32| unsafe { get(&mut count) })?;
    if count == 0 {
        return Err(driver.no_gpu("cuDeviceGetCount", NO_DEVICE));
    }
    // SAFETY: this is the type of cuDeviceGet, and `device` is writable.
    driver.ask(c"cuDeviceGet", |get: unsafe extern "C" fn(*mut i32, i32) -> u32| unsafe { get(&mut device, 0) })?;
    // SAFETY: this is the type of cuDeviceGetName, and `name` is as long as is said.
    driver.ask(c"cuDeviceGetName", |get: unsafe extern "C" fn(*mut c_char, i32, i32) -> u32| unsafe {
        get(name.as_mut_ptr().cast(), name.len() as i32, device)
    })?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
    Ok(Gpu { name, sm: 10 * attribute(device, MAJOR)? + attribute(device, MINOR)? })
}

impl Driver {
    /// `cuInit`, its answers told apart.
    pub fn start(&self) -> Result<(), NoGpu> {
        match self.init(0) {
            0 => Ok(()),
            STUB_LIBRARY => Err(NoGpu::Stub { path: self.path().into() }),
            code => Err(self.no_gpu("cuInit", code)),
        }
    }

    /// Why there is no GPU, by what the driver answered.
    pub fn no_gpu(&self, step: &'static str, code: u32) -> NoGpu {
        let path = self.path().to_string();
        if code == NO_DEVICE {
            return NoGpu::NoDevice { path, version: self.version().to_string() };
        }
        NoGpu::Failed { step, answer: format!("{} ({code})", self.describe(code)), path }
    }

    /// Calls one of its functions, which `call` knows the type of.
    fn ask<F: Copy>(&self, name: &'static CStr, call: impl FnOnce(F) -> u32) -> Result<(), NoGpu> {
        // SAFETY: each caller in this file says the type that the function has.
        let function = unsafe { self.symbol::<F>(name) };
        match function.map_or(NOT_FOUND, call) {
            0 => Ok(()),
            code => Err(self.no_gpu(name.to_str().unwrap_or_default(), code)),
        }
    }
}
