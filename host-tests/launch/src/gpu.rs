//! The GPU of this machine: finding it, loading an image into it, and launching kernels, by `cust`.

use crate::arguments::mismatch;
pub use crate::arguments::{Argument, Launch};
use crate::calls;
use crate::shared;
use crate::watch::watched;
use cust::{
    context::Context,
    device::{Device, DeviceAttribute},
    error::CudaError,
    event::{Event, EventFlags},
    memory::{CopyDestination, DeviceBuffer, DevicePointer, LockedBuffer},
    stream::{Stream, StreamFlags},
};
use ptx_build::error::{Error, Result};
use ptx_driver::Driver;
pub use ptx_driver::NoGpu;
use std::{
    ffi::{CStr, CString, c_char, c_void},
    mem::ManuallyDrop,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// The first GPU of this machine, with a context and a stream of its own.
pub struct Gpu {
    name: String,
    sm: u32,
    memory: usize,
    processors: u32,
    driver: &'static Driver,
    calls: Calls,
    limit: Duration,
    stream: ManuallyDrop<Stream>,
    context: ManuallyDrop<Context>,
}

/// How long a wait lasts at most, unless [`Gpu::with_limit`] says otherwise: a datacentre GPU has no watchdog.
pub const LIMIT: Duration = Duration::from_secs(60);

// The driver's own functions where its answer matters: `cust` makes 999 of every code that it does not know.
calls! {
    load: c"cuModuleLoadDataEx" (*mut *mut c_void, *const u8, u32, *const u32, *const usize);
    unload: c"cuModuleUnload" (*mut c_void);
    function: c"cuModuleGetFunction" (*mut *mut c_void, *mut c_void, *const c_char);
    global: c"cuModuleGetGlobal_v2" (*mut u64, *mut usize, *mut c_void, *const c_char);
    launch: c"cuLaunchKernel" (
        *mut c_void, u32, u32, u32, u32, u32, u32, u32, *mut c_void, *const *mut c_void, *const *mut c_void
    );
    query: c"cuStreamQuery" (*mut c_void);
}

/// `CUDA_ERROR_NOT_READY`: something is still running.
const NOT_READY: u32 = 600;

/// Set when the GPU serves this process no more. From then on nothing is handed back: to free memory is to wait for a
/// kernel, perhaps for ever.
static GONE: AtomicBool = AtomicBool::new(false);

/// Whether the GPU serves this process no more.
pub fn is_gone() -> bool {
    GONE.load(Ordering::Relaxed)
}

/// From here on, nothing is handed back to the driver.
pub fn give_up() {
    GONE.store(true, Ordering::Relaxed);
}

/// How a wait for the GPU ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Everything is done.
    Done,
    /// With this error, which every later call gives too.
    Failed(u32),
    /// Something is still running after the limit.
    Hung,
}

/// Kernels on the GPU; unloaded when dropped.
#[derive(Debug)]
pub struct Module {
    handle: *mut c_void,
    calls: Calls,
}

/// A kernel of a module.
struct Function<'m> {
    handle: *mut c_void,
    _module: &'m Module,
}

impl Drop for Module {
    fn drop(&mut self) {
        if !is_gone() {
            // SAFETY: the module was loaded, and its functions borrow it.
            unsafe { (self.calls.unload)(self.handle) };
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if !is_gone() {
            // SAFETY: neither is used again; the context outlives the stream.
            unsafe {
                ManuallyDrop::drop(&mut self.stream);
                ManuallyDrop::drop(&mut self.context);
            }
        }
    }
}

impl Gpu {
    /// Opens the driver, takes its first device and makes a context on it.
    pub fn find() -> Result<Gpu, NoGpu> {
        watched("opening the GPU", Gpu::open)
    }

    fn open() -> Result<Gpu, NoGpu> {
        let driver = ptx_driver::load()?;
        driver.start()?;
        let failed = |step| move |error: CudaError| driver.no_gpu(step, error as u32);
        if Device::num_devices().map_err(failed("cuDeviceGetCount"))? == 0 {
            return Err(driver.no_gpu("cuDeviceGetCount", CudaError::NoDevice as u32));
        }
        let device = Device::get_device(0).map_err(failed("cuDeviceGet"))?;
        let attribute = |which| device.get_attribute(which).map_err(failed("cuDeviceGetAttribute"));
        let major = attribute(DeviceAttribute::ComputeCapabilityMajor)?;
        let minor = attribute(DeviceAttribute::ComputeCapabilityMinor)?;
        let processors = attribute(DeviceAttribute::MultiprocessorCount)?;
        let calls = Calls::of(driver).map_err(|step| driver.no_gpu(step, ptx_driver::NOT_FOUND))?;
        let context = Context::new(device).map_err(failed("making a context"))?;
        Ok(Gpu {
            name: device.name().map_err(failed("cuDeviceGetName"))?,
            sm: (10 * major + minor) as u32,
            memory: device.total_memory().map_err(failed("cuDeviceTotalMem"))?,
            processors: processors as u32,
            driver,
            calls,
            limit: LIMIT,
            // Ordered with copies: one from ordinary memory may return before the bytes are on the GPU.
            stream: ManuallyDrop::new(Stream::new(StreamFlags::DEFAULT, None).map_err(failed("making a stream"))?),
            context: ManuallyDrop::new(context),
        })
    }

