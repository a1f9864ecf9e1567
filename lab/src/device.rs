//! The GPU as the laboratory uses it: large memory without content, launches and events by the driver's own functions.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use launch::gpu::Argument;
use launch::gpu::{Gpu, give_up, is_gone};
use launch::{calls, shared};

/// Why something could not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub what: String,
    /// Whether the GPU serves this process no more.
    pub lost: bool,
}

impl Fault {
    /// A failure after which the GPU works on.
    pub fn new(what: impl fmt::Display) -> Fault {
        Fault { what: what.to_string(), lost: false }
    }
}

/// What asking the GPU gives.
pub type Asked<T> = Result<T, Fault>;

/// `CUDA_ERROR_NOT_READY`
const NOT_READY: u32 = 600;
/// Answers that come again for ever: of a context that is gone, and of one that a kernel has broken.
const STICKY: [u32; 13] = [201, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999];
/// `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`
const PERSISTING_L2: u32 = 6;
/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

/// A property of the GPU, by the driver's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// Bytes of L2.
    L2 = 38,
    /// Bytes of shared memory of a multiprocessor.
    Shared = 81,
    /// The most bytes of L2 that can be set aside.
    SetAside = 108,
    /// Bytes of shared memory that every block has for the driver.
    Reserved = 111,
}

/// A property of a kernel, by the driver's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    /// Bytes of shared memory that its text asks for.
    Shared = 1,
    /// The part of L1 and shared memory that should be shared memory, in percent of the most that can be.
    CarveOut = 9,
}

calls! {
    attribute: c"cuDeviceGetAttribute" (*mut i32, u32, i32);
    allocate: c"cuMemAlloc_v2" (*mut u64, usize);
    free: c"cuMemFree_v2" (u64);
    fill: c"cuMemsetD8Async" (u64, u8, usize, *mut c_void);
    copy: c"cuMemcpyDtoDAsync_v2" (u64, u64, usize, *mut c_void);
    upload: c"cuMemcpyHtoDAsync_v2" (u64, *const u8, usize, *mut c_void);
    download: c"cuMemcpyDtoH_v2" (*mut u8, u64, usize);
    load: c"cuModuleLoadDataEx" (*mut *mut c_void, *const u8, u32, *const u32, *const *mut c_void);
    unload: c"cuModuleUnload" (*mut c_void);
    function: c"cuModuleGetFunction" (*mut *mut c_void, *mut c_void, *const c_char);
    set_property: c"cuFuncSetAttribute" (*mut c_void, u32, i32);
    property: c"cuFuncGetAttribute" (*mut i32, u32, *mut c_void);
    bus: c"cuDeviceGetPCIBusId" (*mut c_char, i32, i32);
    launch: c"cuLaunchKernel" (
        *mut c_void, u32, u32, u32, u32, u32, u32, u32, *mut c_void, *const *mut c_void, *const *const c_void
    );
    new_stream: c"cuStreamCreateWithPriority" (*mut *mut c_void, u32, i32);
    drop_stream: c"cuStreamDestroy_v2" (*mut c_void);
    query: c"cuStreamQuery" (*mut c_void);
    new_event: c"cuEventCreate" (*mut *mut c_void, u32);
    drop_event: c"cuEventDestroy_v2" (*mut c_void);
    record: c"cuEventRecord" (*mut c_void, *mut c_void);
    elapsed: c"cuEventElapsedTime" (*mut f32, *mut c_void, *mut c_void);
    limit: c"cuCtxSetLimit" (u32, usize);
    reset: c"cuCtxResetPersistingL2Cache" ();
}

/// The GPU, with a stream and two events of the laboratory's own.
pub struct Device<'g> {
    gpu: &'g Gpu,
    calls: Rc<Calls>,
    stream: *mut c_void,
    events: [*mut c_void; 2],
    patience: Duration,
}

/// A piece of the GPU's memory; freed when dropped.
pub struct Memory {
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    calls: Rc<Calls>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !is_gone() {
            // SAFETY: the memory is this one's; nothing is launched without being waited for.
            unsafe { (self.calls.free)(self.address) };
        }
    }
}

/// Loaded kernels.
pub struct Module {
    handle: *mut c_void,
    calls: Rc<Calls>,
}

impl Drop for Module {
    fn drop(&mut self) {
        if !is_gone() {
            // SAFETY: the module is loaded, and none of its kernels runs.
            unsafe { (self.calls.unload)(self.handle) };
        }
    }
}

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug)]
pub struct Function(*mut c_void);

/// The grid of a launch, of one or two dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid.
    pub blocks: [u32; 2],
    /// Threads in a block.
    pub threads: [u32; 2],
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
}

/// A number of blocks, and the number of threads of each.
impl From<(u32, u32)> for Shape {
    fn from((blocks, threads): (u32, u32)) -> Shape {
        Shape { blocks: [blocks, 1], threads: [threads, 1], shared: 0 }
    }
}

