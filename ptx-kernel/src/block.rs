//! Values reduced over the threads of a block, scans and votes of them.

use ptx_intrinsics::SharedPtr;

use crate::{
    Lanes, Number, Shuffled, WARP_SIZE, block_dim_x, sync_threads, thread_idx_x, warp_inclusive_scan, warp_reduce,
};

/// What all of these functions say of themselves.
macro_rules! of_a_block {
    ($($(#[$doc:meta])* $name:ident [$($bound:tt)*] ($value:ident, $($argument:ident: $type:ty),*) $cost:literal = $body:expr;)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("Costs ", $cost, "; 2 barriers; a value of each warp in `memory`.")]
        /// The memory may be used for the next call at once, and for anything else after a [`sync_threads`].
        ///
        /// # Safety
        /// All threads of the block come here, and none has ended. The block has one dimension and is whole warps. Nobody else
        /// uses `memory` meanwhile.
        #[inline(always)]
        pub unsafe fn $name<T: $($bound)*>($value: T, $($argument: $type),*) -> T {
            // SAFETY: the caller's promise.
            unsafe { $body }
        }
    )* };
}
of_a_block! {
    /// `reduce` of all threads' values, in each thread. `none` changes nothing that it is reduced with. `reduce` does not care about
    /// the order of its operands.
    ///
    /// ```
    /// use ptx_kernel::*;
    ///
    /// shared! {
    ///     fn warps() -> [u32; 32];
    /// }
    ///
    /// kernel! {
    ///     /// The bits that all of a block's elements have.
    ///     ///
    ///     /// # Safety
    ///     /// `x` points at an element for each thread, `out` at one for each block. A block is whole warps.
    ///     pub unsafe fn common_bits(x: *const u32, out: *mut u32) {
    ///         // SAFETY: the elements are there, and all threads come here.
    ///         unsafe {
    ///             let bits = block_reduce(*x.add(global_index() as usize), u32::MAX, warps(), |a, b| a & b);
    ///             if thread_idx_x() == 0 {
    ///                 *out.add(block_idx_x() as usize) = bits;
    ///             }
    ///         }
    ///     }
    /// }
    ///
    /// let (x, mut out) = ([0b1110; 128], [0; 2]);
    /// let (from, to) = (x.as_ptr(), out.as_mut_ptr());
    /// // SAFETY: 128 elements, and 128 threads in 2 blocks.
    /// unsafe { cpu::Launch::new(2, 64).run(|| common_bits(from, to)) };
    /// assert_eq!(out, [0b1110; 2]);
    /// ```
    block_reduce [Shuffled] (value, none: T, memory: SharedPtr<[T; 32]>, reduce: impl Fn(T, T) -> T) "10 shuffles and 10 operations"
        = {
            let value = warp_reduce(value, &reduce);
            warp_reduce(of_warps(value, 0, none, memory), reduce)
        };
    /// The sum of all threads' values, in each thread.
    ///
    /// ```
    /// use ptx_kernel::*;
    ///
    /// shared! {
    ///     fn warps() -> [f32; 32];
    /// }
    ///
    /// kernel! {
    ///     /// # Safety
    ///     /// `x` points at an element for each thread, `out` at one for each block. A block is whole warps.
    ///     pub unsafe fn block_sums(x: *const f32, out: *mut f32) {
    ///         // SAFETY: the elements are there, and all threads come here.
    ///         unsafe {
    ///             let sum = block_sum(*x.add(global_index() as usize), warps());
    ///             if thread_idx_x() == 0 {
    ///                 *out.add(block_idx_x() as usize) = sum;
    ///             }
    ///         }
    ///     }
    /// }
    ///
    /// let (x, mut out) = ([0.5; 192], [0.0; 2]);
    /// let (from, to) = (x.as_ptr(), out.as_mut_ptr());
    /// // SAFETY: 192 elements, and 192 threads in 2 blocks.
    /// unsafe { cpu::Launch::new(2, 96).run(|| block_sums(from, to)) };
    /// assert_eq!(out, [48.0; 2]);
    /// ```
    #[doc(alias = "BlockReduce")]
    block_sum [Number] (value, memory: SharedPtr<[T; 32]>) "10 shuffles and 10 additions"
        = block_reduce(value, T::NO_SUM, memory, T::plus);
    /// The least of all threads' values, in each thread.
    block_min [Number] (value, memory: SharedPtr<[T; 32]>) "10 shuffles and 10 minima"
        = block_reduce(value, T::NO_LEAST, memory, T::least);
    /// The greatest of all threads' values, in each thread.
    block_max [Number] (value, memory: SharedPtr<[T; 32]>) "10 shuffles and 10 maxima"
        = block_reduce(value, T::NO_GREATEST, memory, T::greatest);
    /// In each thread `scan` of its own value and those of the threads before it. `scan` is associative; its first operand is that
    /// of the lower threads. `none` changes nothing that it is scanned with.
    block_inclusive_scan [Shuffled] (value, none: T, memory: SharedPtr<[T; 32]>, scan: impl Fn(T, T) -> T)
        "11 shuffles and 11 operations"
        = {
            let own = warp_inclusive_scan(value, &scan);
            let before = before_this_warp(own, none, memory, &scan);
            scan(before, own)
        };
    /// In each thread `scan` of the values of the threads before it, and `none` in the first.
    block_exclusive_scan [Shuffled] (value, none: T, memory: SharedPtr<[T; 32]>, scan: impl Fn(T, T) -> T)
        "12 shuffles and 11 operations"
        = {
            let own = warp_inclusive_scan(value, &scan);
            let before = before_this_warp(own, none, memory, &scan);
            let own = crate::shuffle_up(own, 1);
            if thread_idx_x().is_multiple_of(WARP_SIZE) { before } else { scan(before, own) }
        };
    /// In each thread the sum of its own value and those of the threads before it.
    #[doc(alias = "BlockScan")]
    block_inclusive_sum [Number] (value, memory: SharedPtr<[T; 32]>) "11 shuffles and 11 additions"
        = block_inclusive_scan(value, T::NO_SUM, memory, T::plus);
    /// In each thread the sum of the values of the threads before it: zero in the first (of floats −0).
    block_exclusive_sum [Number] (value, memory: SharedPtr<[T; 32]>) "12 shuffles and 11 additions"
        = block_exclusive_scan(value, T::NO_SUM, memory, T::plus);
}

/// The value of the warp of this lane's number, which that warp's lane `lane` has; `none` if the block has fewer warps.
///
/// # Safety
/// As above.
#[inline(always)]
unsafe fn of_warps<T: Shuffled>(value: T, lane: u32, none: T, memory: SharedPtr<[T; 32]>) -> T {
    #[cfg(not(target_arch = "nvptx64"))]
    crate::cpu::check_block();
    let (memory, me) = (memory.cast::<T>(), thread_idx_x());
    // SAFETY: a warp's place is its own, and a barrier is between writing and reading, and between reading and the next write.
    unsafe {
        sync_threads();
        if me % WARP_SIZE == lane {
            memory.add(me / WARP_SIZE).write(value);
        }
        sync_threads();
        if me % WARP_SIZE < block_dim_x() / WARP_SIZE { memory.add(me % WARP_SIZE).read() } else { none }
    }
}

/// The scan of all values of the warps before this one, whose scan this thread has a part of.
///
/// # Safety
/// As above.
#[inline(always)]
unsafe fn before_this_warp<T: Shuffled>(own: T, none: T, memory: SharedPtr<[T; 32]>, scan: impl Fn(T, T) -> T) -> T {
    let warp = thread_idx_x() / WARP_SIZE;
    // SAFETY: the caller's promise.
    unsafe {
        let warps = warp_inclusive_scan(of_warps(own, WARP_SIZE - 1, none, memory), scan);
        let before = Lanes::<32>::of_warp().shuffle(warps, warp.wrapping_sub(1));
        if warp == 0 { none } else { before }
    }
}
