//! A jump at the beginning of another function.

use std::ffi::c_int;

/// `jmp [rip]`, and the address after it.
const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
/// What a jump takes of the function.
pub(super) const BYTES: usize = JUMP.len() + size_of::<usize>();

/// Lets the function at `at` begin with a jump to the one at `to`.
///
/// # Safety
///
/// `at` is the beginning of a function of `BYTES` bytes that no thread executes now.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn jump(at: usize, to: usize) -> Result<(), String> {
    let mut code = [0; BYTES];
    code[..JUMP.len()].copy_from_slice(&JUMP);
    code[JUMP.len()..].copy_from_slice(&to.to_le_bytes());
    protect(at, BYTES, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    // SAFETY: the function has as many bytes, and its pages may be written.
    unsafe { (at as *mut u8).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
    protect(at, BYTES, libc::PROT_READ | libc::PROT_EXEC)
}

/// Says what may be done with the pages of some bytes of an object.
pub(super) fn protect(at: usize, bytes: usize, how: c_int) -> Result<(), String> {
    // SAFETY: it asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let first = at / page * page;
    // SAFETY: the pages are of an object that is loaded.
    match unsafe { libc::mprotect(first as *mut libc::c_void, at + bytes - first, how) } {
        0 => Ok(()),
        _ => Err(format!("it cannot be changed ({})", std::io::Error::last_os_error())),
    }
}

/// # Safety
///
/// None is needed: it fails.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn jump(_: usize, _: usize) -> Result<(), String> {
    Err(format!("this is not known for the processor {}", std::env::consts::ARCH))
}
