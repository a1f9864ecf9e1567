//! What a stream is given to do, and what a node of a graph does.

use std::ffi::c_void;
use std::sync::Arc;

use crate::blas::call::Routine;
use crate::called::Called;
use crate::handle::Handle;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    /// Bytes of shared memory that the launch adds.
    pub(crate) shared: u32,
    pub(crate) cluster: [u32; 3],
    /// Whether all blocks have to run at the same time.
    pub(crate) is_cooperative: bool,
    /// Whether it may begin before the kernel before it has ended: programmatic dependent launch.
    pub(crate) is_programmatic: bool,
    /// The event that it records, or 0.
    pub(crate) event: Handle,
}

#[derive(Clone, Debug)]
pub(crate) enum Work {
    Kernel(Kernel),
    Copy(Transfer),
    Fill(Fill),
    /// A library of ours does what kernels do in NVIDIA's.
    Library(Arc<Routine>),
    Host(Host),
    /// A graph that is this node's own.
    Child(Handle),
    Empty,
    WaitEvent(Handle),
    RecordEvent(Handle),
    /// Memory that each launch of the graph allocates, and its bytes.
    Allocate(u64, usize),
    Free(u64, &'static str),
    WaitValue(WaitValue),
}

impl Work {
    /// The event that a launch records.
    pub(crate) fn event(&self) -> Option<Handle> {
        let Work::Kernel(kernel) = self else { return None };
        Some(kernel.shape.event).filter(|event| *event != 0)
    }

    /// `CU_GRAPH_NODE_TYPE_…`
    pub(crate) fn kind(&self) -> u32 {
        match self {
            Work::Kernel(_) | Work::Library(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(_) => 3,
            Work::Child(_) => 4,
            Work::Empty => 5,
            Work::WaitEvent(_) => 6,
            Work::RecordEvent(_) => 7,
            Work::Allocate(..) => 10,
            Work::Free(..) => 11,
            Work::WaitValue(_) => 12,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) function: Handle,
    /// What the program calls the function: the handle, or for the runtime the function of the host that stands for it.
    pub(crate) symbol: usize,
    pub(crate) shape: Shape,
    pub(crate) arguments: Arguments,
}

/// The bytes of each argument, and pointers to them as a program hands them over.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) values: Vec<Vec<u8>>,
    pointers: Vec<usize>,
}

impl Arguments {
    pub(crate) fn new(values: Vec<Vec<u8>>) -> Arguments {
        let pointers = values.iter().map(|value| value.as_ptr() as usize).collect();
        Arguments { values, pointers }
    }

    pub(crate) fn pointers(&self) -> *const *const u8 {
        self.pointers.as_ptr().cast()
    }
}

impl Clone for Arguments {
    fn clone(&self) -> Arguments {
        Arguments::new(self.values.clone())
    }
}

/// One side of a copy: where it begins, and how far apart rows and planes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) start: u64,
    /// Whether it has to be the GPU's.
    pub(crate) is_device: bool,
    pub(crate) row: usize,
    pub(crate) plane: usize,
}

impl Side {
    /// Bytes that follow each other.
    pub(crate) fn of_bytes(start: u64, is_device: bool, bytes: usize) -> Side {
        Side { start, is_device, row: bytes, plane: bytes }
    }
}

/// Rows of a number of bytes, in planes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) to: Side,
    pub(crate) from: Side,
    /// Bytes of a row, rows of a plane, planes.
    pub(crate) size: [usize; 3],
    /// The call that asked for it.
    pub(crate) call: &'static str,
}

impl Transfer {
    pub(crate) fn of_bytes(to: Side, from: Side, bytes: usize, call: &'static str) -> Work {
        Work::Copy(Transfer { to, from, size: [bytes, 1, 1], call })
    }
}

/// Rows of elements that begin `pitch` bytes apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) to: u64,
    pub(crate) value: u64,
    /// Bytes of an element.
    pub(crate) element: usize,
    pub(crate) pitch: usize,
    /// Elements of a row, and rows.
    pub(crate) size: [usize; 2],
    pub(crate) call: &'static str,
}

pub(crate) type HostFunction = unsafe extern "C" fn(*mut c_void);

#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) function: HostFunction,
    /// A pointer of the program's.
    pub(crate) data: usize,
    /// The call, once it has begun.
    pub(crate) called: Option<Called>,
}

impl Host {
    pub(crate) fn call(&self) {
        // SAFETY: the program hands over a function and its data.
        unsafe { (self.function)(self.data as *mut c_void) }
    }
}

/// A number of 4 or 8 bytes that memory has to hold; `CU_STREAM_WAIT_VALUE_…` says how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitValue {
    pub(crate) address: u64,
    pub(crate) value: u64,
    pub(crate) bytes: usize,
    pub(crate) flags: u32,
    pub(crate) call: &'static str,
}
