//! The stacks of threads, and what is said when one is full.

use corosensei::stack::{DefaultStack, Stack};

/// What a thread has: twice the local memory that a GPU gives to a thread at most, since a dev build needs more. Only what is
/// used of it takes memory.
const BYTES: usize = 1 << 20;

pub(super) fn make() -> DefaultStack {
    #[cfg(unix)]
    guard::watch();
    DefaultStack::new(BYTES).unwrap_or_else(|error| panic!("no memory for the stack of a thread: {error}"))
}

/// The lowest address of a stack: below what may be used is a page that faults.
pub(super) fn lowest(stack: &DefaultStack) -> usize {
    stack.limit().get()
}

#[cfg(unix)]
mod guard {
    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::sync::Once;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use crate::cpu::place::stack_of_this_thread;

    /// No page is larger.
    const PAGE: usize = 64 << 10;

    const MESSAGE: &str = "\nthe kernel has no more stack: on a CPU a thread has 1 MiB of it, and on a GPU 512 KiB of local memory \
                           at most; hold less in local variables\n";

    /// What handled the signal before, as the system has it.
    static BEFORE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

    /// Has a fault on a stack's guard page end the program with a message.
    pub(super) fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            [libc::SIGSEGV, libc::SIGBUS].into_iter().enumerate().for_each(|(at, signal)| handle(at, signal))
        });
    }

    fn handle(at: usize, signal: c_int) {
        let (mut action, mut before) =
            (MaybeUninit::<libc::sigaction>::zeroed(), MaybeUninit::<libc::sigaction>::zeroed());
        // SAFETY: zeros are a valid `sigaction`, and the handler has the type that `SA_SIGINFO` asks for. The standard library
        // has given each of its threads a stack for signals.
        unsafe {
            let new = action.assume_init_mut();
            new.sa_sigaction = faulted as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, action.as_ptr(), before.as_mut_ptr());
            BEFORE[at].store(before.assume_init().sa_sigaction, Relaxed);
        }
    }

    extern "C" fn faulted(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system says where the fault was.
        let address = unsafe { (*info).si_addr() } as usize;
        if stack_of_this_thread().is_some_and(|lowest| (lowest..lowest + PAGE).contains(&address)) {
            // SAFETY: both may be called in a handler.
            unsafe {
                libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
                libc::abort();
            }
        }
        let before = BEFORE[usize::from(signal == libc::SIGBUS)].load(Relaxed);
        // SAFETY: it is what the system had, and so of one of these types.
        unsafe {
            if before == libc::SIG_DFL || before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_DFL);
            } else {
                type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);
                std::mem::transmute::<usize, Handler>(before)(signal, info, context);
            }
        }
    }
}
