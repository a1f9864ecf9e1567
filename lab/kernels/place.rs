//! Where a thread is, what time it is there, and the chase that every probe is.

use core::arch::asm;
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _grid_dim_x, _thread_idx_x};

use ptx_intrinsics::prelude::*;
use ptx_kernel::whole;

/// The most steps of a probe: their times are kept in shared memory, where they disturb no cache.
pub(crate) const STEPS: usize = 16384;

/// A variable in shared memory, which nothing is in at first, and the function of its name that gives its address.
macro_rules! shared {
    ($name:ident: [$type:ty; $count:expr]) => {
        core::arch::global_asm!(
            concat!(".shared .align 16 .b8 ", stringify!($name), "[{bytes}];"),
            bytes = const size_of::<[$type; $count]>(),
        );

        #[inline(always)]
        fn $name() -> u32 {
            let address: u32;
            // SAFETY: this takes an address, and reads nothing.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {address}, ", stringify!($name), ";"),
                    address = out(reg32) address,
                    options(pure, nomem, nostack),
                );
            }
            address
        }
    };
}

shared!(lab_times: [u16; STEPS]);

/// At the beginning of a loop whose counter is [`whole`]: neither the compiler nor the assembler unrolls it, and each time
/// through is as long as any.
#[inline(always)]
pub(crate) fn rolled() {
    // SAFETY: there is no instruction in it.
    unsafe { asm!(".pragma \"nounroll\";", options(nomem, nostack, preserves_flags)) };
}

/// The thread's number in its block.
#[inline(always)]
pub(crate) fn me() -> u32 {
    // SAFETY: this only reads a special register.
    unsafe { _thread_idx_x() as u32 }
}

/// The thread's number in its grid.
#[inline(always)]
pub(crate) fn index() -> u32 {
    // SAFETY: this only reads special registers.
    unsafe { _block_idx_x() as u32 * _block_dim_x() as u32 + me() }
}

/// How many threads the grid has.
#[inline(always)]
pub(crate) fn count() -> u32 {
    // SAFETY: this only reads special registers.
    unsafe { _grid_dim_x() as u32 * _block_dim_x() as u32 }
}

/// The multiprocessor that the thread runs on.
#[inline(always)]
fn multiprocessor() -> u32 {
    let number;
    // SAFETY: this only reads a special register.
    unsafe { asm!("mov.u32 {number}, %smid;", number = out(reg32) number, options(nomem, nostack)) };
    number
}

/// The multiprocessor's clock once `value`, which is not 0, is here: reading it waits for the value.
#[inline(always)]
pub(crate) fn clock_after(value: u64) -> u64 {
    let clock;
    // SAFETY: this only reads a special register.
    unsafe {
        asm!(
            "{{",
            ".reg .pred %here;",
            "setp.ne.u64 %here, {value}, 0;",
            "mov.u64 {clock}, 0;",
            "@%here mov.u64 {clock}, %clock64;",
            "}}",
            value = in(reg64) value,
            clock = out(reg64) clock,
            options(nostack),
        );
    }
    clock
}

/// Whether this is the thread that does the work of its grid: the first of a block on multiprocessor `sm`, the first of
/// these blocks to come.
///
/// # Safety
/// `ticket` is valid for reads and writes, and others access it by atomics alone.
#[inline(always)]
pub(crate) unsafe fn chosen(ticket: *mut u32, sm: u32) -> bool {
    // SAFETY: by this function's contract.
    me() == 0 && multiprocessor() == sm && unsafe { ptx!(atom.relaxed.gpu.global.add.u32[ticket], 1) } == 0
}

/// Follows `steps` links, at most [`STEPS`], from `start` by `load`, and writes the clocks that each took to `times`.
///
/// # Safety
/// `start` and every link after it are what `load` takes, and not 0; `times` is valid for writes of `steps` numbers, and
/// nobody else touches it. One thread of a block calls it.
#[inline(always)]
pub(crate) unsafe fn probe(times: *mut u32, start: u64, steps: u32, load: impl Fn(u64) -> u64) {
    // SAFETY: by this function's contract.
    unsafe { timed(times, start, steps, |at, _| load(at)) };
}

/// The loop of [`probe`]: `next` gives the next link, of the last one and of the clock that was read after it.
///
/// # Safety
/// As for [`probe`], and `next` never gives 0.
#[inline(always)]
pub(crate) unsafe fn timed(times: *mut u32, start: u64, steps: u32, next: impl Fn(u64, u64) -> u64) {
    let spent = SharedPtr::<u16>::from_address(lab_times());
    let (mut at, mut before) = (start, clock_after(start));
    let mut step = 0;
    while step < steps {
        rolled();
        at = next(at, before);
        let now = clock_after(at);
        // SAFETY: there is room for so many steps.
        unsafe { spent.add(step).write((now - before).min(u16::MAX.into()) as u16) };
        before = now;
        step = whole(step + 1);
    }
    step = 0;
    while step < steps {
        rolled();
        // SAFETY: as above.
        unsafe { stcs(times.add(step as usize), u32::from(spent.add(step).read())) };
        step = whole(step + 1);
    }
}
