//! `applypriority`: give the lines of an address another eviction priority.

instructions! { SINGLES:
    instruction "applypriority", isa "data-movement-and-conversion-instructions-applypriority", effect hint, T = u8 {
        /// Gives the 128 bytes at `p`, a generic address, the normal eviction priority in L2 again. This releases what
        /// `evict_last` loads, prefetches and policies keep there.
        #[doc = when_it_pays!(applypriority_l2_evict_normal)]
        unsafe fn applypriority_l2_evict_normal<T>(p: *const T as reg64) {
            ptx: "applypriority.L2::evict_normal", [p], 128;
            needs: CacheHint;
            safety: "`p` is aligned to 128 bytes and points to 128 bytes of global memory that this thread may read.";
            cpu: ();
        }

        /// Gives the 128 bytes at `p` in global memory the normal eviction priority in L2 again. This releases what
        /// `evict_last` loads, prefetches and policies keep there.
        #[doc = when_it_pays!(applypriority_global_l2_evict_normal)]
        unsafe fn applypriority_global_l2_evict_normal<T>(p: *const T as reg64) {
            ptx: "applypriority.global.L2::evict_normal", [p], 128;
            needs: CacheHint;
            safety: "`p` is aligned to 128 bytes and points to 128 bytes of global memory that this thread may read.";
            cpu: ();
        }
    }
}
