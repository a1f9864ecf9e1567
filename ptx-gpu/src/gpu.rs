//! The state of the driver: what a program has asked for and not given back.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ptx_interpreter::{Heap, Kernel, Program};

use crate::array::Array;
use crate::counted::Counted;
use crate::device::{Device, REGISTERS_OF_THREAD, SHARED_OF_BLOCK};
use crate::executable::Executable;
use crate::graph::Graphs;
use crate::handle;
use crate::mapped::Mapped;
use crate::memory::{Home, Memory};
use crate::order::{Kind, Order};
use crate::recent::Recent;
use crate::settings::SETTINGS;
use crate::status::{INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND, NOT_INITIALIZED, Result, Status};
use crate::stream::{Capture, Event, Stream, StreamValue};
use crate::texture::Object;

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

pub(crate) struct Module {
    pub(crate) program: Arc<Program>,
    /// Where each variable is, and its bytes.
    pub(crate) variables: Arc<HashMap<String, (u64, usize)>>,
    /// Registers of a thread of each kernel, where they are known.
    registers: HashMap<String, i32>,
    /// The kernels that were asked for, by their names.
    functions: HashMap<String, Handle>,
    /// How often its instructions were executed, if that is asked for and a kernel was launched.
    pub(crate) counted: Option<Counted>,
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
    pub(crate) device: Device,
    pub(crate) is_initialized: bool,
    pub(crate) memory: Memory,
    pub(crate) mapped: Mapped,
    pub(crate) arrays: HashMap<Handle, Array>,
    /// Texture objects and surface objects.
    pub(crate) objects: HashMap<Handle, Object>,
    pub(crate) contexts: HashSet<Handle>,
    /// The primary context of the device, how often it was retained, and its flags.
    pub(crate) primary: (Handle, usize, u32),
    pub(crate) modules: HashMap<Handle, Module>,
    pub(crate) functions: HashMap<Handle, Function>,
    pub(crate) streams: HashMap<Handle, Stream>,
    /// What streams are told about the hardware, by attribute.
    pub(crate) attributes: HashMap<(Handle, u32), StreamValue>,
    pub(crate) events: HashMap<Handle, Event>,
    pub(crate) captures: HashMap<Handle, Capture>,
    pub(crate) order: Order,
    pub(crate) recent: Recent,
    pub(crate) graphs: Graphs,
    pub(crate) executables: HashMap<Handle, Arc<Executable>>,
    /// What kernels allocate by themselves.
    pub(crate) heap: Arc<Mutex<Heap>>,
    pub(crate) limits: HashMap<u32, usize>,
    /// What a kernel ended with, if it failed: every later call ends with it too, as on a GPU.
    pub(crate) fault: Option<Status>,
    pub(crate) launches: u64,
}

static GPU: LazyLock<Mutex<Gpu>> = LazyLock::new(|| {
    Mutex::new(Gpu {
        device: Device::new(SETTINGS.sm),
        is_initialized: false,
        memory: Memory::default(),
        mapped: Mapped::default(),
        arrays: HashMap::new(),
        objects: HashMap::new(),
        contexts: HashSet::new(),
        primary: (handle::next(), 0, 0),
        modules: HashMap::new(),
        functions: HashMap::new(),
        streams: HashMap::new(),
        attributes: HashMap::new(),
        events: HashMap::new(),
        captures: HashMap::new(),
        order: Order::default(),
        recent: Recent::default(),
        graphs: Graphs::default(),
        executables: HashMap::new(),
        heap: Arc::default(),
        limits: HashMap::new(),
        fault: None,
        launches: 0,
    })
});

thread_local! {
    /// It is never freed: a program may call when it ends, after what its thread had is gone.
    static CONTEXTS: ManuallyDrop<RefCell<Vec<Handle>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };

    /// What stream 0 is in the call that this thread makes.
    static DEFAULT: Cell<Handle> = const { Cell::new(LEGACY) };

    /// The default stream of this thread alone; 0 until it is used.
    static OF_THREAD: Cell<Handle> = const { Cell::new(0) };
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
    let context = current();
    if context != gpu.primary.0 && !gpu.contexts.contains(&context) {
        return Err(INVALID_CONTEXT);
    }
    gpu.fault.map_or(Ok(gpu), Err)
}

/// The driver, where no kernel has failed: for a stream or an event that says by itself which context it is of.
pub(crate) fn awake() -> Result<MutexGuard<'static, Gpu>> {
    let gpu = begun()?;
    gpu.fault.map_or(Ok(gpu), Err)
}

