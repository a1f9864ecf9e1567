//! A fence, until `ptx-intrinsics` has one.

/// Keeps what stands before it before what stands behind it, for all threads of the GPU: `fence.acq_rel.gpu`.
///
/// On the GPU this is not [`core::sync::atomic::fence`]: rustc makes `fence.acq_rel.sys` of that, which waits for the
/// CPU's sight of memory too.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: a fence touches no memory of its own.
    unsafe {
        core::arch::asm!("fence.acq_rel.gpu;", options(nostack));
    }
    #[cfg(not(target_arch = "nvptx64"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::AcqRel);
}
