//! Copies on a CPU: what they copy, fill and ignore, and what they tell a barrier.

use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::Memory;
use crate::barriers::{pending, with_barrier};
use crate::functions::{Tried, panic_of};

const POLICY: CachePolicy = CachePolicy::EVICT_LAST;

#[test]
fn a_copy_copies_fills_or_ignores() {
    let mut tried = Tried::default();
    let from = Memory::numbered();
    /// Copies to the second line, and gives what is there then.
    fn copied(size: usize, copy: impl FnOnce(*mut u8)) -> Vec<u8> {
        let mut to = Box::new(Memory([0x5a; 2048]));
        copy((&raw mut to.0).wrapping_byte_add(128).cast());
        assert_eq!(to.0[..128], [0x5a; 128], "bytes before are as they were");
        assert_eq!(to.0[128 + size..], [0x5a; 2048][128 + size..], "bytes after it are as they were");
        to.0[128..128 + size].to_vec()
    }
    macro_rules! copies {
        ($($function:ident $t:ty;)*) => { $(copies! { @sizes $function $t, NoPrefetch Prefetch64 Prefetch128 Prefetch256 })* };
        (@sizes $function:ident $t:ty, $($size:ident)*) => { $(copies! { @each $function $t, $size })* };
        (@each $function:ident $t:ty, $size:ident) => {{
            let copy = form!(tried |dst: SharedPtr<$t>, src: *const $t| $function::<$size>().copy(dst, src));
            let copy_with = form!(tried |dst: SharedPtr<$t>, src: *const $t, policy: CachePolicy|
                $function::<$size>().copy_with(dst, src, policy));
            let zfill = form!(tried |dst: SharedPtr<$t>, src: *const $t, src_size: u32|
                $function::<$size>().copy_zfill(dst, src, src_size));
            let zfill_with = form!(tried |dst: SharedPtr<$t>, src: *const $t, src_size: u32, policy: CachePolicy|
                $function::<$size>().copy_zfill_with(dst, src, src_size, policy));
            let unless = form!(tried |ignore: bool, dst: SharedPtr<$t>, src: *const $t|
                $function::<$size>().copy_unless(ignore, dst, src));
            let unless_with = form!(tried |ignore: bool, dst: SharedPtr<$t>, src: *const $t, policy: CachePolicy|
                $function::<$size>().copy_unless_with(ignore, dst, src, policy));
            let (bytes, src) = (size_of::<$t>(), (&raw const from.0).wrapping_byte_add(64).cast::<$t>());
            let (all, nowhere) = (from.0[64..64 + bytes].to_vec(), std::ptr::null::<$t>());
            let to = |p: *mut u8| SharedPtr::new(p.cast::<$t>());
            assert_eq!(copied(bytes, |p| copy(to(p), src)), all);
            assert_eq!(copied(bytes, |p| copy_with(to(p), src, POLICY)), all);
            for kept in (0..=bytes).step_by(if cfg!(miri) { 3 } else { 1 }) {
                let mut some = all[..kept].to_vec();
                some.resize(bytes, 0);
                assert_eq!(copied(bytes, |p| zfill(to(p), src, kept as u32)), some);
                assert_eq!(copied(bytes, |p| zfill_with(to(p), src, kept as u32, POLICY)), some);
            }
            assert_eq!(copied(bytes, |p| unless(false, to(p), src)), all);
            assert_eq!(copied(bytes, |p| unless_with(false, to(p), src, POLICY)), all);
            assert_eq!(copied(bytes, |p| unless(true, to(p), nowhere)), vec![0; bytes]);
            assert_eq!(copied(bytes, |p| unless_with(true, to(p), nowhere, POLICY)), vec![0; bytes]);
        }};
    }
    copies! { cp_async_ca u32; cp_async_ca u64; cp_async_ca V4<u32>; cp_async_cg V4<u32>; }
    form!(tried || cp_async_commit_group())();
    form!(tried || cp_async_wait_group::<3>())();
    form!(tried || cp_async_wait_all())();
    with_barrier(2, |bar, _| {
        form!(tried |bar: SharedPtr<Mbarrier>| cp_async_mbarrier_arrive(bar))(bar);
        assert_eq!(pending(bar), 2);
        form!(tried |bar: SharedPtr<Mbarrier>| cp_async_mbarrier_arrive_noinc(bar))(bar);
        assert_eq!(pending(bar), 1);
    });
    tried.is_all_of(&[
        "cp.async",
        "cp.async.commit_group",
        "cp.async.wait_group",
        "cp.async.wait_all",
        "cp.async.mbarrier.arrive",
    ]);
}

