//! `tensormap.replace`: change a field of a tensor map, in a kernel.

#[cfg(not(ptx_device))]
use crate::cpu::tensor::{self, Field};
use crate::isa::gate::Count;

/// The numbers that a constant of the instruction may be.
macro_rules! ranges {
    ($($(#[$doc:meta])* $range:ident $message:literal $takes:literal [$($number:literal)*];)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = "not a number that it takes", note = $takes)]
        pub trait $range {}
        $(
            #[diagnostic::do_not_recommend]
            impl $range for Count<$number> {}
        )*
    )* };
}
ranges! {
    /// A dimension of a tensor: 0 to 4, the fastest one first.
    TensorDimension "`tensormap.replace` has no dimension of the number in `{Self}`" "a tensor map has 5 dimensions: 0 to 4" [0 1 2 3 4];
    /// A stride of a tensor: 0 to 3. The first is that of the second dimension.
    TensorStride "`tensormap.replace` has no stride of the number in `{Self}`" "a tensor map has 4 strides: 0 to 3" [0 1 2 3];
    /// A type of elements: 0 to 15.
    TensorElemtype "`tensormap.replace` has no type of the number in `{Self}`" "it takes 0 to 15" [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15];
    /// An interleave: 0 to 2.
    TensorLayout "`tensormap.replace` has no interleave of the number in `{Self}`" "it takes 0 to 2" [0 1 2];
    /// A swizzle, or what it moves: 0 to 3.
    TensorSwizzle "`tensormap.replace` has no swizzle of the number in `{Self}`" "it takes 0 to 3" [0 1 2 3];
    /// What is outside of a tensor: 0 or 1.
    TensorFill "`tensormap.replace` has no fill of the number in `{Self}`" "it takes 0 and 1" [0 1];
}

/// What the caller promises.
macro_rules! promise {
    ($map:literal) => {
        concat!(
            "`map` ",
            $map,
            " to a tensor map, 128 bytes aligned to 64, that is readable and writable, and that no other thread accesses at the same \
            time. Before a copy uses it, `fence.proxy.tensormap::generic` orders the change. The new value is one that the driver would \
            take."
        )
    };
}

/// A field: the functions for a generic address, global memory and shared memory, each written by itself.
macro_rules! replace {
    ({ $then:ident $what:tt } [$field:tt: $generic:tt, $global:tt, $shared:tt]) => {
        each! { $then replace [
            { { $then $what } [generic $field $generic] }
            { { $then $what } [global $field $global] }
            { { $then $what } [shared $field $shared] }
        ] }
    };
    ($state:tt [generic { $(#[$doc:meta])* $field:ident <$($number:ident in $range:ident)?> ($($new:ident: $($of:tt)*)?) $gate:ident }
        ($name:ident $ptx:literal)]) => {
        gather! { @add $state
            $(#[$doc])*
            ///
            /// The map is at a generic address, in global memory or in this block's shared memory.
            #[doc(alias = "tensormap.replace")]
            unsafe fn $name<$(const $number in $range,)? T>(map: *mut T as reg64 $(, $new: $($of)*)?) {
                ptx: $ptx, [map] $(, $number)? $(, $new)?;
                needs: $gate;
                safety: promise!("points");
                cpu: replaced!(map.cast() => $field [$($number)?] [$($new)?]);
            }
        }
    };
    ($state:tt [global { $(#[$doc:meta])* $field:ident <$($number:ident in $range:ident)?> ($($new:ident: $($of:tt)*)?) $gate:ident }
        ($name:ident $ptx:literal)]) => {
        gather! { @add $state
            $(#[$doc])*
            ///
            /// The map is in global memory.
            unsafe fn $name<$(const $number in $range,)? T>(map: *mut T as reg64 $(, $new: $($of)*)?) {
                ptx: $ptx, [map] $(, $number)? $(, $new)?;
                needs: $gate;
                safety: promise!("is a generic address in global memory. It points");
                cpu: replaced!(map.cast() => $field [$($number)?] [$($new)?]);
            }
        }
    };
    ($state:tt [shared { $(#[$doc:meta])* $field:ident <$($number:ident in $range:ident)?> ($($new:ident: $($of:tt)*)?) $gate:ident }
        ($name:ident $ptx:literal)]) => {
        gather! { @add $state
            $(#[$doc])*
            ///
            /// The map is in this block's shared memory.
            unsafe fn $name<$(const $number in $range,)? T>(map: SharedPtr<T> as shared $(, $new: $($of)*)?) {
                ptx: $ptx, [map] $(, $number)? $(, $new)?;
                needs: $gate;
                safety: promise!("points");
                cpu: replaced!(map.address().cast() => $field [$($number)?] [$($new)?]);
            }
        }
    };
}

/// What a CPU does: the constant is a place, or the new value where there is no other.
#[cfg(not(ptx_device))]
macro_rules! replaced {
    ($map:expr => GlobalAddress [] [$new:ident]) => {
        tensor::replace($map, Field::GlobalAddress, 0, $new.expose_provenance() as u64)
    };
    ($map:expr => $field:ident [$number:ident] []) => {
        tensor::replace($map, Field::$field, 0, $number.into())
    };
    ($map:expr => $field:ident [] [$new:ident]) => {
        tensor::replace($map, Field::$field, 0, $new.into())
    };
    ($map:expr => $field:ident [$number:ident] [$new:ident]) => {
        tensor::replace($map, Field::$field, $number, $new.into())
    };
}

gather! { FIELDS:
    instruction "tensormap.replace", isa "data-movement-and-conversion-instructions-tensormap-replace", effect message, T = u8 {
        replace! [{
            /// Makes `address`, in global memory, the place where the tensor begins.
            ///
            /// ```
            /// use ptx_intrinsics::cp_async_bulk::*;
            /// # use ptx_intrinsics::on_cpu::tensor::TensorMap;
            /// # #[repr(align(64))]
            /// # struct Map([u8; 128]);
            /// # let described = TensorMap { rank: 1, element: 2, sizes: [8, 0, 0, 0, 0], tile: [4, 0, 0, 0, 0], steps: [1; 5], ..TensorMap::default() };
            /// # let mut map = Map(described.encode());
            /// let mut elements = [0u32; 8];
            /// // tensormap.replace.tile.global_address.global.b1024.b64 [map], elements;
            /// unsafe { tensormap_replace_global_address_global(&raw mut map, elements.as_mut_ptr()) };
            /// # assert_eq!(TensorMap::decode(&map.0).unwrap().address, elements.as_ptr().addr() as u64);
            /// ```
            #[doc(alias = "tensormap.replace.tile.global_address")]
            GlobalAddress<>(address: *mut u32 as reg64) TensorMapChanges
        }:
            (tensormap_replace_global_address "tensormap.replace.tile.global_address.b1024.b64"),
            (tensormap_replace_global_address_global "tensormap.replace.tile.global_address.global.b1024.b64"),
            (tensormap_replace_global_address_shared "tensormap.replace.tile.global_address.shared::cta.b1024.b64")]
        replace! [{
            /// Makes the number of dimensions one more than `rank_less_one`.
            #[doc(alias = "tensormap.replace.tile.rank")]
            Rank<>(rank_less_one: u32 as reg32) TensorMapChanges
        }:
            (tensormap_replace_rank "tensormap.replace.tile.rank.b1024.b32"),
            (tensormap_replace_rank_global "tensormap.replace.tile.rank.global.b1024.b32"),
            (tensormap_replace_rank_shared "tensormap.replace.tile.rank.shared::cta.b1024.b32")]
        replace! [{
            /// Makes `elements` the size of the box in dimension `N`, 0 to 4.
            #[doc(alias = "tensormap.replace.tile.box_dim")]
            BoxDim<N in TensorDimension>(elements: u32 as reg32) TensorMapChanges
        }:
            (tensormap_replace_box_dim "tensormap.replace.tile.box_dim.b1024.b32"),
            (tensormap_replace_box_dim_global "tensormap.replace.tile.box_dim.global.b1024.b32"),
            (tensormap_replace_box_dim_shared "tensormap.replace.tile.box_dim.shared::cta.b1024.b32")]
        replace! [{
            /// Makes `elements` the size of the tensor in dimension `N`, 0 to 4.
            #[doc(alias = "tensormap.replace.tile.global_dim")]
            GlobalDim<N in TensorDimension>(elements: u32 as reg32) TensorMapChanges
        }:
            (tensormap_replace_global_dim "tensormap.replace.tile.global_dim.b1024.b32"),
            (tensormap_replace_global_dim_global "tensormap.replace.tile.global_dim.global.b1024.b32"),
            (tensormap_replace_global_dim_shared "tensormap.replace.tile.global_dim.shared::cta.b1024.b32")]
        replace! [{
            /// Makes `bytes`, a multiple of 16, the stride of dimension `N + 1`; `N` is 0 to 3.
            #[doc(alias = "tensormap.replace.tile.global_stride")]
            GlobalStride<N in TensorStride>(bytes: u64 as reg64) TensorMapChanges
        }:
            (tensormap_replace_global_stride "tensormap.replace.tile.global_stride.b1024.b64"),
            (tensormap_replace_global_stride_global "tensormap.replace.tile.global_stride.global.b1024.b64"),
            (tensormap_replace_global_stride_shared "tensormap.replace.tile.global_stride.shared::cta.b1024.b64")]
        replace! [{
            /// Makes every `step`-th element of dimension `N`, 0 to 4, one that is copied.
            #[doc(alias = "tensormap.replace.tile.element_stride")]
            ElementStride<N in TensorDimension>(step: u32 as reg32) TensorMapChanges
        }:
            (tensormap_replace_element_stride "tensormap.replace.tile.element_stride.b1024.b32"),
            (tensormap_replace_element_stride_global "tensormap.replace.tile.element_stride.global.b1024.b32"),
            (tensormap_replace_element_stride_shared "tensormap.replace.tile.element_stride.shared::cta.b1024.b32")]
        replace! [{
            /// Changes the type of the elements. `N` is 0 `u8`, 1 `u16`, 2 `u32`, 3 `s32`, 4 `u64`, 5 `s64`, 6 `f16`, 7 `f32`, 8 `f32` that
            /// flushes subnormal numbers, 9 `f64`, 10 `bf16`, 11 `tf32`, 12 `tf32` that flushes; from sm_100f on 13 `b4x16`, 14 `b4x16_p64`, 15
            /// `b6x16_p32`.
            #[doc(alias = "tensormap.replace.tile.elemtype")]
            Elemtype<N in TensorElemtype>() TensorMapChanges
        }:
            (tensormap_replace_elemtype "tensormap.replace.tile.elemtype.b1024.b32"),
            (tensormap_replace_elemtype_global "tensormap.replace.tile.elemtype.global.b1024.b32"),
            (tensormap_replace_elemtype_shared "tensormap.replace.tile.elemtype.shared::cta.b1024.b32")]
        replace! [{
            /// Changes the interleave. `LAYOUT` is 0 for none, 1 for 16 bytes, 2 for 32 bytes.
            #[doc(alias = "tensormap.replace.tile.interleave_layout")]
            InterleaveLayout<LAYOUT in TensorLayout>() TensorMapChanges
        }:
            (tensormap_replace_interleave_layout "tensormap.replace.tile.interleave_layout.b1024.b32"),
            (tensormap_replace_interleave_layout_global "tensormap.replace.tile.interleave_layout.global.b1024.b32"),
            (tensormap_replace_interleave_layout_shared "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32")]
        replace! [{
            /// Changes the swizzle. `N` is 0 for none, 1 for 32 bytes, 2 for 64 bytes, 3 for 128 bytes.
            #[doc(alias = "tensormap.replace.tile.swizzle_mode")]
            SwizzleMode<N in TensorSwizzle>() TensorMapChanges
        }:
            (tensormap_replace_swizzle_mode "tensormap.replace.tile.swizzle_mode.b1024.b32"),
            (tensormap_replace_swizzle_mode_global "tensormap.replace.tile.swizzle_mode.global.b1024.b32"),
            (tensormap_replace_swizzle_mode_shared "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32")]
        replace! [{
            /// Changes what a copy writes for elements outside of the tensor. `FILL` is 0 for zeros, 1 for NaN.
            #[doc(alias = "tensormap.replace.tile.fill_mode")]
            FillMode<FILL in TensorFill>() TensorMapChanges
        }:
            (tensormap_replace_fill_mode "tensormap.replace.tile.fill_mode.b1024.b32"),
            (tensormap_replace_fill_mode_global "tensormap.replace.tile.fill_mode.global.b1024.b32"),
            (tensormap_replace_fill_mode_shared "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32")]
        replace! [{
            /// Changes what a swizzle of 128 bytes moves. `N` is 0 for 16 bytes, 1 for 32 bytes, 2 for 32 bytes with flipped halves, 3 for 64
            /// bytes.
            #[doc(alias = "tensormap.replace.tile.swizzle_atomicity")]
            SwizzleAtomicity<N in TensorSwizzle>() TensorMapAtomicity
        }:
            (tensormap_replace_swizzle_atomicity "tensormap.replace.tile.swizzle_atomicity.b1024.b32"),
            (tensormap_replace_swizzle_atomicity_global "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32"),
            (tensormap_replace_swizzle_atomicity_shared "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32")]
    }
}
