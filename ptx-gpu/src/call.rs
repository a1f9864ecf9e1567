//! How a call of the program becomes one of ours, and what it hands back.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::calling;
use crate::changed::{Call, changed};
use crate::gpu::any;
use crate::held::{settle, settle_before};
use crate::host_access::{close_unfinished, tell_accesses};
use crate::output::note;
use crate::status::{INVALID_VALUE, Result, SUCCESS, Status, UNKNOWN};

/// Defines functions with the C ABI, which `$answer` calls. A body gives a `Result`. `#[also(other)]` gives a function another
/// name too. For programs whose default stream is each thread's own, `#[ptsz]` and `#[ptds]` give it the name with that ending too, and
/// `#[also_ptsz(other_ptsz)]` another one.
macro_rules! functions {
    ($answer:path; $($(#[$kind:ident $($others:tt)?])* fn $name:ident $arguments:tt $body:block)*) => {$(
        $crate::call::function! { $answer, $name $arguments $body }
        $($crate::call::other_names! { $kind $($others)? $name $arguments })*
    )*};
}

macro_rules! function {
    ($answer:path, $name:ident ($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($argument: $type),*) -> u32 {
            let call = $crate::changed::Call { name: stringify!($name), arguments: &[$($crate::call::bits(&$argument)),*] };
            $answer(call, move || $body)
        }
    };
}

macro_rules! other_names {
    (also ($($other:ident),+) $name:ident $arguments:tt) => {
        $($crate::call::other_name! { (stringify!($other)) $name $arguments })+
    };
    (also_ptsz ($other:ident) $name:ident $arguments:tt) => {
        $crate::call::of_thread! { (stringify!($other)) $name $arguments }
    };
    (ptsz $name:ident $arguments:tt) => {
        $crate::call::of_thread! { (concat!(stringify!($name), "_ptsz")) $name $arguments }
    };
    (ptds $name:ident $arguments:tt) => {
        $crate::call::of_thread! { (concat!(stringify!($name), "_ptds")) $name $arguments }
    };
}

macro_rules! other_name {
    (($other:expr) $name:ident ($($argument:ident: $type:ty),* $(,)?)) => {
        const _: () = {
            #[unsafe(export_name = $other)]
            extern "C" fn other($($argument: $type),*) -> u32 {
                // Else the optimiser makes one function of both, and `linked` could not replace one of them.
                std::hint::black_box($other);
                $name($($argument),*)
            }
        };
    };
}

macro_rules! of_thread {
    (($other:expr) $name:ident ($($argument:ident: $type:ty),* $(,)?)) => {
        const _: () = {
            #[unsafe(export_name = $other)]
            extern "C" fn of_thread($($argument: $type),*) -> u32 {
                std::hint::black_box($other);
                $crate::gpu::with_stream_of_thread(|| $name($($argument),*))
            }
        };
    };
}

/// As [`functions`], for the driver.
macro_rules! calls {
    ($($all:tt)*) => { $crate::call::functions! { $crate::call::answer; $($all)* } };
}

/// Functions that are missing: each calls `$say` with its name.
macro_rules! missing {
    ($say:ident: $($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> u32 {
            $say(stringify!($name))
        }
    )*};
}

pub(crate) use {calls, function, functions, missing, of_thread, other_name, other_names};

/// The bytes of an argument, at most eight, as a number.
pub(crate) fn bits<T: Copy>(argument: &T) -> u64 {
    let mut bits = 0u64;
    let bytes = size_of::<T>().min(size_of_val(&bits));
    // SAFETY: both have these bytes.
    unsafe { std::ptr::copy_nonoverlapping((&raw const *argument).cast::<u8>(), (&raw mut bits).cast(), bytes) };
    bits
}

/// Does what a call asks for.
pub(crate) fn answer(call: Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    // One call of ours may make another.
    let before = calling::name();
    calling::replace(before.or(Some(call.name)));
    let own = || own_answer(call.name, || if before.is_none() { between_accesses(body) } else { body() });
    let status = match changed() {
        Some(changed) if before.is_none() => (changed.around)(call, Box::new(own)),
        _ => own(),
    };
    calling::replace(before);
    status
}

/// What the program accesses between two calls is watched.
fn between_accesses(body: impl FnOnce() -> Result) -> Result {
    tell_accesses();
    let result = settle_before(calling::call_name()).and_then(|()| body()).and_then(|()| settle());
    close_unfinished();
    result
}

fn own_answer(name: &str, body: impl FnOnce() -> Result) -> u32 {
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => {
            note(&format!("{name} failed in this library itself: report it, with the program"));
            UNKNOWN
        }
    };
    status.0
}

/// Writes a result to where the program wants it.
pub(crate) fn put<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program hands over a place for the result.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes a result if the program wants it.
pub(crate) fn put_if<T>(place: *mut T, value: T) -> Result {
    if place.is_null() { Ok(()) } else { put(place, value) }
}

/// What a pointer of the program leads to.
pub(crate) fn get<T: Copy>(place: *const T) -> Result<T> {
    if place.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program hands over a value of this type.
    Ok(unsafe { place.read_unaligned() })
}

/// The elements that a program hands over.
pub(crate) fn all<T: Copy>(first: *const T, count: usize) -> Result<Vec<T>> {
    (0..count).map(|at| get(first.wrapping_add(at))).collect()
}

/// A name.
pub(crate) fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program hands over a text that ends with 0.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| INVALID_VALUE)
}

/// Writes as much of a text as there is room for.
pub(crate) fn put_text(place: *mut c_char, room: i32, text: &str) -> Result {
    let Some(most) = usize::try_from(room).ok().and_then(|room| room.checked_sub(1)) else { return Err(INVALID_VALUE) };
    if place.is_null() {
        return Err(INVALID_VALUE);
    }
    let bytes = &text.as_bytes()[..text.len().min(most)];
    // SAFETY: `place` has room for `room` bytes: these and the 0.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), bytes.len());
        place.add(bytes.len()).write(0);
    }
    Ok(())
}

/// From here on every call ends with this status, as it does after a kernel has failed.
pub fn fail(status: u32) {
    any().fault.get_or_insert(Status(status));
}