#[test]
fn a_bulk_copy_copies_and_tells() {
    let mut tried = Tried::default();
    let from = Memory::numbered();
    let (bytes, fill) = (512u32, 0x5au8);
    /// What a copy of 512 bytes leaves after 128 bytes.
    fn copied(copy: impl FnOnce(*mut u32)) -> Vec<u8> {
        let mut to = Box::new(Memory([0x5a; 2048]));
        copy((&raw mut to.0).wrapping_byte_add(128).cast());
        assert_eq!(to.0[..128], [0x5a; 128], "bytes before are as they were");
        assert_eq!(to.0[640..], [0x5a; 1408], "bytes after it are as they were");
        to.0[128..640].to_vec()
    }
    let src: *const u32 = (&raw const from.0).wrapping_byte_add(256).cast();
    let all = from.0[256..768].to_vec();
    let shared_src = || SharedPtr::new(src.cast_mut());
    // Each tells the barrier exactly its bytes: it lacked them, and nothing else.
    let telling = |copy: &dyn Fn(*mut u32, SharedPtr<Mbarrier>, SharedClusterPtr<Mbarrier>)| {
        with_barrier(1, |bar, cluster| {
            // SAFETY: nobody else uses the barrier.
            let state = unsafe { mbarrier_arrive_expect_tx(bar, bytes + 16) };
            let there = copied(|to| copy(to, bar, cluster));
            // SAFETY: as above.
            unsafe {
                mbarrier_complete_tx(bar, 15);
                assert!(!mbarrier_test_wait(bar, state));
                mbarrier_complete_tx(bar, 1);
                assert!(mbarrier_test_wait(bar, state));
            }
            there
        })
    };
    macro_rules! telling {
        (|$to:ident, $bar:ident| $call:expr) => {
            assert_eq!(telling(&|$to, $bar, _| $call), all);
        };
        (|$to:ident| $cluster:ident => $call:expr) => {
            assert_eq!(telling(&|$to, _, $cluster| $call), all);
        };
    }
    let in_cluster = |to: *mut u32| SharedClusterPtr::of(SharedPtr::new(to));
    let to_cluster = form!(tried |dst: SharedClusterPtr<u32>, src: *const u32, size: u32, bar: SharedClusterPtr<Mbarrier>|
        cp_async_bulk_shared_cluster_global(dst, src, size, bar));
    telling!(|to| bar => to_cluster(in_cluster(to), src, bytes, bar));
    let to_cluster = form!(tried |dst: SharedClusterPtr<u32>, src: *const u32, size: u32, bar: SharedClusterPtr<Mbarrier>, policy: CachePolicy|
        cp_async_bulk_shared_cluster_global_with(dst, src, size, bar, policy));
    telling!(|to| bar => to_cluster(in_cluster(to), src, bytes, bar, POLICY));
    let to_shared = form!(tried |dst: SharedPtr<u32>, src: *const u32, size: u32, bar: SharedPtr<Mbarrier>|
        cp_async_bulk_shared_global(dst, src, size, bar));
    telling!(|to, bar| to_shared(SharedPtr::new(to), src, bytes, bar));
    let to_shared = form!(tried |dst: SharedPtr<u32>, src: *const u32, size: u32, bar: SharedPtr<Mbarrier>, policy: CachePolicy|
        cp_async_bulk_shared_global_with(dst, src, size, bar, policy));
    telling!(|to, bar| to_shared(SharedPtr::new(to), src, bytes, bar, POLICY));
    let between = form!(tried |dst: SharedClusterPtr<u32>, src: SharedPtr<u32>, size: u32, bar: SharedClusterPtr<Mbarrier>|
        cp_async_bulk_shared_cluster_shared(dst, src, size, bar));
    telling!(|to| bar => between(in_cluster(to), shared_src(), bytes, bar));
    let part = form!(tried |dst: SharedPtr<u32>, src: *const u32, size: u32, left: u32, right: u32, bar: SharedPtr<Mbarrier>|
        cp_async_bulk_shared_global_ignore_oob(dst, src, size, left, right, bar));
    let part_with = form!(tried |dst: SharedPtr<u32>, src: *const u32, size: u32, left: u32, right: u32, bar: SharedPtr<Mbarrier>, policy: CachePolicy|
        cp_async_bulk_shared_global_ignore_oob_with(dst, src, size, left, right, bar, policy));
    for (left, right) in [(0, 0), (15, 0), (0, 15), (3, 9)] {
        let expected: Vec<u8> =
            (0..512).map(|at| if (left..512 - right).contains(&at) { all[at] } else { 0xd5 }).collect();
        let (l, r) = (left as u32, right as u32);
        assert_eq!(telling(&|to, bar, _| part(SharedPtr::new(to), src, bytes, l, r, bar)), expected);
        assert_eq!(telling(&|to, bar, _| part_with(SharedPtr::new(to), src, bytes, l, r, bar, POLICY)), expected);
    }
    let out = form!(tried |dst: *mut u32, src: SharedPtr<u32>, size: u32| cp_async_bulk_global_shared(dst, src, size));
    assert_eq!(copied(|to| out(to, shared_src(), bytes)), all);
    let out = form!(tried |dst: *mut u32, src: SharedPtr<u32>, size: u32, policy: CachePolicy|
        cp_async_bulk_global_shared_with(dst, src, size, policy));
    assert_eq!(copied(|to| out(to, shared_src(), bytes, POLICY)), all);
    let masked = form!(tried |dst: *mut u32, src: SharedPtr<u32>, size: u32, mask: u16|
        cp_async_bulk_global_shared_cp_mask(dst, src, size, mask));
    let masked_with = form!(tried |dst: *mut u32, src: SharedPtr<u32>, size: u32, mask: u16, policy: CachePolicy|
        cp_async_bulk_global_shared_cp_mask_with(dst, src, size, mask, policy));
    for mask in [0, 1, 0x8000, 0x1234, 0xffff] {
        let expected: Vec<u8> = (0..512).map(|at| if mask >> (at % 16) & 1 == 1 { all[at] } else { fill }).collect();
        assert_eq!(copied(|to| masked(to, shared_src(), bytes, mask)), expected);
        assert_eq!(copied(|to| masked_with(to, shared_src(), bytes, mask, POLICY)), expected);
    }
    let nowhere = std::ptr::null::<u32>();
    form!(tried |src: *const u32, size: u32| cp_async_bulk_prefetch_l2(src, size))(nowhere, bytes);
    form!(tried |src: *const u32, size: u32, policy: CachePolicy| cp_async_bulk_prefetch_l2_with(src, size, policy))(
        nowhere, bytes, POLICY,
    );
    form!(tried || cp_async_bulk_commit_group())();
    form!(tried || cp_async_bulk_wait_group::<3>())();
    form!(tried || cp_async_bulk_wait_group_read::<3>())();
    let cast = form!(tried |dst: SharedClusterPtr<u32>, src: *const u32, size: u32, bar: SharedClusterPtr<Mbarrier>, mask: u16|
        cp_async_bulk_shared_cluster_global_multicast(dst, src, size, bar, mask));
    let cast_with = form!(tried |dst: SharedClusterPtr<u32>, src: *const u32, size: u32, bar: SharedClusterPtr<Mbarrier>, mask: u16, policy: CachePolicy|
        cp_async_bulk_shared_cluster_global_multicast_with(dst, src, size, bar, mask, policy));
    let dst = in_cluster(std::ptr::null_mut());
    let panics = with_barrier(1, |_, bar| {
        [
            panic_of(|| cast(dst, nowhere, bytes, bar, 0b110)),
            panic_of(|| cast_with(dst, nowhere, bytes, bar, 0b110, POLICY)),
        ]
    });
    assert_eq!(panics, ["a CPU cannot copy to the blocks 0b110 of a cluster: it knows of none"; 2]);
    tried.is_all_of(&["cp.async.bulk"]);
}

