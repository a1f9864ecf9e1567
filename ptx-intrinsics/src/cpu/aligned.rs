//! Accesses at the alignment that a GPU asks for: that of the size.

/// # Safety
/// `p` is the address of a readable `T`.
///
/// # Panics
/// If it is not aligned.
#[inline(always)]
pub(super) unsafe fn read<T>(p: *const T) -> T {
    demand(p);
    // SAFETY: the caller's promise; it is aligned.
    unsafe { p.read() }
}

/// # Safety
/// `p` is the address of a writable `T`.
///
/// # Panics
/// If it is not aligned.
#[inline(always)]
pub(super) unsafe fn write<T>(p: *mut T, value: T) {
    demand(p);
    // SAFETY: the caller's promise; it is aligned.
    unsafe { p.write(value) }
}

#[inline(always)]
pub(super) fn demand<T>(p: *const T) {
    if !p.addr().is_multiple_of(size_of::<T>()) {
        refuse(p);
    }
}

#[cold]
#[inline(never)]
fn refuse<T>(p: *const T) -> ! {
    let (name, size) = (core::any::type_name::<T>(), size_of::<T>());
    panic!("{p:p} is not aligned to the {size} bytes of a `{name}`: a GPU faults there");
}
