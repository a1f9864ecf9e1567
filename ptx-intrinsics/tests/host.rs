//! On a CPU every function has its plain meaning: a read is a read, a hint is only a hint.

use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_intrinsics::prelude::*;

/// Bytes that differ from one another, aligned for every type.
#[repr(align(64))]
struct Bytes([u8; 128]);

static BYTES: Bytes = {
    let mut bytes = [0; 128];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at * 7 + 1) as u8;
        at += 1;
    }
    Bytes(bytes)
};

const POLICY: CachePolicy = CachePolicy::EVICT_LAST;

static TYPES: AtomicUsize = AtomicUsize::new(0);

fn bytes_of<T>(value: T) -> Vec<u8> {
    // SAFETY: no element type has padding.
    unsafe { std::slice::from_raw_parts((&raw const value).cast(), size_of::<T>()) }.to_vec()
}

macro_rules! check {
    ($($t:ty, $align:literal;)*) => { $({
        assert_eq!(align_of::<$t>(), $align, stringify!($t));
        assert_eq!(size_of::<$t>(), $align, stringify!($t));
        let p = (&raw const BYTES).wrapping_byte_add(64).cast::<$t>();
        let here = &BYTES.0[64..64 + size_of::<$t>()];
        let nowhere = std::ptr::null::<$t>();
        // SAFETY: `p` is aligned and readable; `nowhere` is not touched.
        unsafe {
            let nc = ld_global_nc::<EvictLast, Prefetch256>();
            let weak = ld_global::<Cg, NoPrefetch>();
            let short: [unsafe fn(*const $t) -> $t; 6] = [ldg, ldca, ldcg, ldcs, ldlu, ldcv];
            assert!(short.iter().all(|load| bytes_of(load(p)) == here));
            let or = nc.read(p.byte_sub(64));
            let there = &BYTES.0[..size_of::<$t>()];
            for (found, expected) in [
                (nc.read(p), here),
                #[cfg(feature = "l2-combinations")]
                (nc.read_with(p, POLICY), here),
                (nc.read_if(true, p, or), here), (nc.read_if(false, nowhere, or), there),
                #[cfg(feature = "l2-combinations")]
                (nc.read_if_with(true, p, or, POLICY), here),
                #[cfg(feature = "l2-combinations")]
                (nc.read_if_with(false, nowhere, or, POLICY), there),
                (weak.read(p), here), (weak.read_with(p, POLICY), here),
                (weak.read_if(true, p, or), here), (weak.read_if(false, nowhere, or), there),
                #[cfg(feature = "l2-combinations")]
                (weak.read_if_with(true, p, or, POLICY), here),
                #[cfg(feature = "l2-combinations")]
                (weak.read_if_with(false, nowhere, or, POLICY), there),
            ] {
                assert_eq!(bytes_of(found), expected, stringify!($t));
            }
            stores(nc.read(p), here);
            prefetches(p);
        }
        TYPES.fetch_add(1, Ordering::Relaxed);
    })* };
}

/// # Safety
/// None is needed: the addresses are made here.
unsafe fn stores<T>(value: T, expected: &[u8])
where
    T: Stored,
{
    type Write<T> = unsafe fn(*mut T, T);
    let nowhere = std::ptr::null_mut::<T>();
    let writes: &[Write<T>] = &[
        T::plain,
        T::with,
        T::when,
        #[cfg(feature = "l2-combinations")]
        T::when_with,
    ];
    for write in writes {
        let mut room = Bytes([0xa5; 128]);
        // SAFETY: the room is aligned and large enough.
        unsafe { write((&raw mut room.0).wrapping_byte_add(64).cast(), value) };
        assert_eq!(room.0[64..64 + expected.len()], *expected);
        assert!(room.0[..64].iter().chain(&room.0[64 + expected.len()..]).all(|&byte| byte == 0xa5));
    }
    // SAFETY: the address is not touched.
    unsafe { T::not(nowhere, value) };
}

/// The stores of one type, as functions.
trait Stored: Copy {
    unsafe fn plain(p: *mut Self, value: Self);
    unsafe fn with(p: *mut Self, value: Self);
    unsafe fn when(p: *mut Self, value: Self);
    #[cfg(feature = "l2-combinations")]
    unsafe fn when_with(p: *mut Self, value: Self);
    unsafe fn not(p: *mut Self, value: Self);
}