    /// The same, waiting so long at most.
    pub fn with_limit(mut self, limit: Duration) -> Gpu {
        self.limit = limit;
        self
    }

    /// What the driver calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its compute capability, 90 for `sm_90`.
    pub fn sm(&self) -> u32 {
        self.sm
    }

    /// Its memory in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// How many multiprocessors it has.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// The driver it is reached through.
    pub fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// Loads a cubin or a PTX text.
    pub fn load(&self, image: &[u8]) -> Result<Module> {
        const ERROR_LOG_BUFFER: u32 = 5;
        const ERROR_LOG_BUFFER_BYTES: u32 = 6;
        let text = [image, &[0]].concat();
        let mut log = vec![0u8; 16 << 10];
        // This call takes its option values in the place of pointers to them.
        let values = [log.as_mut_ptr() as usize, log.len()];
        let keys = [ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_BYTES];
        let mut handle = std::ptr::null_mut();
        // SAFETY: a text ends with a NUL, and the log is as long as the options say.
        let load = || unsafe { (self.calls.load)(&mut handle, text.as_ptr(), 2, keys.as_ptr(), values.as_ptr()) };
        match watched("loading the kernels", load) {
            0 => Ok(Module { handle, calls: self.calls }),
            code => {
                let length = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
                let said = String::from_utf8_lossy(&log[..length]);
                Err(self.failed("loading the kernels", code).at(&self.name).because(said))
            }
        }
    }

    /// Copies `content` to the GPU, between guard bands.
    pub fn upload(&self, content: &[u8]) -> Result<Buffer> {
        self.on_device(content, GUARD_BYTES)
    }

    /// Copies `content` to memory of just its size, so that a tool sees an access beyond it.
    pub fn exact(&self, content: &[u8]) -> Result<Buffer> {
        self.on_device(content, 0)
    }

    fn on_device(&self, content: &[u8], guard: usize) -> Result<Buffer> {
        let memory = watched("copying to the GPU", || DeviceBuffer::from_slice(&between(content, guard)));
        let memory = memory.map_err(|error| self.no_room(content.len(), "GPU memory", error))?;
        Ok(Buffer { memory: ManuallyDrop::new(Memory::Device(memory)), guard })
    }

    /// Memory that nobody has written, without guard bands: a tool sees a read of it.
    pub fn unwritten(&self, bytes: usize) -> Result<Buffer> {
        // SAFETY: any byte is one, and no reference to them is made.
        let memory = unsafe { DeviceBuffer::uninitialized(bytes) };
        let memory = memory.map_err(|error| self.no_room(bytes, "GPU memory", error))?;
        Ok(Buffer { memory: ManuallyDrop::new(Memory::Device(memory)), guard: 0 })
    }

    fn no_room(&self, bytes: usize, of: &str, error: CudaError) -> Error {
        self.failed(&format!("reserving {bytes} bytes of {of}"), error as u32).at(&self.name)
    }

    /// Puts `content` into memory of the host that the GPU sees, between guard bands.
    pub fn share(&self, content: &[u8]) -> Result<Buffer> {
        let memory = LockedBuffer::from_slice(&between(content, GUARD_BYTES));
        let memory = memory.map_err(|error| self.no_room(content.len(), "the host's memory", error))?;
        Ok(Buffer { memory: ManuallyDrop::new(Memory::Host(memory)), guard: GUARD_BYTES })
    }

    /// Fills a variable of a module.
    pub fn set(&self, module: &Module, variable: &CStr, content: &[u8]) -> Result<()> {
        let place = || variable.to_string_lossy();
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name is a C string, and both numbers are writable.
        let code = unsafe { (self.calls.global)(&mut address, &mut bytes, module.handle, variable.as_ptr()) };
        if code != 0 {
            return Err(self.failed("finding a variable", code).at(place()));
        }
        if bytes != content.len() {
            let wrong = format!("the variable has {bytes} bytes, and is given {}", content.len());
            return Err(Error::new(wrong).at(place()));
        }
        let pointer = DevicePointer::<u8>::from_raw(address);
        // SAFETY: the driver says that so many bytes lie there, and a variable outlives this function.
        let mut memory = ManuallyDrop::new(unsafe { DeviceBuffer::from_raw_parts(pointer, bytes) });
        let filled = watched("filling a variable", || memory.copy_from(content));
        filled.map_err(|error| self.failed("filling a variable", error as u32).at(place()))
    }

