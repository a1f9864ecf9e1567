//! What a kernel asks of its block's shared memory.

use std::alloc::Layout;

use ptx_intrinsics::SharedPtr;

use super::memory::BlockMemory;
use super::place::place;

fn block() -> &'static BlockMemory {
    let place = place();
    // The place lives as long as the thread of the grid that asks, and so does what it points at.
    &place.memory().blocks[place.rank as usize]
}

/// The block's variable that this names.
#[doc(hidden)]
pub fn variable<T>(key: &'static u8) -> SharedPtr<T> {
    let layout = Layout::new::<T>();
    let layout = Layout::from_size_align(layout.size().max(1), layout.align().max(16)).expect("a type has a layout");
    SharedPtr::new(block().variable(key, layout).cast())
}

/// What dynamic shared memory is aligned to.
const LEAST: usize = 16;

/// The shared memory whose size the launch says.
pub(crate) fn dynamic<T>() -> SharedPtr<T> {
    let block = block();
    assert!(
        block.dynamic > 0,
        "this launch has no dynamic shared memory: say how many bytes with `Launch::dynamic_shared`"
    );
    // In each block it begins at a multiple of 16 and of no more, so that a kernel that counts on more fails here too.
    let layout = Layout::from_size_align(LEAST + block.dynamic, 1024).expect("it fits into memory");
    let begin = block.variable(std::ptr::null(), layout).wrapping_add(LEAST);
    SharedPtr::new(begin.wrapping_add(begin.align_offset(align_of::<T>())).cast())
}

/// The bytes of dynamic shared memory, and of all that the block has used so far.
pub(crate) fn sizes() -> [u32; 2] {
    [block().dynamic, block().bytes()].map(|bytes| bytes as u32)
}

/// The place in another block of the cluster that corresponds to this one.
pub(crate) fn of_rank<T>(p: SharedPtr<T>, rank: u32) -> *mut T {
    // SAFETY: on a CPU a `SharedPtr` is a pointer, and nothing else.
    let address: *mut u8 = unsafe { std::mem::transmute_copy(&p) };
    let place = place();
    place.memory().in_block(place.rank, address, rank).cast()
}