macro_rules! stored {
    ($($t:ty),*) => { $(impl Stored for $t {
        unsafe fn plain(p: *mut Self, value: Self) {
            // SAFETY: the caller's promise.
            unsafe { st_global::<Cs>().write(p, value) }
        }
        unsafe fn with(p: *mut Self, value: Self) {
            // SAFETY: the caller's promise.
            unsafe { st_global::<NoAllocate>().write_with(p, value, POLICY) }
        }
        unsafe fn when(p: *mut Self, value: Self) {
            // SAFETY: the caller's promise.
            unsafe { st_global::<Wt>().write_if(true, p, value) }
        }
        #[cfg(feature = "l2-combinations")]
        unsafe fn when_with(p: *mut Self, value: Self) {
            // SAFETY: the caller's promise.
            unsafe { st_global::<NoHint>().write_if_with(true, p, value, POLICY) }
        }
        unsafe fn not(p: *mut Self, value: Self) {
            // SAFETY: nothing is touched.
            unsafe {
                st_global::<NoHint>().write_if(false, p, value);
                #[cfg(feature = "l2-combinations")]
                st_global::<NoHint>().write_if_with(false, p, value, POLICY);
            }
        }
    })* };
}

/// # Safety
/// None is needed: on a CPU nothing happens.
unsafe fn prefetches<T>(p: *const T) {
    // SAFETY: `p` is readable.
    unsafe {
        prefetch_l1(p);
        prefetch_l2(p);
        prefetch_global_l1(p);
        prefetch_global_l2::<NoHint>(p);
        prefetch_global_l2::<L2EvictLast>(p);
        prefetch_global_l2::<L2EvictNormal>(p);
        prefetch_local_l1(p);
        prefetch_local_l2(p);
        prefetchu_l1(p);
        prefetch_tensormap(p);
        prefetch_const_tensormap(p);
        prefetch_param_tensormap(p);
    }
}

macro_rules! every_type {
    ($($t:ty, $align:literal;)*) => {
        stored! { $($t),* }

        #[test]
        #[cfg_attr(miri, ignore = "it takes minutes there, and tests/meaning does the same in fewer accesses")]
        fn every_type_is_read_and_written_whole() {
            check! { $($t, $align;)* }
            assert_eq!(TYPES.load(Ordering::Relaxed), 49);
        }
    };
}

every_type! {
    u8, 1; i8, 1; B8, 1; u16, 2; i16, 2; B16, 2; u32, 4; i32, 4; f32, 4; B32, 4; u64, 8; i64, 8; f64, 8; B64, 8;
    u128, 16; i128, 16; B128, 16;
    V2<u8>, 2; V2<i8>, 2; V2<B8>, 2; V2<u16>, 4; V2<i16>, 4; V2<B16>, 4; V2<u32>, 8; V2<i32>, 8; V2<f32>, 8; V2<B32>, 8;
    V2<u64>, 16; V2<i64>, 16; V2<f64>, 16; V2<B64>, 16;
    V4<u8>, 4; V4<i8>, 4; V4<B8>, 4; V4<u16>, 8; V4<i16>, 8; V4<B16>, 8; V4<u32>, 16; V4<i32>, 16; V4<f32>, 16; V4<B32>, 16;
    V4<u64>, 32; V4<i64>, 32; V4<f64>, 32; V4<B64>, 32;
    V8<u32>, 32; V8<i32>, 32; V8<f32>, 32; V8<B32>, 32;
}

#[test]
fn lanes_are_read_alone() {
    let p = (&raw const BYTES.0).wrapping_byte_add(64).cast::<V4<u64>>();
    // SAFETY: `p` is aligned and readable.
    let (all, some) = unsafe {
        let all: V4<u64> = ldg(p);
        (all, ptx!(ld.global.nc.L2::cache_hint.v4.u64 {_, d, _, d}, [p], POLICY))
    };
    assert_eq!(some.0, [0, all.0[1], 0, all.0[3]]);
}

#[test]
fn a_policy_is_a_value() {
    const STREAM: LdGlobalNc<NoAllocate, Prefetch256> = ld_global_nc();
    assert_eq!(size_of_val(&STREAM), 0);
    // SAFETY: a constant is readable.
    assert_eq!(unsafe { (STREAM.read(&1.5f32), STREAM.read(&2.5f64)) }, (1.5, 2.5));
}

#[cfg(feature = "half")]
#[test]
fn half_types_are_read_as_b16() {
    use half::{bf16, f16};
    let pair = V2::new([f16::from_f32(0.5), f16::from_f32(-3.0)]);
    // SAFETY: locals are readable.
    unsafe {
        assert_eq!(ld_global_nc::<EvictFirst, NoPrefetch>().read(&pair), pair);
        assert_eq!(ldg(&bf16::from_f32(7.0)), bf16::from_f32(7.0));
    }
}