#[test]
fn what_a_copy_cannot_do_is_a_panic() {
    let from = Memory::numbered();
    let mut to = Memory::numbered();
    let (src, dst) = ((&raw const from.0).cast::<u32>(), (&raw mut to.0).cast::<u32>());
    let shared = SharedPtr::new(dst);
    // SAFETY: both are memory of this function; what is wrong is what this test is about.
    unsafe {
        let quads = (shared.cast::<V4<u32>>(), src.cast::<V4<u32>>());
        assert_eq!(
            panic_of(|| cp_async_cg::<NoPrefetch>().copy_zfill(quads.0, quads.1, 17)),
            "`src_size` is 17, and 16 bytes are copied"
        );
        assert_eq!(
            panic_of(|| cp_async_bulk_global_shared(dst, shared, 24)),
            "24 bytes are to be copied, which is no multiple of 16"
        );
        let aligned = panic_of(|| cp_async_bulk_global_shared(dst.add(1), shared, 16));
        assert!(aligned.ends_with("is not aligned to 16 bytes"), "{aligned}");
        assert_eq!(
            panic_of(|| cp_async_bulk_global_shared_cp_mask(dst, shared, 8, 1)),
            "8 bytes are to be copied, which is no multiple of 16"
        );
        with_barrier(1, |bar, _| {
            for (left, right) in [(16, 0), (0, 16)] {
                assert_eq!(
                    panic_of(|| cp_async_bulk_shared_global_ignore_oob(shared, src, 64, left, right, bar)),
                    format!("{left} and {right} of 64 bytes cannot be ignored")
                );
            }
            assert_eq!(
                panic_of(|| cp_async_bulk_shared_global_ignore_oob(shared, src, 24, 0, 0, bar)),
                "24 bytes are to be copied, which is no multiple of 16"
            );
        });
    }
}

