//! `st.bulk`: fill shared memory with zeros.

/// What the caller of a fill promises.
macro_rules! promise {
    () => {
        "`p` is aligned to 16 bytes and points to `size` bytes of this block's shared memory. `size` is a multiple of 8 and at most \
        16,777,216. No other thread accesses the bytes at the same time."
    };
}

instructions! { SINGLES:
    instruction "st.bulk", isa "data-movement-and-conversion-instructions-st-bulk", effect message, T = u8 {
        /// Fills `size` bytes of this block's shared memory from `p` on, a generic address, with zeros.
        unsafe fn st_bulk<T>(p: *mut T as reg64, size: u64 as reg64) {
            ptx: "st.bulk", [p], size, 0;
            needs: BulkStores;
            safety: promise!();
            cpu: p.cast::<u8>().write_bytes(0, size as usize);
        }

        /// Fills `size` bytes of this block's shared memory from `p` on with zeros.
        ///
        /// ```
        /// use ptx_intrinsics::prelude::*;
        ///
        /// let mut tile = V4::new([1u32, 2, 3, 4]);
        /// // st.bulk.shared::cta [p], 8, 0;
        /// unsafe { st_bulk_shared_cta(SharedPtr::new(&raw mut tile), 8) };
        /// assert_eq!(tile.0, [0, 0, 3, 4]);
        /// ```
        #[doc(alias = "shared::cta")]
        unsafe fn st_bulk_shared_cta<T>(p: SharedPtr<T> as shared, size: u64 as reg64) {
            ptx: "st.bulk.shared::cta", [p], size, 0;
            needs: BulkStores;
            safety: promise!();
            cpu: p.address().cast::<u8>().write_bytes(0, size as usize);
        }
    }
}