/// Every order, by its method and by `ptx!`, reads and writes every byte; the predicate keeps the address untouched.
macro_rules! ordered {
    ($($t:ty),*) => { $({
        // An atomic load is made of memory that could be written.
        let mut bytes = Bytes(BYTES.0);
        let p = (&raw mut bytes).wrapping_byte_add(64).cast::<$t>().cast_const();
        let here = &BYTES.0[64..64 + size_of::<$t>()];
        // SAFETY: `p` is aligned and readable, `slot` aligned and writable.
        unsafe {
            for found in [
                ld().read(p), ld_shared().read(p), ld_shared_cluster().read(p), ld_const().read(p), ld_local().read(p),
                ld_param_entry().read(p), ld_param_func().read(p), ld().volatile().read(p),
                ld().relaxed::<Cta>().read(p), ld_global::<NoAllocate, NoPrefetch>().relaxed::<Gpu>().read(p),
                ld_shared().acquire::<Cluster>().read(p), ld_global::<NoHint, NoPrefetch>().acquire::<Sys>().read(p),
                ld_shared().read_if(true, p, ldg(p.byte_sub(64))),
            ] {
                assert_eq!(bytes_of(found), here, stringify!($t));
            }
            let value = ldg(p);
            let mut slot = ldg(p.byte_sub(64));
            let to = &raw mut slot;
            st_shared().write_if(false, std::ptr::null_mut(), value);
            st().relaxed::<Gpu>().write(to, value);
            assert_eq!(bytes_of(*to), here);
            st_global::<NoAllocate>().release::<Sys>().write(to, ldg(p.byte_sub(64)));
            assert_eq!(bytes_of(*to), BYTES.0[..size_of::<$t>()]);
            st_local().volatile().write(to, value);
            assert_eq!(bytes_of(*to), here);
        }
    })* };
}

#[test]
fn every_order_moves_whole_values() {
    ordered! { u8, i16, B32, f64, u128, V2<u8>, V4<i16>, V4<f32>, V2<u64>, V4<B8> }
}

/// What `release` publishes, `acquire` finds, on threads: message passing, through each width and by both spellings.
#[test]
fn orders_are_orders_on_the_cpu() {
    static DATA: AtomicUsize = AtomicUsize::new(0);
    for round in 1..=if cfg!(miri) { 3 } else { 2000usize } {
        let (mut word, mut wide) = (0u32, 0u128);
        let (word, wide) = ((&raw mut word).expose_provenance(), (&raw mut wide).expose_provenance());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                DATA.store(round, Ordering::Relaxed);
                // SAFETY: both outlive the threads, which touch them by ordered accesses alone.
                unsafe {
                    ptx!(st.release.gpu.global.u32[word as *mut u32], 1);
                    st_global::<NoHint>().release::<Gpu>().write(wide as *mut u128, u128::MAX);
                }
            });
            // SAFETY: as above.
            let seen = unsafe {
                let whole = ld_global::<NoHint, NoPrefetch>().acquire::<Gpu>().read(wide as *const u128);
                assert!(whole == 0 || whole == u128::MAX, "128 bits are one value");
                while ptx!(ld.acquire.gpu.global.u32[word as *const u32]) == 0 {
                    std::hint::spin_loop();
                }
                DATA.load(Ordering::Relaxed)
            };
            assert_eq!(seen, round);
        });
    }
}

