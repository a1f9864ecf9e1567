//! Heat in rods, one cluster of blocks each: the cells stay in shared memory from the first step to the last, and the
//! cells at a block's ends are read out of the neighbour's.

use ptx_intrinsics::*;

use crate::{Block, Thread};

/// Blocks in a cluster.
pub const CLUSTER: u32 = 4;

/// Threads in a block, a cell for each.
pub const THREADS: usize = 64;

/// Cells in a rod.
pub const ROD: usize = CLUSTER as usize * THREADS;

/// What moves to each neighbour in a step, as a part of the difference.
pub const FLOW: f32 = 0.21;

/// A block's cells, before a step and behind it, in turns.
pub type Cells = [[f32; THREADS]; 2];

/// A neighbour's cells.
const THERE: Ld<SharedCluster> = ld_shared_cluster();

#[cfg(target_arch = "nvptx64")]
mod entry {
    //! The entry point. Rust has no word for the size of a cluster, so its head is PTX; the rest is [`in_block`].

    core::arch::global_asm!(
        ".shared .align 16 .b8 rod_shared[{bytes}];",
        ".visible .func rod_in_block(.param .b64 a, .param .b64 b, .param .b32 c);",
        ".visible .entry rod(.param .u64 rod_param_0, .param .u64 rod_param_1, .param .u32 rod_param_2)",
        ".explicitcluster",
        ".reqnctapercluster {cluster}, 1, 1",
        "{{",
        ".reg .b64 %rd<3>;",
        ".reg .b32 %r<2>;",
        ".param .b64 a;",
        ".param .b64 b;",
        ".param .b32 c;",
        "ld.param.u64 %rd1, [rod_param_0];",
        "ld.param.u64 %rd2, [rod_param_1];",
        "ld.param.u32 %r1, [rod_param_2];",
        "st.param.b64 [a], %rd1;",
        "st.param.b64 [b], %rd2;",
        "st.param.b32 [c], %r1;",
        "call.uni rod_in_block, (a, b, c);",
        "ret;",
        "}}",
        bytes = const size_of::<super::Cells>(),
        cluster = const super::CLUSTER,
    );

    /// # Safety
    /// As for [`rod`](super::rod).
    #[unsafe(export_name = "rod_in_block")]
    // rust-cuda drops what no kernel of Rust's calls.
    #[cfg_attr(feature = "rust-cuda", nvvm_internal::used)]
    unsafe extern "C" fn in_block(out: *mut f32, input: *const f32, steps: u32) {
        let shared = generic_address!("shared", "rod_shared");
        // SAFETY: the variable is this kernel's; whoever launches the kernel keeps its contract.
        unsafe { super::rod(crate::Thread::current(), &crate::Block::new(shared), out, input, steps) }
    }
}

/// Lets `steps` steps pass: `cell += FLOW * ((left - cell) + (right - cell))`, each operation rounded. A rod's ends
/// keep all their heat.
///
/// # Safety
/// `out` is valid for writes and `input` for reads of [`ROD`] elements for each cluster of the grid; nobody else
/// touches `out` and nobody writes to `input` while it runs. A block has [`THREADS`] threads, a cluster [`CLUSTER`]
/// blocks.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn rod(thread: Thread, block: &Block<'_, Cells>, out: *mut f32, input: *const f32, steps: u32) {
    let me = thread.thread as usize;
    let rank = block.rank();
    let here = |step: usize, at: usize| block.shared().cast::<f32>().wrapping_add(step % 2 * THREADS + at);
    let there =
        |rank: u32, step: usize, at: usize| block.shared_of(rank).cast::<f32>().wrapping_add(step % 2 * THREADS + at);
    // SAFETY: every thread has its own cell; a step reads what the last one wrote, and a barrier of the cluster
    // stands between. Nobody ends before the neighbours have read.
    unsafe {
        let mut cell = ld_global_nc::<NoAllocate, NoPrefetch>().read(input.add(thread.index()));
        st_shared().write(here(0, me), cell);
        block.sync_cluster();
        for step in 0..steps as usize {
            let left = match (me, rank) {
                (0, 0) => cell,
                (0, _) => THERE.read(there(rank - 1, step, THREADS - 1)),
                _ => ld_shared().read(here(step, me - 1)),
            };
            let right = match (me + 1, rank + 1) {
                (THREADS, CLUSTER) => cell,
                (THREADS, _) => THERE.read(there(rank + 1, step, 0)),
                _ => ld_shared().read(here(step, me + 1)),
            };
            cell += FLOW * ((left - cell) + (right - cell));
            st_shared().write(here(step + 1, me), cell);
            block.sync_cluster();
        }
        st_global::<Cs>().write(out.add(thread.index()), cell);
    }
}