    /// Copies `content`, of the buffer's length, to a buffer, and makes its guard bands anew.
    pub fn refill(&self, buffer: &mut Buffer, content: &[u8]) -> Result<()> {
        let content = between(content, buffer.guard);
        let copied = match &mut *buffer.memory {
            Memory::Device(memory) => watched("copying to the GPU", || memory.copy_from(&content)),
            Memory::Host(memory) => {
                memory.copy_from_slice(&content);
                Ok(())
            }
        };
        copied.map_err(|error| self.failed("copying to the GPU", error as u32).at(&self.name))
    }

    /// Copies a buffer back; an error if anything wrote outside of it.
    pub fn download(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        match self.read(buffer)? {
            (content, None) => Ok(content),
            (content, Some(at)) => {
                Err(Error::new(format_args!("a kernel wrote outside of its buffer: byte {at} of {}", content.len()))
                    .at(&self.name)
                    .fix("look at the kernel's last index; `compute-sanitizer` names the thread"))
            }
        }
    }

    /// Copies a buffer back; with the first byte that was written outside of it, counted from its beginning.
    pub fn read(&self, buffer: &Buffer) -> Result<(Vec<u8>, Option<i64>)> {
        let all = match &*buffer.memory {
            Memory::Device(memory) => {
                let mut all = vec![0; memory.len()];
                let copied = watched("copying from the GPU", || memory.copy_to(&mut all[..]));
                copied.map_err(|error| self.failed("copying from the GPU", error as u32).at(&self.name))?;
                all
            }
            Memory::Host(memory) => memory.to_vec(),
        };
        let content = buffer.guard..all.len() - buffer.guard;
        let broken = (0..buffer.guard).chain(content.end..all.len()).find(|at| all[*at] != GUARD);
        Ok((all[content].to_vec(), broken.map(|at| at as i64 - buffer.guard as i64)))
    }

    /// Starts a kernel on the stream of this GPU.
    ///
    /// # Safety
    /// The arguments are what the kernel takes, and its contract holds for them.
    pub unsafe fn launch(&self, module: &Module, launch: &Launch) -> Result<()> {
        // SAFETY: by this function's contract.
        unsafe { self.start(&self.function(module, launch)?, launch) }
    }