#[test]
fn ptx_spells_what_it_says() {
    let row = V8::new([0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let mut to = row;
    // SAFETY: locals are readable and writable; null is not touched.
    unsafe {
        assert_eq!(ptx!(@false ld.relaxed.sys.v4.s16 [std::ptr::null::<V4<i16>>()], else V4::new([9; 4])).0, [9; 4]);
        ptx!(@(1 > 2) st.release.cta.shared.b64 [std::ptr::null_mut::<B64>()], B64(1));
        assert_eq!(ptx!(ld.global.L2::evict_last.v8.f32 {_, d, _, d, d, d, d, d}, [&row]).0[..3], [0.0, 1.0, 0.0]);
        ptx!(st.L2::cache_hint.v8.f32 [&mut to], {_, (-1.0), _, _, _, _, _, _}, POLICY);
        assert_eq!(to.0[..3], [0.0, -1.0, 2.0]);
        // The ISA page's own examples: other orders of the words, and those that may be left out.
        let mut word = 5u32;
        // An atomic load is made of memory that could be written.
        let shared = &raw mut word;
        assert_eq!(ptx!(ld.global.relaxed.gpu.u32[shared]), 5);
        assert_eq!(ptx!(ldu.global.u32[&word].unified), 5);
        assert_eq!(ptx!(@false ldu.v2.f64 [std::ptr::null::<V2<f64>>()], else V2::new([0.5; 2])).0, [0.5; 2]);
        // A value that does not matter: any bits of its type, and the address is not touched.
        let _: V4<i16> = ptx!(@false ld.relaxed.sys.v4.s16 [std::ptr::null::<V4<i16>>()], else _);
        let _: u32 = ptx!(@false ld.global.L2::cache_hint.u32 [std::ptr::null::<u32>()], POLICY, else _);
        assert_eq!(ptx!(@true ld.global.u32[&word], else _), 5);
        assert_eq!(ptx!(@true ld.global.u32[&word].unified, else _), 5);
        assert_eq!(ptx!(ld.shared::cta.acquire.gpu.u32 [shared]), 5);
        assert_eq!(ptx!(ld.global.mmio.relaxed.sys.u32[shared]), 5);
        assert_eq!(ptx!(ld.weak.param.u32[&word]), 5);
        assert_eq!(ptx!(ld.b32[&word as *const u32 as *const B32].unified), B32(5));
        let pair = V4::new([1u64, 2, 3, 4]);
        assert_eq!(ptx!(ld.global.L2::evict_last.L1::evict_last.v4.u64 [&pair]), pair);
    }
}

/// Whole lines are dropped, and not a byte beside them, at whatever offset and however many threads share the work.
#[test]
fn a_discarded_slice_keeps_its_ends() {
    #[repr(align(128))]
    struct Lines([u8; 640]);
    let mut dropped = 0;
    for (from, to) in
        [(0, 640), (0, 0), (5, 5), (1, 640), (0, 639), (127, 257), (128, 256), (129, 255), (100, 500), (3, 100)]
    {
        for threads in [1, 2, 3, 32] {
            let mut lines = Lines([1; 640]);
            for thread in 0..threads {
                // SAFETY: the bytes are ours, and undetermined ones are looked at on a CPU alone, where they are a pattern.
                unsafe { discard_global_l2_slice(&raw mut lines.0[from..to], thread, threads) };
            }
            for (at, byte) in lines.0.iter().enumerate() {
                let line = at / 128 * 128;
                let whole = from <= line && line + 128 <= to;
                assert_eq!(*byte != 1, whole, "byte {at} of {from}..{to}, {threads} threads");
                dropped += usize::from(whole);
            }
        }
    }
    assert_eq!(dropped, 4 * 128 * (5 + 4 + 4 + 1 + 1 + 2));
}

/// However many threads are said to share the work, each has its own lines, and no line is taken twice.
#[test]
fn a_thread_takes_its_own_lines_alone() {
    #[repr(align(128))]
    struct Lines([u8; 640]);
    for thread in 0..7 {
        for threads in [usize::MAX, usize::MAX - 1, usize::MAX - 3, usize::MAX / 2 + 2, 1 << 57] {
            let mut lines = Lines([1; 640]);
            // SAFETY: the bytes are ours, and undetermined ones are looked at on a CPU alone, where they are a pattern.
            unsafe {
                discard_global_l2_slice(&raw mut lines.0, thread, threads);
                prefetch_global_l2_slice::<NoHint, _>(&raw const lines.0, thread, threads);
                applypriority_global_l2_evict_normal_slice(&raw const lines.0, thread, threads);
            }
            for (at, byte) in lines.0.iter().enumerate() {
                assert_eq!(*byte != 1, at / 128 == thread, "byte {at}, thread {thread} of {threads}");
            }
        }
    }
}

#[test]
fn a_shared_pointer_reads_and_writes_where_it_points() {
    let mut tile = [1u32, 2, 3, 4];
    let first = SharedPtr::new(tile.as_mut_ptr());
    let nowhere = SharedPtr::new(std::ptr::null_mut::<u32>());
    // SAFETY: the places lie in the tile; nowhere is not touched.
    unsafe {
        assert_eq!([first.read(), first.add(3).sub(1).read()], [1, 3]);
        assert_eq!([first.add(1).read_if(true, 9), nowhere.read_if(false, 9)], [2, 9]);
        first.add(3).write(7);
        first.write_if(true, 5);
        nowhere.write_if(false, 5);
        assert_eq!(first.cast::<B32>().read(), B32(5));
    }
    assert_eq!(tile, [5, 2, 3, 7]);
}
