//! `discard`: drop lines that need not be written back.

/// The bytes are undetermined from now on. A pattern shows whoever reads them.
#[cfg(not(ptx_device))]
unsafe fn undetermined(p: *const u8) {
    // SAFETY: the caller's promise: 128 bytes that may be written.
    unsafe { p.cast_mut().write_bytes(0xD5, 128) }
}

instructions! { SINGLES:
    instruction "discard", isa "data-movement-and-conversion-instructions-discard", effect message, T = u8 {
        /// Drops the 128 bytes at `p`, a generic address, from L2 without writing them back to memory. Their content is
        /// undetermined until they are written again. On a CPU they are overwritten with a pattern.
        #[doc = when_it_pays!(discard_l2)]
        unsafe fn discard_l2<T>(p: *mut T as reg64) {
            ptx: "discard.L2", [p], 128;
            needs: CacheHint;
            safety: "`p` is aligned to 128 bytes and points to 128 bytes of global memory that this thread may write and that no \
                other thread uses at the same time. Nothing reads them before they are written.";
            cpu: undetermined(p.cast());
        }

        /// Drops the 128 bytes at `p` in global memory from L2 without writing them back to memory. Their content is
        /// undetermined until they are written again. On a CPU they are overwritten with a pattern.
        #[doc = when_it_pays!(discard_global_l2)]
        unsafe fn discard_global_l2<T>(p: *mut T as reg64) {
            ptx: "discard.global.L2", [p], 128;
            needs: CacheHint;
            safety: "`p` is aligned to 128 bytes and points to 128 bytes of global memory that this thread may write and that no \
                other thread uses at the same time. Nothing reads them before they are written.";
            cpu: undetermined(p.cast());
        }
    }
}