#[test]
fn a_box_of_a_tensor_is_not_touched() {
    let mut tried = Tried::default();
    let map = std::ptr::null::<u8>();
    macro_rules! boxes {
        ($($n:literal)*; $($columns:literal $m:literal)*) => {
            $(
                form!(tried |map: *const u8, coordinates: [i32; $n]| cp_async_bulk_prefetch_tensor(map, coordinates))(map, [7; $n]);
                form!(tried |map: *const u8, coordinates: [i32; $n], policy: CachePolicy|
                    cp_async_bulk_prefetch_tensor_with(map, coordinates, policy))(map, [7; $n], POLICY);
            )*
            $(
                form!(tried |map: *const u8, coordinates: [i32; $columns], offsets: [u16; $m]|
                    cp_async_bulk_prefetch_tensor_im2col(map, coordinates, offsets))(map, [7; $columns], [1; $m]);
                form!(tried |map: *const u8, coordinates: [i32; $columns], offsets: [u16; $m], policy: CachePolicy|
                    cp_async_bulk_prefetch_tensor_im2col_with(map, coordinates, offsets, policy))(map, [7; $columns], [1; $m], POLICY);
            )*
        };
    }
    boxes! { 1 2 3 4 5; 3 1 4 2 5 3 }
    macro_rules! widths {
        ($function:ident $with:ident $($n:literal)*) => { $(
            form!(tried |map: *const u8, coordinates: [i32; $n], info: [u16; 2]| $function(map, coordinates, info))(map, [7; $n], [1; 2]);
            form!(tried |map: *const u8, coordinates: [i32; $n], info: [u16; 2], policy: CachePolicy|
                $with(map, coordinates, info, policy))(map, [7; $n], [1; 2], POLICY);
        )* };
    }
    widths! { cp_async_bulk_prefetch_tensor_im2col_w cp_async_bulk_prefetch_tensor_im2col_w_with 3 4 5 }
    widths! { cp_async_bulk_prefetch_tensor_im2col_w_128 cp_async_bulk_prefetch_tensor_im2col_w_128_with 3 4 5 }
    form!(tried |map: *const u8, coordinates: [i32; 5]| cp_async_bulk_prefetch_tensor_gather4(map, coordinates))(
        map, [7; 5],
    );
    form!(tried |map: *const u8, coordinates: [i32; 5], policy: CachePolicy|
        cp_async_bulk_prefetch_tensor_gather4_with(map, coordinates, policy))(map, [7; 5], POLICY);
    tried.is_all_of(&["cp.async.bulk.prefetch.tensor"]);
}