impl<'g> Device<'g> {
    /// That GPU. What has not ended after `patience` never will.
    pub fn new(gpu: &'g Gpu, patience: Duration) -> Asked<Device<'g>> {
        let missing = |name| Fault::new(format_args!("the driver has no {name}"));
        let calls = Rc::new(Calls::of(gpu.driver()).map_err(missing)?);
        let null = std::ptr::null_mut();
        let mut device = Device { gpu, calls, stream: null, events: [null; 2], patience };
        // SAFETY: the places are writable, and the GPU has made a context.
        unsafe {
            let code = (device.calls.new_stream)(&mut device.stream, NON_BLOCKING, 0);
            device.check("making a stream", code)?;
            for at in 0..2 {
                let code = (device.calls.new_event)(&mut device.events[at], 0);
                device.check("making an event", code)?;
            }
        }
        Ok(device)
    }

    /// The GPU that it is.
    pub fn gpu(&self) -> &'g Gpu {
        self.gpu
    }

    fn check(&self, doing: &str, code: u32) -> Asked<()> {
        if code == 0 {
            return Ok(());
        }
        let lost = STICKY.contains(&code);
        if lost {
            give_up();
        }
        Err(Fault { what: format!("{doing} failed with {} ({code})", self.gpu.driver().describe(code)), lost })
    }

    /// A property of the GPU.
    pub fn attribute(&self, which: Attribute) -> Asked<u64> {
        let mut value = 0;
        // SAFETY: the place is writable; the first device is the one that is used.
        let code = unsafe { (self.calls.attribute)(&mut value, which as u32, 0) };
        self.check("cuDeviceGetAttribute", code).map(|()| value.max(0) as u64)
    }

    /// Takes memory, with whatever is in it.
    pub fn allocate(&self, bytes: u64) -> Asked<Memory> {
        let mut address = 0;
        // SAFETY: the place is writable.
        let code = unsafe { (self.calls.allocate)(&mut address, bytes as usize) };
        self.check(&format!("reserving {bytes} bytes of GPU memory"), code)?;
        Ok(Memory { address, bytes, calls: Rc::clone(&self.calls) })
    }

    /// Takes memory for `content`, and copies that to it.
    pub fn upload(&self, content: &[u8]) -> Asked<Memory> {
        let memory = self.allocate(content.len().max(1) as u64)?;
        self.write(memory.address, content)?;
        Ok(memory)
    }

    /// Copies `content` to an address on the GPU, on the stream: a copy on none may still be on its way when it comes back,
    /// and this stream waits for no other.
    pub fn write(&self, to: u64, content: &[u8]) -> Asked<()> {
        // SAFETY: the driver checks that the memory is the GPU's. It has read the content when it comes back, since that is
        // not page-locked.
        let code = unsafe { (self.calls.upload)(to, content.as_ptr(), content.len(), self.stream) };
        self.check("copying to the GPU", code)
    }

    /// Waits for the stream, and copies so many bytes from the GPU.
    pub fn read(&self, from: u64, bytes: usize) -> Asked<Vec<u8>> {
        self.wait()?;
        let mut content = vec![0; bytes];
        // SAFETY: there is room for so many bytes; the driver checks that the memory is the GPU's.
        let code = unsafe { (self.calls.download)(content.as_mut_ptr(), from, bytes) };
        self.check("copying from the GPU", code).map(|()| content)
    }

    /// Fills memory, on the stream.
    pub fn fill(&self, at: u64, each: u8, bytes: u64) -> Asked<()> {
        // SAFETY: the driver checks that the memory is the GPU's.
        let code = unsafe { (self.calls.fill)(at, each, bytes as usize, self.stream) };
        self.check("filling memory", code)
    }

