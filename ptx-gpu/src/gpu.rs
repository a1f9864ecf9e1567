//! The state of the driver: what a program has asked for and not given back.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ptx_interpreter::{Heap, Kernel, Program};

use crate::array::Array;
use crate::chosen::Chosen;
use crate::counted::Counted;
use crate::device::Device;
use crate::executable::Executable;
use crate::graph::Graphs;
use crate::handle;
use crate::mapped::Mapped;
use crate::memory::Memory;
use crate::of_gpu::{OfGpu, Pool};
use crate::order::{Kind, Order};
use crate::recent::Recent;
use crate::settings::SETTINGS;
use crate::status::{INVALID_CONTEXT, INVALID_DEVICE, INVALID_HANDLE, NO_DEVICE, NOT_INITIALIZED, Result, Status};
use crate::stream::{Capture, Event, Stream, StreamValue};
use crate::texture::Object;
use crate::visible::visible;
use crate::waiting::Held;

pub(crate) use crate::handle::Handle;

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`: the default streams, of all threads and of each.
pub(crate) const LEGACY: Handle = 1;
pub(crate) const PER_THREAD: Handle = 2;

/// `CU_LIMIT_MALLOC_HEAP_SIZE`
pub(crate) const HEAP_SIZE: u32 = 2;

/// What an image has for the GPU.
pub(crate) struct Code {
    pub(crate) ptx: String,
    /// Registers of a thread of each kernel, where machine code for the GPU says it.
    pub(crate) registers: HashMap<String, i32>,
}

/// Where each variable is, and its bytes.
pub(crate) type Variables = HashMap<String, (u64, usize)>;

pub(crate) struct Module {
    /// The GPU that it was loaded for, the same module for others, and the first of them, if this one is not the first.
    pub(crate) gpu: usize,
    pub(crate) others: HashMap<usize, Handle>,
    pub(crate) first: Option<Handle>,
    /// Whether its kernels may be launched on every GPU.
    pub(crate) is_library: bool,
    pub(crate) program: Arc<Program>,
    pub(crate) variables: Arc<Variables>,
    /// Registers of a thread of each kernel, where they are known.
    pub(crate) registers: Arc<HashMap<String, i32>>,
    /// The kernels that were asked for, by their names.
    pub(crate) functions: HashMap<String, Handle>,
    /// How often its instructions were executed, if that is asked for and a kernel was launched.
    pub(crate) counted: Option<Counted>,
}

impl Module {
    pub(crate) fn new(
        gpu: usize,
        program: Arc<Program>,
        variables: Arc<Variables>,
        registers: Arc<HashMap<String, i32>>,
    ) -> Module {
        let (others, functions) = (HashMap::new(), HashMap::new());
        Module { gpu, others, first: None, is_library: false, program, variables, registers, functions, counted: None }
    }
}

#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) module: Handle,
    pub(crate) name: Arc<CString>,
    pub(crate) kernel: Arc<Kernel>,
    /// Registers of a thread.
    pub(crate) registers: i32,
    /// Bytes of shared memory that a launch may add, at most.
    pub(crate) most_dynamic: i32,
    pub(crate) carve_out: i32,
    /// Whether clusters of more than eight blocks are allowed.
    pub(crate) large_clusters: bool,
}

impl Function {
    pub(crate) fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    /// What messages call it.
    pub(crate) fn title(&self) -> String {
        format!("kernel `{}`", self.name())
    }
}

pub(crate) struct Gpu {
    /// What all GPUs are like.
    pub(crate) device: Device,
    /// Those that the program sees.
    pub(crate) gpus: Vec<OfGpu>,
    pub(crate) is_initialized: bool,
    pub(crate) memory: Memory,
    pub(crate) mapped: Mapped,
    pub(crate) arrays: HashMap<Handle, Array>,
    /// Texture objects and surface objects.
    pub(crate) objects: HashMap<Handle, Object>,
    /// The contexts that are created, and of which GPU each is.
    pub(crate) contexts: HashMap<Handle, usize>,
    pub(crate) modules: HashMap<Handle, Module>,
    pub(crate) functions: HashMap<Handle, Function>,
    pub(crate) streams: HashMap<Handle, Stream>,
    /// What streams are told about the hardware, by attribute.
    pub(crate) attributes: HashMap<(Handle, u32), StreamValue>,
    pub(crate) events: HashMap<Handle, Event>,
    pub(crate) pools: HashMap<Handle, Pool>,
    pub(crate) captures: HashMap<Handle, Capture>,
    pub(crate) order: Order,
    /// What waits for work that is done later.
    pub(crate) held: Vec<Held>,
    pub(crate) recent: Recent,
    pub(crate) graphs: Graphs,
    pub(crate) executables: HashMap<Handle, Arc<Executable>>,
    /// What kernels allocate by themselves.
    pub(crate) heap: Arc<Mutex<Heap>>,
    pub(crate) limits: HashMap<u32, usize>,
    /// What a kernel ended with, if it failed: every later call ends with it too, as on a GPU.
    pub(crate) fault: Option<Status>,
    pub(crate) launches: u64,
    pub(crate) chosen: Chosen,
}

static GPU: LazyLock<Mutex<Gpu>> = LazyLock::new(|| {
    Mutex::new(Gpu {
        device: Device::new(SETTINGS.sm),
        gpus: all_gpus(),
        is_initialized: false,
        memory: Memory::default(),
        mapped: Mapped::default(),
        arrays: HashMap::new(),
        objects: HashMap::new(),
        contexts: HashMap::new(),
        modules: HashMap::new(),
        functions: HashMap::new(),
        streams: HashMap::new(),
        attributes: HashMap::new(),
        events: HashMap::new(),
        pools: HashMap::new(),
        captures: HashMap::new(),
        order: Order::default(),
        held: Vec::new(),
        recent: Recent::default(),
        graphs: Graphs::default(),
        executables: HashMap::new(),
        heap: Arc::default(),
        limits: HashMap::new(),
        fault: None,
        launches: 0,
        chosen: Chosen::default(),
    })
});

/// The first one's default stream has the number that programs may give.
fn all_gpus() -> Vec<OfGpu> {
    let legacy = |at| if at == 0 { LEGACY } else { handle::next() };
    visible().into_iter().enumerate().map(|(at, number)| OfGpu::new(number, legacy(at))).collect()
}

thread_local! {
    /// It is never freed: a program may call when it ends, after what its thread had is gone.
    static CONTEXTS: ManuallyDrop<RefCell<Vec<Handle>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };

    /// What stream 0 is in the call that this thread makes.
    static DEFAULT: Cell<Handle> = const { Cell::new(LEGACY) };

    /// The default streams of this thread alone, by their GPUs.
    static OF_THREAD: ManuallyDrop<RefCell<HashMap<usize, Handle>>> = ManuallyDrop::new(RefCell::default());
}

/// The contexts that this thread has pushed; the last one is current. A null handle is none.
pub(crate) fn contexts<T>(then: impl FnOnce(&mut Vec<Handle>) -> T) -> T {
    CONTEXTS.with(|all| then(&mut all.borrow_mut()))
}

/// A call in which stream 0 is the thread's own.
pub(crate) fn with_stream_of_thread<T>(call: impl FnOnce() -> T) -> T {
    let before = DEFAULT.replace(PER_THREAD);
    let result = call();
    DEFAULT.set(before);
    result
}

/// Whether stream 0 is the thread's own in the call that this thread makes.
pub(crate) fn has_stream_of_thread() -> bool {
    DEFAULT.get() == PER_THREAD
}

/// The driver, in whatever state.
pub(crate) fn any() -> MutexGuard<'static, Gpu> {
    GPU.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver after `cuInit`.
pub(crate) fn begun() -> Result<MutexGuard<'static, Gpu>> {
    let gpu = any();
    if gpu.is_initialized { Ok(gpu) } else { Err(NOT_INITIALIZED) }
}

/// The driver, where the thread has a context and no kernel has failed.
pub(crate) fn live() -> Result<MutexGuard<'static, Gpu>> {
    let gpu = begun()?;
    if gpu.gpus.is_empty() {
        return Err(NO_DEVICE);
    }
    gpu.of_context(current())?;
    gpu.fault.map_or(Ok(gpu), Err)
}

/// The driver, where no kernel has failed: for a stream, an event or a pool that says by itself which context or GPU it is of.
pub(crate) fn awake() -> Result<MutexGuard<'static, Gpu>> {
    let gpu = begun()?;
    gpu.fault.map_or(Ok(gpu), Err)
}

/// The current context of this thread; 0 if there is none.
pub(crate) fn current() -> Handle {
    contexts(|all| all.last().copied().unwrap_or_default())
}

impl Gpu {
    /// The number of a GPU that a program names.
    pub(crate) fn named(&self, device: i32) -> Result<usize> {
        usize::try_from(device).ok().filter(|gpu| *gpu < self.gpus.len()).ok_or(INVALID_DEVICE)
    }

    /// The GPU of a context.
    pub(crate) fn of_context(&self, context: Handle) -> Result<usize> {
        let primary = || self.gpus.iter().position(|gpu| gpu.primary == context);
        self.contexts.get(&context).copied().or_else(primary).ok_or(INVALID_CONTEXT)
    }

    /// The GPU of this thread's context; the first one, if it has none.
    pub(crate) fn here(&self) -> usize {
        self.of_context(current()).unwrap_or_default()
    }

    /// The GPU that runs a kernel.
    pub(crate) fn gpu_of(&self, function: &Function) -> usize {
        self.modules.get(&function.module).map_or(0, |module| module.gpu)
    }

    pub(crate) fn is_legacy(&self, stream: Handle) -> bool {
        self.gpus.iter().any(|gpu| gpu.legacy == stream)
    }

    /// The stream that a program means. Errors: there is no such stream.
    pub(crate) fn stream(&mut self, stream: Handle) -> Result<Handle> {
        match if stream == 0 { DEFAULT.get() } else { stream } {
            LEGACY => {
                let here = self.here();
                let legacy = self.gpus.get(here).ok_or(INVALID_CONTEXT)?.legacy;
                self.order.has_legacy(legacy, here);
                Ok(legacy)
            }
            legacy if self.is_legacy(legacy) => Ok(legacy),
            PER_THREAD => Ok(self.stream_of_thread()),
            known if self.streams.contains_key(&known) => Ok(known),
            _ => Err(INVALID_HANDLE),
        }
    }

    fn stream_of_thread(&mut self) -> Handle {
        let here = self.here();
        OF_THREAD.with(|all| {
            *all.borrow_mut().entry(here).or_insert_with(|| {
                let handle = handle::next();
                self.streams.insert(handle, Stream { context: current(), ..Stream::default() });
                self.order.create(handle, Kind::OfThread, here);
                handle
            })
        })
    }

    pub(crate) fn event(&mut self, event: Handle) -> Result<&mut Event> {
        self.events.get_mut(&event).ok_or(INVALID_HANDLE)
    }

    /// An event that is to be recorded in a stream. Errors: the stream is another GPU's.
    pub(crate) fn event_for(&mut self, event: Handle, stream: Handle) -> Result<&mut Event> {
        let gpu = self.order.gpu_of(stream);
        self.event(event).and_then(|event| if event.gpu == gpu { Ok(event) } else { Err(INVALID_HANDLE) })
    }

    pub(crate) fn function(&self, function: Handle) -> Result<&Function> {
        self.functions.get(&function).ok_or(INVALID_HANDLE)
    }

    /// Bytes of a GPU's memory that nobody has.
    pub(crate) fn free_memory(&self, gpu: usize) -> usize {
        self.device.memory.saturating_sub(self.memory.used(gpu))
    }
}
