//! `st.async`, `red.async` and `cp.reduce.async.bulk` on a CPU: what they change, and what the barrier is told.

use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::functions::Tried;

/// A value and its barrier, in a block of their own.
#[repr(C, align(16))]
struct There([u8; 16], Mbarrier);

/// Lets something change the value, and its barrier complete by the bytes of a `T`; gives what is there then.
fn changed<T: Copy>(
    old: T,
    value: T,
    later: impl FnOnce(SharedClusterPtr<T>, T, SharedClusterPtr<Mbarrier>),
) -> [u8; 16] {
    let mut there = There([0xee; 16], Mbarrier::default());
    let p = (&raw mut there.0).cast::<T>();
    let own = SharedPtr::new(&raw mut there.1);
    // SAFETY: both are memory of this function.
    unsafe {
        p.write(old);
        mbarrier_init(own, 1);
        let state = mbarrier_arrive_expect_tx(own, size_of::<T>() as u32);
        assert!(!mbarrier_test_wait(own, state));
        later(SharedClusterPtr::new(p), value, SharedClusterPtr::of(own));
        assert!(mbarrier_test_wait(own, state));
    }
    there.0
}

/// What is there where a value is, and nothing else was changed.
fn bytes<T: Copy>(value: T) -> [u8; 16] {
    let mut all = [0xee; 16];
    // SAFETY: a value of 16 bytes at most, at the beginning.
    unsafe { all.as_mut_ptr().cast::<T>().write_unaligned(value) };
    all
}