    /// Copies within the GPU, by the driver's own copy, on the stream.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Asked<()> {
        // SAFETY: the driver checks that the memory is the GPU's.
        let code = unsafe { (self.calls.copy)(to, from, bytes as usize, self.stream) };
        self.check("copying within the GPU", code)
    }

    /// Loads a cubin or a PTX text.
    pub fn load(&self, image: &[u8]) -> Asked<Module> {
        let text = [image, &[0]].concat();
        let mut handle = std::ptr::null_mut();
        // SAFETY: a text ends with a NUL, a cubin knows its length; there are no options.
        let code = unsafe { (self.calls.load)(&mut handle, text.as_ptr(), 0, std::ptr::null(), std::ptr::null()) };
        self.check("loading the kernels", code).map(|()| Module { handle, calls: Rc::clone(&self.calls) })
    }

    /// A kernel of a module, which has to live as long as it is used.
    pub fn function(&self, module: &Module, kernel: &str) -> Asked<Function> {
        let name = CString::new(kernel).map_err(Fault::new)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name is a C string.
        let code = unsafe { (self.calls.function)(&mut handle, module.handle, CStr::as_ptr(&name)) };
        self.check(&format!("finding the kernel {kernel}"), code).map(|()| Function(handle))
    }

    fn property(&self, function: Function, which: Property) -> Asked<i32> {
        let mut value = 0;
        // SAFETY: the place is writable, and the kernel is loaded.
        let code = unsafe { (self.calls.property)(&mut value, which as u32, function.0) };
        self.check("cuFuncGetAttribute", code).map(|()| value)
    }

    /// Leaves a kernel's multiprocessor as little shared memory as one block of it needs, so that the rest is L1. The part
    /// that is shared memory, in percent of the most that can be, as the driver says it has it.
    pub fn carve_out(&self, function: Function) -> Asked<u32> {
        let (most, reserved) = (self.attribute(Attribute::Shared)?, self.attribute(Attribute::Reserved)?);
        let needed = self.property(function, Property::Shared)?.max(0) as u64 + reserved;
        let percent = (100 * needed).div_ceil(most.max(1)).min(100) as i32;
        // SAFETY: this changes a number of a loaded kernel.
        let code = unsafe { (self.calls.set_property)(function.0, Property::CarveOut as u32, percent) };
        self.check("setting the part of L1 that is shared memory", code)?;
        match self.property(function, Property::CarveOut)? {
            has if has == percent => Ok(percent as u32),
            has => Err(Fault::new(format_args!(
                "{percent}% of the shared memory were asked for, so that the rest is L1, and the driver has {has}%"
            ))),
        }
    }

    /// Where the GPU is on the bus: `0000:01:00.0`.
    pub fn bus(&self) -> Asked<String> {
        let mut text = [0 as c_char; 32];
        // SAFETY: there is room for so many characters; the first device is the one that is used.
        let code = unsafe { (self.calls.bus)(text.as_mut_ptr(), text.len() as i32, 0) };
        self.check("cuDeviceGetPCIBusId", code)?;
        let text: Vec<u8> = text.iter().map(|one| *one as u8).take_while(|one| *one != 0).collect();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Starts a kernel on the stream.
    ///
    /// # Safety
    /// The arguments are what the kernel takes, and its contract holds for them until the stream is waited for.
    pub unsafe fn launch(&self, function: Function, shape: Shape, arguments: &[Argument]) -> Asked<()> {
        let Shape { blocks, threads, shared } = shape;
        // SAFETY: the kernel is of a loaded module.
        self.check("asking for shared memory", unsafe { shared::allow(self.gpu.driver(), function.0, shared) })?;
        let pointers: Vec<_> = arguments.iter().map(Argument::pointer).collect();
        let (list, none) = (pointers.as_ptr(), std::ptr::null());
        let ([x, y], [width, height]) = (blocks, threads);
        // SAFETY: by this function's contract; the pointers live until the launch has copied them.
        let code =
            unsafe { (self.calls.launch)(function.0, x, y, 1, width, height, 1, shared, self.stream, list, none) };
        self.check("launching", code)
    }

    /// The seconds that what `work` puts on the stream takes there.
    pub fn time(&self, work: impl FnOnce() -> Asked<()>) -> Asked<f64> {
        // SAFETY: the events and the stream are this one's.
        let record = |event| unsafe { (self.calls.record)(event, self.stream) };
        let [start, stop] = self.events;
        self.check("timing", record(start))?;
        work()?;
        self.check("timing", record(stop))?;
        self.wait()?;
        let mut milliseconds = 0.0;
        // SAFETY: the place is writable, and both events have happened.
        let code = unsafe { (self.calls.elapsed)(&mut milliseconds, start, stop) };
        self.check("timing", code).map(|()| f64::from(milliseconds) / 1e3)
    }

    /// Waits for everything on the stream, and not for ever.
    pub fn wait(&self) -> Asked<()> {
        let began = Instant::now();
        loop {
            // SAFETY: the stream is this one's.
            match unsafe { (self.calls.query)(self.stream) } {
                0 => return Ok(()),
                NOT_READY if began.elapsed() < self.patience => std::hint::spin_loop(),
                NOT_READY => {
                    let what = format!("the kernels have not ended after {:?}", self.patience);
                    give_up();
                    return Err(Fault { what, lost: true });
                }
                code => return self.check("running the kernels", code),
            }
        }
    }

    /// Sets a part of L2 aside for lines that are to stay.
    pub fn set_aside(&self, bytes: u64) -> Asked<()> {
        // SAFETY: this changes a number of the context.
        let code = unsafe { (self.calls.limit)(PERSISTING_L2, bytes as usize) };
        self.check("setting a part of L2 aside", code)
    }

    /// Makes all lines of L2 as any other.
    pub fn forget_priorities(&self) -> Asked<()> {
        // SAFETY: this changes no value in memory.
        let code = unsafe { (self.calls.reset)() };
        self.check("resetting the priorities of L2", code)
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        if is_gone() {
            return;
        }
        // SAFETY: the stream and the events are this one's.
        unsafe {
            for event in self.events.into_iter().filter(|event| !event.is_null()) {
                (self.calls.drop_event)(event);
            }
            if !self.stream.is_null() {
                (self.calls.drop_stream)(self.stream);
            }
        }
    }
}
