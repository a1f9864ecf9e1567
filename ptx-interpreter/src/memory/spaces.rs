//! Where each state space is among the generic addresses.

/// Where shared memory, parameters and local memory seem to be: no host has memory there.
pub(crate) const SHARED: u64 = 0x1000_0000_0000_0000;
pub(crate) const PARAMETERS: u64 = 0x2000_0000_0000_0000;
pub(crate) const LOCAL: u64 = 0x3000_0000_0000_0000;
/// Where tensor memory seems to be: a block has a piece of it, as of shared memory.
pub(crate) const TENSOR: u64 = 0x1800_0000_0000_0000;
/// Where a variable is whose content the module brings along.
pub(crate) const MODULE: u64 = 0x4000_0000_0000_0000;

/// Where the functions of the module seem to be, and how far one is from the next: no memory is there.
pub(crate) const FUNCTIONS: u64 = MODULE + (1 << 58);
pub(crate) const FUNCTION: u64 = 16;

/// Which function has an address.
pub(crate) fn function_at(address: u64) -> Option<usize> {
    let at = address.checked_sub(FUNCTIONS).filter(|at| at.is_multiple_of(FUNCTION))?;
    usize::try_from(at / FUNCTION).ok()
}

/// Where the heap of `malloc` is, and its addresses.
pub(crate) const HEAP: u64 = MODULE + (1 << 59);
pub(crate) const HEAP_BYTES: u64 = 1 << 58;

/// What a block has of shared memory, a thread of local memory, and a kernel of parameters.
pub(crate) const PIECE: u64 = 1 << 24;
/// What a cluster has of shared memory: a piece for each of its blocks.
pub(crate) const WINDOW: u64 = 1 << 28;

/// A variable in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

/// Whose memory an address is in, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A block's shared memory.
    Shared(usize),
    /// A block's tensor memory.
    Tensor(usize),
    /// A thread's local memory, by its number in the grid.
    Local(usize),
    Parameters,
    Module,
    /// What `malloc` gave.
    Heap,
    /// Memory of the host.
    Outside,
    Nobody,
}

/// Where an address is.
pub(crate) fn owner(address: u64, cluster: usize) -> (Owner, u64) {
    match address {
        ..SHARED => (Owner::Outside, address),
        SHARED..PARAMETERS => {
            let offset = address % (TENSOR - SHARED);
            let (window, rank) = (offset / WINDOW, offset % WINDOW / PIECE);
            let exists = rank < cluster as u64;
            let block = window as usize * cluster + rank as usize;
            let own = if is_tensor(address) { Owner::Tensor(block) } else { Owner::Shared(block) };
            (if exists { own } else { Owner::Nobody }, offset % PIECE)
        }
        PARAMETERS..LOCAL => (Owner::Parameters, address - PARAMETERS),
        LOCAL..MODULE => (Owner::Local(((address - LOCAL) / PIECE) as usize), (address - LOCAL) % PIECE),
        _ if address < MODULE + PIECE => (Owner::Module, address - MODULE),
        _ if is_heap(address) => (Owner::Heap, address),
        _ if address < MODULE + (1 << 60) => (Owner::Nobody, 0),
        _ => (Owner::Outside, address),
    }
}

/// Whether an address is in shared memory.
pub(crate) fn is_shared(address: u64) -> bool {
    (SHARED..TENSOR).contains(&address)
}

/// Whether an address is among the parameters of the kernel.
pub(crate) fn is_parameter(address: u64) -> bool {
    (PARAMETERS..LOCAL).contains(&address)
}

/// Whether an address is in the heap.
pub(crate) fn is_heap(address: u64) -> bool {
    (HEAP..HEAP + HEAP_BYTES).contains(&address)
}

/// Whether an address is in tensor memory.
#[inline]
pub(crate) fn is_tensor(address: u64) -> bool {
    (TENSOR..PARAMETERS).contains(&address)
}

/// Where the tensor memory of a block begins.
pub(crate) fn tensor_of(block: usize, cluster: usize) -> u64 {
    shared_of(block, cluster) - SHARED + TENSOR
}

/// Where the shared memory of a block begins.
pub(crate) fn shared_of(block: usize, cluster: usize) -> u64 {
    SHARED + (block / cluster) as u64 * WINDOW + (block % cluster) as u64 * PIECE
}
