//! What is no method and no operator of an access, though it is looked for there: each is an error that says what to write.

use core::ops::Index;

use super::ld::{Ld, LdGlobal};
use super::ld_global_nc::LdGlobalNc;
use super::shared_ptr::SharedPtr;
use super::st::{St, StGlobal};

/// An access whose hint a method says. There is none.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "no method gives an access a hint: a hint is a parameter of its function",
    label = "a parameter, and no method",
    note = "write `ld_global::<EvictLast, NoPrefetch>().read(p)`, `ld_global_nc::<NoAllocate, Prefetch256>().read(p)`, \
            `st_global::<Cs>().write(p, value)`; only accesses by these have hints"
)]
pub trait HintByMethod {}

macro_rules! hints_are_parameters {
    ($($method:ident)*) => {
        /// It takes `&self`, so that a trait of the user's with methods of these names goes first.
        #[doc(hidden)]
        pub trait HintsAreParameters: Copy {
            $(
                #[doc(hidden)]
                fn $method(&self) -> Self
                where
                    Self: HintByMethod,
                {
                    *self
                }
            )*
        }
    };
}
hints_are_parameters! {
    evict_first evict_last evict_normal evict_unchanged no_allocate l2_evict_first l2_evict_last l2_evict_normal
    prefetch_64 prefetch_128 prefetch_256 ca cg cs lu cv wb wt streaming
}

impl<S: Copy, O: Copy, C: Copy> HintsAreParameters for Ld<S, O, C> {}
impl<C: Copy, P: Copy> HintsAreParameters for LdGlobal<C, P> {}
impl<C: Copy, P: Copy> HintsAreParameters for LdGlobalNc<C, P> {}
impl<S: Copy, O: Copy, C: Copy> HintsAreParameters for St<S, O, C> {}
impl<C: Copy> HintsAreParameters for StGlobal<C> {}

/// What indexes shared memory. Nothing does.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "shared memory cannot be indexed: all threads of the block share it, so no thread may hold a reference to it",
    label = "not an index of shared memory",
    note = "to read element `i` of `tile() -> [f32; 256]` write `tile().cast::<f32>().add(i).read()`, and to write it \
            `tile().cast::<f32>().add(i).write(value)`"
)]
pub trait IndexOfShared {}

impl<T, const N: usize, I: IndexOfShared> Index<I> for SharedPtr<[T; N]> {
    type Output = T;

    fn index(&self, _: I) -> &T {
        unreachable!("nothing is an index of shared memory")
    }
}