    /// The kernel of a launch, if it takes what the launch has.
    fn function<'m>(&self, module: &'m Module, launch: &Launch) -> Result<Function<'m>> {
        let anew = "build the image anew: it is older than the harness, or of another crate";
        let kernel = &launch.kernel;
        let name = CString::new(kernel.as_str()).map_err(|error| Error::new(error).at(kernel))?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name is a C string.
        match unsafe { (self.calls.function)(&mut handle, module.handle, name.as_ptr()) } {
            0 => {}
            code => return Err(self.failed("finding the kernel in the image", code).at(kernel).fix(anew)),
        }
        let function = Function { handle, _module: module };
        let passed: Vec<usize> = launch.arguments.iter().map(Argument::bytes).collect();
        match self.parameters(&function).and_then(|taken| mismatch(&taken, &passed)) {
            Some(mismatch) => Err(Error::new(mismatch).at(kernel).fix(anew)),
            None => Ok(function),
        }
    }

    /// The bytes of each parameter of a kernel; none if the driver does not say: it is older than CUDA 12.4, or does not
    /// know, or names no parameter at all, which no kernel of ours is without.
    fn parameters(&self, function: &Function<'_>) -> Option<Vec<usize>> {
        type GetParamInfo = unsafe extern "C" fn(*mut c_void, usize, *mut usize, *mut usize) -> u32;
        // SAFETY: this is the type of cuFuncGetParamInfo.
        let ask = unsafe { self.driver.symbol::<GetParamInfo>(c"cuFuncGetParamInfo") }?;
        let mut sizes = Vec::new();
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is of a loaded module, and both numbers are writable.
        while unsafe { ask(function.handle, sizes.len(), &mut offset, &mut size) } == 0 {
            sizes.push(size);
        }
        (!sizes.is_empty()).then_some(sizes)
    }

    /// # Safety
    /// As for [`Gpu::launch`]; the function is the launch's kernel.
    unsafe fn start(&self, function: &Function<'_>, launch: &Launch) -> Result<()> {
        let pointers: Vec<_> = launch.arguments.iter().map(Argument::pointer).collect();
        let (stream, none) = (self.stream.as_inner().cast(), std::ptr::null());
        // SAFETY: the function is of a loaded module.
        let allowed = unsafe { shared::allow(self.driver, function.handle, launch.shared) };
        // SAFETY: by this function's contract; the pointers live until the launch has copied them.
        let started = || unsafe {
            (self.calls.launch)(
                function.handle,
                launch.blocks,
                1,
                1,
                launch.threads,
                1,
                1,
                launch.shared,
                stream,
                pointers.as_ptr(),
                none,
            )
        };
        let code = if allowed == 0 { started() } else { allowed };
        if code == 0 { Ok(()) } else { Err(self.failed("launching", code).at(&launch.kernel)) }
    }

    /// Waits for everything launched so far, and not for ever.
    pub fn wait(&self) -> Result<()> {
        match self.waited() {
            Waited::Done => Ok(()),
            Waited::Failed(code) => Err(self.failed("running the kernels", code).at(&self.name)),
            Waited::Hung => Err(Error::new(format_args!("the kernels have not ended after {:?}", self.limit))
                .at(&self.name)
                .fix("look for a wait in the kernel that nothing ends")),
        }
    }

    /// Waits as well, and tells how that ended. After any answer but `Done` the GPU serves this process no more.
    ///
    /// The stream is asked, since a wait in the driver has no limit. It also tells which error is of one call and which
    /// is of the whole context: the latter comes back for ever.
    pub fn waited(&self) -> Waited {
        let began = Instant::now();
        loop {
            // SAFETY: the stream lives as long as this.
            let waited = match unsafe { (self.calls.query)(self.stream.as_inner().cast()) } {
                0 => return Waited::Done,
                NOT_READY if began.elapsed() < self.limit => {
                    let pause = began.elapsed().min(Duration::from_millis(1)) / 8;
                    std::thread::sleep(pause);
                    continue;
                }
                NOT_READY => Waited::Hung,
                code => Waited::Failed(code),
            };
            give_up();
            return waited;
        }
    }

    /// The seconds that one of `repetitions` launches takes, after one that does not count.
    ///
    /// # Safety
    /// As for [`Gpu::launch`]; launching again does the same again.
    pub unsafe fn time(&self, module: &Module, launch: &Launch, repetitions: u32) -> Result<f64> {
        let failed = |error| self.failed("timing", error as u32).at(&launch.kernel);
        let [start, stop] = [(); 2].map(|()| Event::new(EventFlags::DEFAULT));
        let (start, stop) = (start.map_err(failed)?, stop.map_err(failed)?);
        let function = self.function(module, launch)?;
        // SAFETY: by this function's contract.
        unsafe { self.start(&function, launch) }?;
        self.wait()?;
        start.record(&self.stream).map_err(failed)?;
        for _ in 0..repetitions {
            // SAFETY: by this function's contract.
            unsafe { self.start(&function, launch) }?;
        }
        stop.record(&self.stream).map_err(failed)?;
        self.wait()?;
        let milliseconds = stop.elapsed_time_f32(&start).map_err(failed)?;
        Ok(f64::from(milliseconds) / 1e3 / f64::from(repetitions))
    }

    /// The seconds that one launch takes, its start included.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    pub unsafe fn time_once(&self, module: &Module, launch: &Launch) -> Result<f64> {
        let failed = |error| self.failed("timing", error as u32).at(&launch.kernel);
        let [start, stop] = [(); 2].map(|()| Event::new(EventFlags::DEFAULT));
        let (start, stop) = (start.map_err(failed)?, stop.map_err(failed)?);
        let function = self.function(module, launch)?;
        start.record(&self.stream).map_err(failed)?;
        // SAFETY: by this function's contract.
        unsafe { self.start(&function, launch) }?;
        stop.record(&self.stream).map_err(failed)?;
        self.wait()?;
        Ok(f64::from(stop.elapsed_time_f32(&start).map_err(failed)?) / 1e3)
    }

    pub(crate) fn failed(&self, doing: &str, code: u32) -> Error {
        Error::new(format_args!("{doing} failed with {} ({code})", self.driver.describe(code)))
    }
}

const GUARD: u8 = 0x5c;

/// As long as the driver's alignment, so that the content keeps it.
const GUARD_BYTES: usize = 256;

/// The content between two guard bands.
fn between(content: &[u8], guard: usize) -> Vec<u8> {
    let guard = vec![GUARD; guard];
    [&guard, content, &guard].concat()
}

/// A piece of memory between two guard bands, if it has some; freed when dropped.
pub struct Buffer {
    memory: ManuallyDrop<Memory>,
    /// Bytes of each guard band.
    guard: usize,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !is_gone() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

enum Memory {
    Device(DeviceBuffer<u8>),
    /// The host's, at the same address on the GPU.
    Host(LockedBuffer<u8>),
}

impl Buffer {
    /// Where its content begins on the GPU, aligned to 256 bytes.
    pub fn address(&self) -> u64 {
        let start = match &*self.memory {
            Memory::Device(memory) => memory.as_device_ptr().as_raw(),
            Memory::Host(memory) => memory.as_ptr() as u64,
        };
        start + self.guard as u64
    }
}
