//! `applypriority`: give the lines of an address another eviction priority.

use crate::isa::gate::*;

#[cfg(not(target_arch = "nvptx64"))]
use crate::emit::line::nothing;

lines! { "applypriority" ", 128" "data-movement-and-conversion-instructions-applypriority" *const [readonly] nothing {
    /// Gives the 128 bytes at `p`, a generic address, the normal eviction priority in L2 again: what `evict_last` loads,
    /// prefetches and policies keep there is let go.
    ///
    /// # Safety
    /// `p` is aligned to 128 bytes and points to 128 bytes of global memory that this thread may read.
    applypriority_l2_evict_normal "applypriority.L2::evict_normal" CacheHint applypriority_l2_evict_normal;

    /// Gives the 128 bytes at `p` in global memory the normal eviction priority in L2 again: what `evict_last` loads,
    /// prefetches and policies keep there is let go.
    ///
    /// # Safety
    /// `p` is aligned to 128 bytes and points to 128 bytes of global memory that this thread may read.
    applypriority_global_l2_evict_normal "applypriority.global.L2::evict_normal" CacheHint
        applypriority_global_l2_evict_normal;
} }
