//! The methods of loads and stores of global memory, and those that give an access an order.

/// The methods of a load.
macro_rules! load_methods {
    ($instruction:ident of $of:ident, $text:literal $space:literal) => {
        const _: () = {
            use $crate::emit::{access::Load, registers::same_bits};
            use $crate::instructions::bounds::GlobalElement;
            use $crate::isa::{caching::{Combines, Suits}, gate::*, policy::CachePolicy, prefetch_size::PrefetchSize};
            #[cfg(not(feature = "l2-combinations"))]
            use $crate::isa::policy::PolicyUnderCondition;

            impl<C, P> $instruction<C, P> {
                #[doc = concat!("Reads the value at `p`: `", $text, "….type d, [p];`.")]
                ///
                /// # Safety
                #[doc = $space]
                #[inline(always)]
                pub unsafe fn read<T>(self, p: *const T) -> T
                where
                    C: Suits<T>,
                    P: PrefetchSize,
                    T: GlobalElement,
                {
                    // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
                    same_bits(unsafe { <T::Ptx as Load<$of>>::load::<C, P>(p as *const T::Ptx) })
                }

                #[doc = concat!("Reads the value at `p` under a cache policy: `", $text, "….L2::cache_hint….type d, [p], policy;`.")]
                ///
                #[doc = needs!(CacheHint)]
                ///
                /// # Safety
                #[doc = $space]
                #[inline(always)]
                pub unsafe fn read_with<T>(self, p: *const T, policy: CachePolicy) -> T
                where
                    C: Suits<T> + Combines,
                    P: PrefetchSize + Combines,
                    T: GlobalElement,
                    CacheHint: OnTarget<CachePolicy, T>,
                {
                    // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
                    same_bits(unsafe { <T::Ptx as Load<$of>>::load_with::<C, P>(p as *const T::Ptx, policy) })
                }

                #[doc = concat!("Reads the value at `p` where `cond` is true, else gives `or`: `@cond ", $text, "….type d, [p];`.")]
                ///
                /// If `cond` is false, the address is not accessed and may be anything.
                ///
                /// # Safety
                /// If `cond` is true:
                #[doc = $space]
                #[inline(always)]
                pub unsafe fn read_if<T>(self, cond: bool, p: *const T, or: T) -> T
                where
                    C: Suits<T> + Combines,
                    P: PrefetchSize,
                    T: GlobalElement,
                {
                    // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
                    same_bits(unsafe { <T::Ptx as Load<$of>>::load_if::<C, P>(cond, p as *const T::Ptx, same_bits(or)) })
                }

                /// [`read_if`](Self::read_if) under a cache policy, as in [`read_with`](Self::read_with).
                /// With the cargo feature `l2-combinations`.
                ///
                #[doc = needs!(CacheHint)]
                ///
                /// # Safety
                /// If `cond` is true:
                #[doc = $space]
                #[cfg(feature = "l2-combinations")]
                #[inline(always)]
                pub unsafe fn read_if_with<T>(self, cond: bool, p: *const T, or: T, policy: CachePolicy) -> T
                where
                    C: Suits<T>,
                    P: PrefetchSize,
                    T: GlobalElement,
                    CacheHint: OnTarget<CachePolicy, T>,
                {
                    // SAFETY: the caller's promise; `Element` promises that both types are the same bits.
                    same_bits(unsafe { <T::Ptx as Load<$of>>::load_if_with::<C, P>(cond, p as *const T::Ptx, same_bits(or), policy) })
                }

                /// Says which feature is missing.
                ///
                /// # Safety
                /// It cannot be called.
                #[doc(hidden)]
                #[cfg(not(feature = "l2-combinations"))]
                pub unsafe fn read_if_with<T>(self, _: bool, _: *const T, _: T, _: CachePolicy) -> T
                where
                    C: PolicyUnderCondition,
                {
                    C::never()
                }
            }
        };
    };
}

/// The methods that give an access an order: `head` is the impl, `(Access<Space, Caching>)` what they give.
macro_rules! order_methods {
    ([$($head:tt)*] $access:tt $at:ty, $plain:tt $ordered:tt $sync:tt, not ($refused:ident: $why:ident)) => {
        const _: () = {
            use $crate::isa::{gate::OnTarget, order::*, scope::Scope};

            $($head)* {
                order_methods! { @plain $access $at, $plain }
                order_methods! { @ordered $access $ordered $sync }

                /// Says what to write instead.
                #[doc(hidden)]
                #[inline]
                pub const fn $refused<CtaClusterGpuOrSys>(self) -> Self
                where
                    Self: $why,
                {
                    self
                }
            }
        };
    };
    (@plain ($access:ident<$space:ty, $caching:ty>) $at:ty, [$($plain:tt)*]) => {
        /// This access as a volatile one: never dropped, never doubled. PTX: `.volatile`, before the space.
        ///
        #[doc = concat!(needs!(Always), " For local memory: ", needs!(VolatileLocal))]
        #[inline(always)]
        pub const fn volatile(self) -> $access<$space, Volatile, $caching>
        where
            Volatile: OrderIn<$space, Gate: OnTarget<Volatile, $at>>,
            $($plain)*
        {
            $access(PhantomData)
        }

        /// This access as one to memory-mapped registers: exactly one, of exactly this width, scalars only. PTX:
        /// `.mmio.relaxed.sys`, before the space.
        ///
        #[doc = needs!(MemoryMapped)]
        #[inline(always)]
        pub const fn mmio(self) -> $access<$space, Mmio, $caching>
        where
            Mmio: OrderIn<$space, Gate: OnTarget<Mmio, $at>>,
            $($plain)*
        {
            $access(PhantomData)
        }
    };
    (@ordered ($access:ident<$space:ty, $caching:ty>) [$($ordered:tt)*]
        ($sync:ident $method:ident $text:literal $means:literal)) => {
        /// This access as an atomic one that orders nothing: `.relaxed::<Gpu>()`. PTX: `.relaxed.scope`, before the
        /// space. A vector is atomic element by element.
        ///
        #[doc = concat!(needs!(Orders), " With the scope `Cluster`: ", needs!(Clusters))]
        #[inline(always)]
        pub const fn relaxed<CtaClusterGpuOrSys>(self) -> $access<$space, Relaxed<CtaClusterGpuOrSys>, $caching>
        where
            CtaClusterGpuOrSys: Scope<Gate: OnTarget<CtaClusterGpuOrSys>>,
            Relaxed<CtaClusterGpuOrSys>: OrderIn<$space>,
            $($ordered)*
        {
            $access(PhantomData)
        }

        #[doc = concat!("This access as an atomic one that orders others: ", $means, " PTX: `", $text, ".scope`, before the")]
        /// space. A vector is atomic element by element.
        ///
        #[doc = concat!(needs!(Orders), " With the scope `Cluster`: ", needs!(Clusters))]
        /// Types of 256 bits are refused: the assembler loses the order.
        #[inline(always)]
        pub const fn $method<CtaClusterGpuOrSys>(self) -> $access<$space, $sync<CtaClusterGpuOrSys>, $caching>
        where
            CtaClusterGpuOrSys: Scope<Gate: OnTarget<CtaClusterGpuOrSys>>,
            $sync<CtaClusterGpuOrSys>: OrderIn<$space>,
            $($ordered)*
        {
            $access(PhantomData)
        }
    };
}