#[test]
fn a_value_is_stored_and_its_barrier_told() {
    let mut tried = Tried::default();
    macro_rules! stored {
        ($($t:ty, $old:expr, $new:expr;)*) => { $(
            let store = form!(tried |dst: SharedClusterPtr<$t>, value: $t, bar: SharedClusterPtr<Mbarrier>|
                st_async_shared_cluster(dst, value, bar));
            let new: $t = $new;
            assert_eq!(changed::<$t>($old, new, store), bytes(new));
        )* };
    }
    stored! {
        B32, B32(1), B32(0x1234_5678); u32, 1, 0x1234_5678; i32, 1, -7; f32, 1.0, -2.5;
        B64, B64(1), B64(1 << 40); u64, 1, 1 << 40; i64, 1, -7; f64, 1.0, -2.5;
        V2<B32>, V2::default(), V2::new([B32(3), B32(4)]); V2<u32>, V2::default(), V2::new([3, 4]);
        V2<i32>, V2::default(), V2::new([-3, 4]); V2<f32>, V2::default(), V2::new([0.5, 4.0]);
        V2<B64>, V2::default(), V2::new([B64(3), B64(4)]); V2<u64>, V2::default(), V2::new([3, 4]);
        V2<i64>, V2::default(), V2::new([-3, 4]); V2<f64>, V2::default(), V2::new([0.5, 4.0]);
        V4<B32>, V4::default(), V4::new([1, 2, 3, 4].map(B32)); V4<u32>, V4::default(), V4::new([1, 2, 3, 4]);
        V4<i32>, V4::default(), V4::new([-1, 2, -3, 4]); V4<f32>, V4::default(), V4::new([0.5, 1.0, 2.0, 4.0]);
    }
    macro_rules! released {
        ($($t:ty, $new:expr;)*) => { $({
            let stores: [fn(*mut $t, $t); 10] = [
                form!(tried |p: *mut $t, value: $t| st_async_release::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| st_async_release::<Sys, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| st_async_release_global::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| st_async_release_global::<Sys, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| st_async_mmio_release_sys(p, value)),
                form!(tried |p: *mut $t, value: $t| st_async_mmio_release_sys_global(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_st_async_release::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_st_async_release::<Sys, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_st_async_release_global::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_st_async_release_global::<Sys, _>(p, value)),
            ];
            for store in stores {
                let mut memory = There([0xee; 16], Mbarrier::default());
                store((&raw mut memory.0).cast(), $new);
                assert_eq!(memory.0, bytes::<$t>($new));
            }
        })* };
    }
    released! {
        B8, B8(0x12); u8, 0x12; i8, -7;
        B16, B16(0x1234); u16, 0x1234; i16, -7; B32, B32(5); u32, 5; i32, -7; f32, 2.5;
        B64, B64(1 << 40); u64, 1 << 40; i64, -7; f64, 2.5;
    }
    tried.is_all_of(&["st.async", "multimem.st.async"]);
}

#[test]
fn a_value_is_changed_and_its_barrier_told() {
    let mut tried = Tried::default();
    macro_rules! reduced {
        ($($t:ty: $function:ident $($old:expr, $value:expr => $new:expr),*;)*) => { $(
            let reduce = form!(tried |dst: SharedClusterPtr<$t>, value: $t, bar: SharedClusterPtr<Mbarrier>|
                $function(dst, value, bar));
            $(assert_eq!(changed::<$t>($old, $value, reduce), bytes::<$t>($new), stringify!($function));)*
        )* };
    }
    reduced! {
        u32: red_async_shared_cluster_inc 6, 7 => 7, 7, 7 => 0, 9, 7 => 0;
        u32: red_async_shared_cluster_dec 6, 7 => 5, 0, 7 => 7, 9, 7 => 7;
        u32: red_async_shared_cluster_min 1 << 31, 7 => 7, 6, 7 => 6;
        i32: red_async_shared_cluster_min i32::MIN, 7 => i32::MIN, 6, -7 => -7;
        u32: red_async_shared_cluster_max 1 << 31, 7 => 1 << 31, 6, 7 => 7;
        i32: red_async_shared_cluster_max i32::MIN, 7 => 7, 6, -7 => 6;
        B32: red_async_shared_cluster_and B32(0b1100), B32(0b1010) => B32(0b1000);
        B32: red_async_shared_cluster_or B32(0b1100), B32(0b1010) => B32(0b1110);
        B32: red_async_shared_cluster_xor B32(0b1100), B32(0b1010) => B32(0b0110);
        u32: red_async_shared_cluster_add u32::MAX, 7 => 6;
        i32: red_async_shared_cluster_add 6, -7 => -1;
        u64: red_async_shared_cluster_add u64::MAX, 1 << 40 => (1 << 40) - 1;
    }
    macro_rules! added {
        ($($t:ty, $old:expr, $value:expr => $new:expr;)*) => { $({
            let adds: [fn(*mut $t, $t); 6] = [
                form!(tried |p: *mut $t, value: $t| red_async_release_add::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| red_async_release_add::<Sys, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| red_async_release_global_add::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| red_async_release_global_add::<Sys, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| red_async_mmio_release_sys_add(p, value)),
                form!(tried |p: *mut $t, value: $t| red_async_mmio_release_sys_global_add(p, value)),
            ];
            for add in adds {
                let mut memory: $t = $old;
                add(&raw mut memory, $value);
                assert_eq!(memory, $new);
            }
        })* };
    }
    added! { u32, u32::MAX, 7 => 6; i32, 6, -7 => -1; u64, 1 << 40, 1 => (1 << 40) + 1; i64, 6, -7 => -1; }
    macro_rules! added_to_copies {
        ($($t:ty, $old:expr, $value:expr => $new:expr;)*) => { $({
            let adds: [fn(*mut $t, $t); 4] = [
                form!(tried |p: *mut $t, value: $t| multimem_red_async_release_add::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_red_async_release_add::<Sys, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_red_async_release_global_add::<Gpu, _>(p, value)),
                form!(tried |p: *mut $t, value: $t| multimem_red_async_release_global_add::<Sys, _>(p, value)),
            ];
            for add in adds {
                let mut memory: $t = $old;
                add(&raw mut memory, $value);
                assert_eq!(memory, $new);
            }
        })* };
    }
    added_to_copies! { u32, u32::MAX, 7 => 6; i32, 6, -7 => -1; u64, 1 << 40, 1 => (1 << 40) + 1; }
    tried.is_all_of(&["red.async", "multimem.red.async"]);
}

/// Two lines of values, each aligned as a bulk copy wants it.
#[repr(C, align(16))]
struct Values([u8; 32], [u8; 32], Mbarrier);

/// Lets something change 32 bytes of `old`, each by `value`, and gives what is there then. `tells` is whether a barrier is told.
fn reduced<T: Copy>(
    old: T,
    value: T,
    tells: bool,
    reduce: impl FnOnce(*mut T, SharedPtr<T>, SharedPtr<Mbarrier>),
) -> Vec<T> {
    let mut memory = Values([0; 32], [0; 32], Mbarrier::default());
    let (dst, src) = ((&raw mut memory.0).cast::<T>(), (&raw mut memory.1).cast::<T>());
    let bar = SharedPtr::new(&raw mut memory.2);
    let count = 32 / size_of::<T>();
    // SAFETY: all are memory of this function.
    unsafe {
        for at in 0..count {
            dst.add(at).write(old);
            src.add(at).write(value);
        }
        mbarrier_init(bar, 1);
        let state = mbarrier_arrive_expect_tx(bar, if tells { 32 } else { 0 });
        reduce(dst, SharedPtr::new(src), bar);
        assert!(mbarrier_test_wait(bar, state));
        (0..count).map(|at| dst.add(at).read()).collect()
    }
}

#[test]
fn many_values_are_changed() {
    let mut tried = Tried::default();
    macro_rules! in_cluster {
        ($($t:ty: $function:ident $($old:expr, $value:expr => $new:expr),*;)*) => { $(
            let reduce = form!(tried |dst: SharedClusterPtr<$t>, src: SharedPtr<$t>, size: u32, bar: SharedClusterPtr<Mbarrier>|
                $function(dst, src, size, bar));
            $(
                let in_cluster = |dst, src, bar| reduce(SharedClusterPtr::new(dst), src, 32, SharedClusterPtr::of(bar));
                let found = reduced::<$t>($old, $value, true, in_cluster);
                assert!(found.iter().all(|found| *found == $new), "{} {found:?}", stringify!($function));
            )*
        )* };
    }
    in_cluster! {
        u32: cp_reduce_async_bulk_shared_cluster_shared_inc 6, 7 => 7, 7, 7 => 0, 9, 7 => 0;
        u32: cp_reduce_async_bulk_shared_cluster_shared_dec 6, 7 => 5, 0, 7 => 7, 9, 7 => 7;
        u32: cp_reduce_async_bulk_shared_cluster_shared_min 1 << 31, 7 => 7, 6, 7 => 6;
        i32: cp_reduce_async_bulk_shared_cluster_shared_min i32::MIN, 7 => i32::MIN, 6, -7 => -7;
        u32: cp_reduce_async_bulk_shared_cluster_shared_max 1 << 31, 7 => 1 << 31, 6, 7 => 7;
        i32: cp_reduce_async_bulk_shared_cluster_shared_max i32::MIN, 7 => 7, 6, -7 => 6;
        B32: cp_reduce_async_bulk_shared_cluster_shared_and B32(0b1100), B32(0b1010) => B32(0b1000);
        B32: cp_reduce_async_bulk_shared_cluster_shared_or B32(0b1100), B32(0b1010) => B32(0b1110);
        B32: cp_reduce_async_bulk_shared_cluster_shared_xor B32(0b1100), B32(0b1010) => B32(0b0110);
        u32: cp_reduce_async_bulk_shared_cluster_shared_add u32::MAX, 7 => 6;
        i32: cp_reduce_async_bulk_shared_cluster_shared_add 6, -7 => -1;
        u64: cp_reduce_async_bulk_shared_cluster_shared_add u64::MAX, 1 << 40 => (1 << 40) - 1;
    }
    macro_rules! in_global {
        ($($t:ty: $function:ident $with:ident $($old:expr, $value:expr => $new:expr),*;)*) => { $(
            let reduce = form!(tried |dst: *mut $t, src: SharedPtr<$t>, size: u32| $function(dst, src, size));
            let with = form!(tried |dst: *mut $t, src: SharedPtr<$t>, size: u32, policy: CachePolicy|
                $with(dst, src, size, policy));
            $(
                let found = reduced::<$t>($old, $value, false, |dst, src, _| reduce(dst, src, 32));
                assert!(found.iter().all(|found| *found == $new), "{} {found:?}", stringify!($function));
                // The last 16 bytes stay.
                let found = reduced::<$t>($old, $value, false, |dst, src, _| with(dst, src, 16, CachePolicy::EVICT_LAST));
                let half = found.len() / 2;
                assert!(found[..half].iter().all(|found| *found == $new), "{} {found:?}", stringify!($with));
                assert!(found[half..].iter().all(|found| *found == $old), "{} {found:?}", stringify!($with));
            )*
        )* };
    }
    in_global! {
        u32: cp_reduce_async_bulk_global_shared_inc cp_reduce_async_bulk_global_shared_inc_with 6, 7 => 7, 7, 7 => 0;
        u32: cp_reduce_async_bulk_global_shared_dec cp_reduce_async_bulk_global_shared_dec_with 6, 7 => 5, 0, 7 => 7;
        u32: cp_reduce_async_bulk_global_shared_min cp_reduce_async_bulk_global_shared_min_with 1 << 31, 7 => 7;
        i32: cp_reduce_async_bulk_global_shared_min cp_reduce_async_bulk_global_shared_min_with i32::MIN, 7 => i32::MIN;
        u64: cp_reduce_async_bulk_global_shared_min cp_reduce_async_bulk_global_shared_min_with 1 << 63, 7 => 7;
        i64: cp_reduce_async_bulk_global_shared_min cp_reduce_async_bulk_global_shared_min_with i64::MIN, 7 => i64::MIN;
        u32: cp_reduce_async_bulk_global_shared_max cp_reduce_async_bulk_global_shared_max_with 1 << 31, 7 => 1 << 31;
        i32: cp_reduce_async_bulk_global_shared_max cp_reduce_async_bulk_global_shared_max_with i32::MIN, 7 => 7;
        u64: cp_reduce_async_bulk_global_shared_max cp_reduce_async_bulk_global_shared_max_with 1 << 63, 7 => 1 << 63;
        i64: cp_reduce_async_bulk_global_shared_max cp_reduce_async_bulk_global_shared_max_with i64::MIN, 7 => 7;
        B32: cp_reduce_async_bulk_global_shared_and cp_reduce_async_bulk_global_shared_and_with B32(12), B32(10) => B32(8);
        B64: cp_reduce_async_bulk_global_shared_and cp_reduce_async_bulk_global_shared_and_with B64(12), B64(10) => B64(8);
        B32: cp_reduce_async_bulk_global_shared_or cp_reduce_async_bulk_global_shared_or_with B32(12), B32(10) => B32(14);
        B64: cp_reduce_async_bulk_global_shared_or cp_reduce_async_bulk_global_shared_or_with B64(12), B64(10) => B64(14);
        B32: cp_reduce_async_bulk_global_shared_xor cp_reduce_async_bulk_global_shared_xor_with B32(12), B32(10) => B32(6);
        B64: cp_reduce_async_bulk_global_shared_xor cp_reduce_async_bulk_global_shared_xor_with B64(12), B64(10) => B64(6);
        u32: cp_reduce_async_bulk_global_shared_add cp_reduce_async_bulk_global_shared_add_with u32::MAX, 7 => 6;
        i32: cp_reduce_async_bulk_global_shared_add cp_reduce_async_bulk_global_shared_add_with 6, -7 => -1;
        u64: cp_reduce_async_bulk_global_shared_add cp_reduce_async_bulk_global_shared_add_with u64::MAX, 8 => 7;
        f32: cp_reduce_async_bulk_global_shared_add cp_reduce_async_bulk_global_shared_add_with 0.5, 2.0 => 2.5;
        f64: cp_reduce_async_bulk_global_shared_add cp_reduce_async_bulk_global_shared_add_with 0.5, -2.0 => -1.5;
        f32: cp_reduce_async_bulk_global_shared_add_noftz_f32 cp_reduce_async_bulk_global_shared_add_noftz_f32_with
            0.5, 2.0 => 2.5;
        // 1.0 and 2.0, of f16 and of bf16.
        B16: cp_reduce_async_bulk_global_shared_add_noftz_f16 cp_reduce_async_bulk_global_shared_add_noftz_f16_with
            B16(0x3c00), B16(0x4000) => B16(0x4200);
        B16: cp_reduce_async_bulk_global_shared_add_noftz_bf16 cp_reduce_async_bulk_global_shared_add_noftz_bf16_with
            B16(0x3f80), B16(0x4000) => B16(0x4040);
        // -1.0 is below 2.0.
        B16: cp_reduce_async_bulk_global_shared_min_f16 cp_reduce_async_bulk_global_shared_min_f16_with
            B16(0xbc00), B16(0x4000) => B16(0xbc00);
        B16: cp_reduce_async_bulk_global_shared_min_bf16 cp_reduce_async_bulk_global_shared_min_bf16_with
            B16(0xbf80), B16(0x4000) => B16(0xbf80);
        B16: cp_reduce_async_bulk_global_shared_max_f16 cp_reduce_async_bulk_global_shared_max_f16_with
            B16(0xbc00), B16(0x4000) => B16(0x4000);
        B16: cp_reduce_async_bulk_global_shared_max_bf16 cp_reduce_async_bulk_global_shared_max_bf16_with
            B16(0xbf80), B16(0x4000) => B16(0x4000);
    }
    tried.is_all_of(&["cp.reduce.async.bulk"]);
}