/// The current context of this thread; 0 if there is none.
pub(crate) fn current() -> Handle {
    contexts(|all| all.last().copied().unwrap_or_default())
}

impl Gpu {
    /// The stream that a program means. Errors: there is no such stream.
    pub(crate) fn stream(&mut self, stream: Handle) -> Result<Handle> {
        match if stream == 0 { DEFAULT.get() } else { stream } {
            LEGACY => {
                self.order.has_legacy(LEGACY);
                Ok(LEGACY)
            }
            PER_THREAD => Ok(self.stream_of_thread()),
            known if self.streams.contains_key(&known) => Ok(known),
            _ => Err(INVALID_HANDLE),
        }
    }

    fn stream_of_thread(&mut self) -> Handle {
        if OF_THREAD.get() == 0 {
            let handle = handle::next();
            self.streams.insert(handle, Stream::default());
            self.order.create(handle, Kind::OfThread);
            OF_THREAD.set(handle);
        }
        OF_THREAD.get()
    }

    pub(crate) fn event(&mut self, event: Handle) -> Result<&mut Event> {
        self.events.get_mut(&event).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn function(&self, function: Handle) -> Result<&Function> {
        self.functions.get(&function).ok_or(INVALID_HANDLE)
    }

    /// Bytes of device memory that nobody has.
    pub(crate) fn free_memory(&self) -> usize {
        self.device.memory.saturating_sub(self.memory.used)
    }

    /// Loads PTX. Its variables get places of their own.
    pub(crate) fn load(&mut self, code: Code) -> Result<Handle> {
        let program = Program::parse(&code.ptx);
        let mut variables = HashMap::new();
        for variable in program.variables() {
            let home = if variable.managed { Home::ManagedVariable } else { Home::Variable };
            let place = self.memory.allocate(variable.bytes.max(1), home, &variable.name)?;
            let content = &variable.content[..variable.content.len().min(variable.bytes)];
            // SAFETY: the allocation has these bytes.
            unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), place as *mut u8, content.len()) };
            variables.insert(variable.name.clone(), (place, variable.bytes));
        }
        for variable in program.variables() {
            let Some((place, bytes)) = variables.get(&variable.name).copied() else { continue };
            // SAFETY: the allocation has these bytes, and nothing else uses them yet.
            let content = unsafe { std::slice::from_raw_parts_mut(place as *mut u8, bytes) };
            for pointer in &variable.pointers {
                let to = variables.get(&pointer.to).map_or(0, |(place, _)| *place);
                pointer.put(content, to);
            }
        }
        let (program, variables) = (Arc::new(program), Arc::new(variables));
        let module = Module { program, variables, registers: code.registers, functions: HashMap::new(), counted: None };
        let handle = handle::next();
        self.modules.insert(handle, module);
        Ok(handle)
    }

    pub(crate) fn unload(&mut self, module: Handle) -> Result {
        let module = self.modules.remove(&module).ok_or(INVALID_HANDLE)?;
        for function in module.functions.values() {
            self.functions.remove(function);
        }
        for (place, _) in module.variables.values() {
            self.memory.free(*place, &[Home::Variable, Home::ManagedVariable], "cuModuleUnload")?;
        }
        self.order.host_waits_for_all();
        Ok(())
    }

    /// The handle of a kernel, which is the same each time.
    pub(crate) fn kernel(&mut self, module: Handle, name: &str) -> Result<Handle> {
        let handle = handle::next();
        let of = self.modules.get_mut(&module).ok_or(INVALID_HANDLE)?;
        if let Some(known) = of.functions.get(name) {
            return Ok(*known);
        }
        let kernel = of.program.kernel(name).ok_or(NOT_FOUND)?;
        of.functions.insert(name.to_owned(), handle);
        let registers = of.registers.get(name).copied().unwrap_or(REGISTERS_OF_THREAD);
        let most_dynamic = (SHARED_OF_BLOCK - kernel.shared as i32).max(0);
        let name = Arc::new(CString::new(name).map_err(|_| NOT_FOUND)?);
        let kernel = Arc::new(kernel);
        let function = Function { module, name, kernel, registers, most_dynamic, carve_out: -1, large_clusters: false };
        self.functions.insert(handle, function);
        Ok(handle)
    }

    pub(crate) fn variable(&self, module: Handle, name: &str) -> Result<(u64, usize)> {
        let module = self.modules.get(&module).ok_or(INVALID_HANDLE)?;
        module.variables.get(name).copied().ok_or(NOT_FOUND)
    }
}
