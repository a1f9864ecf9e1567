//! Every function of the catalogue that no words spell: its own expression, on its own types, and what it does.

use std::collections::BTreeSet;

use ptx_intrinsics::catalogue;
use ptx_intrinsics::cp_async::*;
use ptx_intrinsics::cp_async_bulk::*;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::mbarrier::*;
use ptx_intrinsics::prelude::*;

use crate::{Memory, kind, squeezed};

/// The instructions that a test below has tried all forms of, by the source of these files.
pub(crate) fn instructions() -> BTreeSet<&'static str> {
    let sources = concat!(include_str!("functions.rs"), include_str!("later.rs"));
    let tried = sources.split("\n    tried.is_all_of(&[").skip(1);
    tried.flat_map(|rest| rest.split(']').next().unwrap_or_default().split('"').skip(1).step_by(2)).collect()
}

/// How many forms they have.
pub(crate) const FORMS: usize = 478;

/// The forms that a test has tried, by expression and parameters.
#[derive(Default)]
pub(crate) struct Tried(BTreeSet<String>);

impl Tried {
    pub(crate) fn note(&mut self, parameters: &str, expression: &str) {
        self.0.insert(squeezed(&format!("|{parameters}| {expression}")));
    }

    /// Every form of these instructions, and nothing else.
    pub(crate) fn is_all_of(&self, instructions: &[&str]) {
        if cfg!(miri) {
            // The catalogue takes it minutes, and has nothing to do with memory.
            return;
        }
        let listed: BTreeSet<String> = catalogue::forms()
            .filter(|form| kind(form) == 2 && instructions.contains(&form.instruction()))
            .filter_map(|form| Some(squeezed(&format!("|{}| {}", form.signature()?.parameters, form.rust()))))
            .collect();
        let missing: Vec<_> = listed.difference(&self.0).collect();
        let strange: Vec<_> = self.0.difference(&listed).collect();
        assert!(
            missing.is_empty() && strange.is_empty(),
            "without a test in {}: {missing:#?}, not listed: {strange:#?}",
            file!()
        );
        println!("{} forms of {instructions:?}", listed.len());
    }
}

/// The function that a form's expression is, noted as tried.
macro_rules! form {
    ($tried:ident || $expression:expr) => { form!($tried | | $expression) };
    ($tried:ident |$($name:ident: $t:ty),*| $expression:expr) => {{
        $tried.note(concat!($(stringify!($name: $t), ","),*).trim_end_matches(','), stringify!($expression));
        // SAFETY: whoever calls it keeps the promises.
        #[allow(unused_unsafe, reason = "some are safe")]
        |$($name: $t),*| unsafe { $expression }
    }};
}

#[test]
fn a_cpu_has_one_space_and_one_block() {
    let mut tried = Tried::default();
    let (mut word, expected) = (0x1234_5678u32, 0x1234_5678u32);
    let p: *mut u8 = (&raw mut word).cast();
    macro_rules! spaces {
        ($($is:ident $from:ident $to:ident $expected:literal;)*) => { $(
            assert_eq!(form!(tried |p: *const u8| $is(p))(p), $expected, stringify!($is));
            let address = form!(tried |p: *const u8| $to(p))(p);
            assert_eq!(address, p.addr() as u64);
            let back = form!(tried |address: u64| $from::<u8>(address))(address);
            // SAFETY: it is the address of the word.
            assert_eq!((back, unsafe { back.cast::<u32>().read() }), (p, expected));
        )* };
    }
    spaces! {
        isspacep_const cvta_const cvta_to_const false;
        isspacep_global cvta_global cvta_to_global true;
        isspacep_local cvta_local cvta_to_local false;
        isspacep_shared cvta_shared cvta_to_shared false;
        isspacep_shared_cta cvta_shared_cta cvta_to_shared_cta false;
        isspacep_shared_cluster cvta_shared_cluster cvta_to_shared_cluster false;
        isspacep_param cvta_param cvta_to_param false;
        isspacep_param_entry cvta_param_entry cvta_to_param_entry false;
    }
    for rank in [0, 1, 7] {
        assert_eq!(form!(tried |p: *mut u8, rank: u32| mapa(p, rank))(p, rank), p);
        let there = form!(tried |p: SharedPtr<u8>, rank: u32| mapa_shared_cluster(p, rank))(SharedPtr::new(p), rank);
        let address =
            form!(tried |address: u64, rank: u32| mapa_shared_cluster_u64(address, rank))(p.addr() as u64, rank);
        assert_eq!((place(there), address), (p.addr(), p.addr() as u64));
        assert_eq!(form!(tried |p: SharedClusterPtr<u8>| getctarank_shared_cluster(p))(there), 0);
        assert_eq!(form!(tried |address: u64| getctarank_shared_cluster_u64(address))(address), 0);
    }
    assert_eq!(form!(tried |p: *const u8| getctarank(p))(p), 0);
    tried.is_all_of(&["isspacep", "cvta", "mapa", "getctarank"]);
}

/// The address of a place in the cluster's shared memory.
fn place(p: SharedClusterPtr<u8>) -> usize {
    ptx::shared_pointer(p).addr()
}

#[test]
fn hints_about_lines_change_nothing() {
    let mut tried = Tried::default();
    let memory = Memory::numbered();
    let nowhere = std::ptr::null::<u8>();
    macro_rules! hints {
        ($p:ident => $($expression:expr;)*) => { $({
            let hint = form!(tried |$p: *const u8| $expression);
            hint((&raw const memory.0).wrapping_byte_add(128).cast());
            // It is not even touched.
            hint(nowhere);
        })* };
    }
    hints! { p =>
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
        applypriority_l2_evict_normal(p);
        applypriority_global_l2_evict_normal(p);
    }
    assert_eq!(memory.0, Memory::numbered().0);
    tried.is_all_of(&["prefetch", "applypriority"]);
}

#[test]
fn a_discarded_line_is_a_pattern() {
    let mut tried = Tried::default();
    let functions: [fn(*mut u8); 2] =
        [form!(tried |p: *mut u8| discard_l2(p)), form!(tried |p: *mut u8| discard_global_l2(p))];
    for discard in functions {
        let mut memory = Memory::numbered();
        discard((&raw mut memory.0).wrapping_byte_add(256).cast());
        let kept = Memory::numbered().0;
        assert!(
            memory
                .0
                .iter()
                .enumerate()
                .all(|(at, &byte)| { byte == if (256..384).contains(&at) { 0xd5 } else { kept[at] } })
        );
    }
    tried.is_all_of(&["discard"]);
}

#[test]
fn a_bulk_store_fills_with_zeros() {
    let mut tried = Tried::default();
    let generic = form!(tried |p: *mut u8, size: u64| st_bulk(p, size));
    let shared = form!(tried |p: SharedPtr<u8>, size: u64| st_bulk_shared_cta(p, size));
    let (mut memory, mut expected) = (Memory::numbered(), Memory::numbered());
    let p = (&raw mut memory.0).cast::<u8>();
    generic(p.wrapping_add(16), 24);
    shared(SharedPtr::new(p.wrapping_add(512)), 1024);
    expected.0[16..40].fill(0);
    expected.0[512..1536].fill(0);
    assert_eq!(memory.0, expected.0);
    tried.is_all_of(&["st.bulk"]);
}

#[test]
fn a_made_policy_is_the_encoded_one() {
    let mut tried = Tried::default();
    let memory = Memory::numbered();
    let p: *const u8 = (&raw const memory.0).cast();
    let (property, mebibyte) = (0x1234_5678_9abc_def0u64, 1 << 20);
    let mut seen = BTreeSet::new();
    macro_rules! policies {
        ($($priorities:ty, $bits:literal;)*) => { $(
            // Bits 59 and 60 say how lines are chosen, 52 to 55 the sixteenths less one, 56 to 58 the priorities.
            for (fraction, sixteenths) in [(1.0 / 16.0, 0), (0.5, 7), (0.75, 11), (1.0, 15)] {
                let policy = form!(tried |fraction: f32| CachePolicy::fractional::<$priorities>(fraction))(fraction);
                assert_eq!(policy.bits(), 2u64 << 59 | $bits << 56 | sixteenths << 52, stringify!($priorities));
            }
            let all = form!(tried || CachePolicy::all::<$priorities>())();
            assert_eq!(all.bits(), 2u64 << 59 | $bits << 56 | 15 << 52);
            seen.insert(all.bits());
            // Blocks of 2^14 bytes: 64 of them, then as many again.
            let first = (p.addr() as u64 >> 14) & 0x7f;
            let blocks = ((p.addr() as u64 + mebibyte - 1 + (1 << 14)) >> 14) - (p.addr() as u64 >> 14);
            let expected = 3u64 << 59 | $bits << 56 | 2 << 52 | first << 44 | blocks << 37;
            let (one, two) = (mebibyte as u32, 2 * mebibyte as u32);
            let generic = form!(tried |p: *const u8, primary_size: u32, total_size: u32|
                CachePolicy::range::<$priorities>(p, primary_size, total_size));
            let global = form!(tried |p: *const u8, primary_size: u32, total_size: u32|
                CachePolicy::range_global::<$priorities>(p, primary_size, total_size));
            assert_eq!((generic(p, one, two).bits(), global(p, one, two).bits()), (expected, expected));
        )* };
    }
    policies! {
        L2EvictLast, 4u64;
        (L2EvictLast, L2EvictFirst), 5u64;
        (L2EvictLast, L2EvictUnchanged), 4u64;
        L2EvictNormal, 6u64;
        (L2EvictNormal, L2EvictFirst), 7u64;
        (L2EvictNormal, L2EvictUnchanged), 6u64;
        L2EvictFirst, 2u64;
        (L2EvictFirst, L2EvictFirst), 3u64;
        (L2EvictFirst, L2EvictUnchanged), 2u64;
        L2EvictUnchanged, 0u64;
        (L2EvictUnchanged, L2EvictFirst), 1u64;
        (L2EvictUnchanged, L2EvictUnchanged), 0u64;
    }
    assert_eq!(seen.len(), 8);
    let converted = form!(tried |property: u64| CachePolicy::cvt_l2(property))(property);
    assert_eq!(converted.bits(), property);
    tried.is_all_of(&["createpolicy"]);
}

/// What orders, here only that it can be called; `threads.rs` and the compiler's output show what it orders.
#[test]
fn every_fence_is_called() {
    let mut tried = Tried::default();
    macro_rules! scoped {
        ($($fence:ident)*) => { $(
            form!(tried || $fence::<Cta>())();
            form!(tried || $fence::<Cluster>())();
            form!(tried || $fence::<Gpu>())();
            form!(tried || $fence::<Sys>())();
        )* };
    }
    macro_rules! whole {
        ($($fence:ident)*) => { $(form!(tried || $fence())();)* };
    }
    scoped! { fence_sc fence_acq_rel fence_acquire fence_release fence_proxy_tensormap_generic_release }
    whole! {
        fence_acquire_sync_restrict_shared_cluster_cluster fence_release_sync_restrict_shared_cta_cluster
        fence_mbarrier_init_release_cluster fence_proxy_alias fence_proxy_async fence_proxy_async_global
        fence_proxy_async_shared_cta fence_proxy_async_shared_cluster
        fence_proxy_async_generic_acquire_sync_restrict_shared_cluster_cluster
        fence_proxy_async_generic_release_sync_restrict_shared_cta_cluster
        membar_cta membar_gl membar_sys membar_proxy_alias membar_proxy_async
    }
    let map = [0u8; 128];
    let p = map.as_ptr();
    form!(tried |p: *const u8| fence_proxy_tensormap_generic_acquire::<Cta>(p))(p);
    form!(tried |p: *const u8| fence_proxy_tensormap_generic_acquire::<Cluster>(p))(p);
    form!(tried |p: *const u8| fence_proxy_tensormap_generic_acquire::<Gpu>(p))(p);
    form!(tried |p: *const u8| fence_proxy_tensormap_generic_acquire::<Sys>(p))(p);
    tried.is_all_of(&["fence", "membar"]);
}

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

/// With a barrier of so many arrivals, here and as one of the cluster.
fn with_barrier<R>(count: u32, use_it: impl FnOnce(SharedPtr<Mbarrier>, SharedClusterPtr<Mbarrier>) -> R) -> R {
    let mut memory = Mbarrier::default();
    let bar = SharedPtr::new(&raw mut memory);
    // SAFETY: the memory is this function's.
    unsafe { mbarrier_init(bar, count) };
    use_it(bar, SharedClusterPtr::of(bar))
}

/// How many arrivals the phase lacks: an arrival of none tells.
fn pending(bar: SharedPtr<Mbarrier>) -> u32 {
    // SAFETY: nobody else uses the barrier.
    unsafe { mbarrier_pending_count(mbarrier_arrive_no_complete(bar, 0)) }
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

/// What it says when it panics.
fn panic_of(panics: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap()
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
    tried.is_all_of(&["cp.async.bulk.prefetch.tensor"]);
}

/// A barrier as it should be: counted in plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Model {
    lacks: u32,
    expects: u32,
    bytes: i64,
    phase: u32,
}

impl Model {
    fn new(count: u32) -> Self {
        Self { lacks: count, expects: count, bytes: 0, phase: 0 }
    }

    fn after(mut self, arrivals: u32, bytes: i64, dropped: u32) -> Self {
        self.bytes += bytes;
        self.lacks -= arrivals;
        self.expects -= dropped;
        if self.lacks == 0 && self.bytes == 0 {
            self.lacks = self.expects;
            self.phase += 1;
        }
        self
    }

    /// The barrier is as the model says, by all that tells.
    fn is(self, bar: SharedPtr<Mbarrier>) {
        // SAFETY: nobody else uses the barrier.
        unsafe {
            assert_eq!(mbarrier_test_wait_parity(bar, 0), self.phase % 2 == 1, "{self:?}");
            assert_eq!(mbarrier_test_wait_parity(bar, 1), self.phase.is_multiple_of(2), "{self:?}");
        }
        if self.lacks > 0 {
            assert_eq!(pending(bar), self.lacks, "{self:?}");
        }
    }
}

/// Each arrival and each count of bytes, on a barrier that then waits for other things too, and the waits.
#[test]
fn every_function_of_a_barrier_does_what_it_says() {
    let mut tried = Tried::default();
    const BYTES: u32 = (1 << 20) - 1;
    // How many arrivals there are, and how many of them the function at hand makes.
    for (of, count) in [(1, 1), (5, 1), (5, 3), (BYTES, BYTES), (BYTES, 2)] {
        for bytes in [0, 16, BYTES] {
            macro_rules! arrives {
                ($name:ident $name_as:ident ($($operand:ident)?) $arrivals:expr, $bytes:expr, $dropped:expr) => {
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name }
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name_as::<Release<Cluster>, _> }
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name_as::<Relaxed<Cta>, _> }
                    arrives! { @one ($($operand)?) $arrivals, $bytes, $dropped, $name_as::<Relaxed<Cluster>, _> }
                };
                (@one $operand:tt $arrivals:expr, $bytes:expr, $dropped:expr, $($name:tt)*) => {
                    arrives! { @at SharedPtr $operand $arrivals, $bytes, $dropped, $($name)* }
                    arrives! { @at SharedClusterPtr $operand $arrivals, $bytes, $dropped, $($name)* }
                };
                (@at $pointer:ident ($($operand:ident)?) $arrivals:expr, $bytes:expr, $dropped:expr, $($name:tt)*) => {
                    with_barrier(of, |bar, cluster| {
                        let arrive = form!(tried |bar: $pointer<Mbarrier> $(, $operand: u32)?| $($name)*(bar $(, $operand)?));
                        let model = Model::new(of).after($arrivals, i64::from($bytes), $dropped);
                        let state = arrive(arrives!(@pointer $pointer bar cluster) $(, $operand)?);
                        model.is(bar);
                        arrives! { @state $pointer state bar model of }
                        // What is left of the phase, and the whole of the next one.
                        let mut model = model;
                        for _ in 0..2 {
                            // SAFETY: nobody else uses the barrier.
                            unsafe {
                                if model.bytes > 0 {
                                    mbarrier_complete_tx(bar, model.bytes as u32);
                                    model = model.after(0, -model.bytes, 0);
                                }
                                if model.lacks > 0 {
                                    mbarrier_arrive_count(bar, model.lacks);
                                    model = model.after(model.lacks, 0, 0);
                                }
                            }
                            model.is(bar);
                        }
                    });
                };
                (@pointer SharedPtr $bar:ident $cluster:ident) => { ($bar, $cluster).0 };
                (@pointer SharedClusterPtr $bar:ident $cluster:ident) => { ($bar, $cluster).1 };
                (@state SharedClusterPtr $state:ident $bar:ident $model:ident $of:ident) => { let () = $state; };
                (@state SharedPtr $state:ident $bar:ident $model:ident $of:ident) => {
                    // SAFETY: nobody else uses the barrier.
                    unsafe {
                        assert_eq!(mbarrier_test_wait($bar, $state), $model.phase == 1);
                        assert_eq!(mbarrier_pending_count($state), $of);
                    }
                };
            }
            arrives! { mbarrier_arrive mbarrier_arrive_as () 1, 0, 0 }
            arrives! { mbarrier_arrive_count mbarrier_arrive_count_as (count) count, 0, 0 }
            arrives! { mbarrier_arrive_expect_tx mbarrier_arrive_expect_tx_as (bytes) 1, bytes, 0 }
            arrives! { mbarrier_arrive_drop mbarrier_arrive_drop_as () 1, 0, 1 }
            arrives! { mbarrier_arrive_drop_count mbarrier_arrive_drop_count_as (count) count, 0, count }
            arrives! { mbarrier_arrive_drop_expect_tx mbarrier_arrive_drop_expect_tx_as (bytes) 1, bytes, 1 }
            let more = |bytes: u32| i64::from(bytes);
            let less = |bytes: u32| -i64::from(bytes);
            macro_rules! counts {
                ($count:ident $name:ident $name_as:ident) => {
                    counts! { @one $count $name }
                    counts! { @one $count $name_as::<Relaxed<Cluster>, _> }
                };
                (@one $count:ident $($name:tt)*) => {
                    with_barrier(of, |bar, cluster| {
                        let here = form!(tried |bar: SharedPtr<Mbarrier>, bytes: u32| $($name)*(bar, bytes));
                        let there = form!(tried |bar: SharedClusterPtr<Mbarrier>, bytes: u32| $($name)*(bar, bytes));
                        let mut model = Model::new(of);
                        let half = bytes / 2;
                        for part in [half, bytes - half] {
                            if part == half { here(bar, part) } else { there(cluster, part) };
                            model = model.after(0, $count(part), 0);
                            model.is(bar);
                        }
                        // SAFETY: nobody else uses the barrier.
                        unsafe {
                            mbarrier_arrive_count(bar, of);
                            model = model.after(of, 0, 0);
                            model.is(bar);
                            if model.bytes > 0 { mbarrier_complete_tx(bar, bytes) } else { mbarrier_expect_tx(bar, bytes) }
                            if bytes > 0 {
                                model = model.after(0, -model.bytes, 0);
                            }
                            model.is(bar);
                            assert_eq!(model.phase, 1);
                        }
                    });
                };
            }
            counts! { more mbarrier_expect_tx mbarrier_expect_tx_as }
            counts! { less mbarrier_complete_tx mbarrier_complete_tx_as }
        }
        if count < of {
            with_barrier(of, |bar, _| {
                let arrive =
                    form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_arrive_no_complete(bar, count));
                let drop =
                    form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_arrive_drop_no_complete(bar, count));
                let told = form!(tried |state: MbarrierState| mbarrier_pending_count(state));
                let state = arrive(bar, count);
                let mut model = Model::new(of).after(count, 0, 0);
                model.is(bar);
                assert_eq!(told(state), of);
                let state = drop(bar, 1);
                assert_eq!(told(state), of - count);
                model = model.after(1, 0, 1);
                model.is(bar);
            });
        }
    }
    waits(&mut tried);
    tried.is_all_of(&["mbarrier"]);
}

/// Each wait, in each order, before the phase is complete and after.
fn waits(tried: &mut Tried) {
    macro_rules! waits {
        ($($name:ident $name_as:ident $phase:ident: $t:ty $(, $ns:ident)?;)*) => { $(
            waits! { @one $phase: $t; ($($ns)?) $name }
            waits! { @one $phase: $t; ($($ns)?) $name_as::<Acquire<Cluster>> }
            waits! { @one $phase: $t; ($($ns)?) $name_as::<Relaxed<Cta>> }
            waits! { @one $phase: $t; ($($ns)?) $name_as::<Relaxed<Cluster>> }
        )* };
        (@one $phase:ident: $t:ty; ($($ns:ident)?) $($name:tt)*) => {
            with_barrier(2, |bar, _| {
                $(let $ns = 1000;)?
                let wait = form!(tried |bar: SharedPtr<Mbarrier>, $phase: $t $(, $ns: u32)?| $($name)*(bar, $phase $(, $ns)?));
                for turn in 0..4 {
                    // SAFETY: nobody else uses the barrier.
                    unsafe {
                        let state = mbarrier_arrive(bar);
                        let phase = waits!(@phase $phase state turn);
                        assert!(!wait(bar, phase $(, $ns)?), stringify!($($name)*));
                        mbarrier_arrive(bar);
                        assert!(wait(bar, phase $(, $ns)?), stringify!($($name)*));
                    }
                }
            });
        };
        (@phase state $state:ident $turn:ident) => { ($state, $turn).0 };
        (@phase parity $state:ident $turn:ident) => { ($state, $turn % 2).1 };
    }
    waits! {
        mbarrier_test_wait mbarrier_test_wait_as state: MbarrierState;
        mbarrier_test_wait_parity mbarrier_test_wait_parity_as parity: u32;
        mbarrier_try_wait mbarrier_try_wait_as state: MbarrierState;
        mbarrier_try_wait_for mbarrier_try_wait_for_as state: MbarrierState, ns;
        mbarrier_try_wait_parity mbarrier_try_wait_parity_as parity: u32;
        mbarrier_try_wait_parity_for mbarrier_try_wait_parity_for_as parity: u32, ns;
    }
    with_barrier(1, |bar, _| {
        form!(tried |bar: SharedPtr<Mbarrier>, count: u32| mbarrier_init(bar, count))(bar, 9);
        assert_eq!(pending(bar), 9);
        form!(tried |bar: SharedPtr<Mbarrier>| mbarrier_inval(bar))(bar);
    });
}

/// What a barrier cannot count is a panic, and leaves it as it was.
#[test]
fn what_a_barrier_cannot_count_is_a_panic() {
    const MOST: u32 = (1 << 20) - 1;
    for count in [0, MOST + 1] {
        assert_eq!(
            panic_of(|| with_barrier(count, |_, _| ())),
            format!("a barrier of {count} arrivals: 1 to 1048575 are possible")
        );
    }
    with_barrier(2, |bar, _| {
        // SAFETY: nobody else uses the barrier; what is wrong is what this test is about.
        unsafe {
            assert_eq!(panic_of(|| _ = mbarrier_arrive_count(bar, 3)), "a barrier's phase expects so many arrivals");
            mbarrier_arrive_drop_count(bar, 2);
            assert_eq!(panic_of(|| _ = mbarrier_arrive_drop(bar)), "a barrier's phase expects so many arrivals");
        }
    });
    with_barrier(2, |bar, _| {
        // SAFETY: as above.
        unsafe {
            mbarrier_expect_tx(bar, MOST);
            assert_eq!(
                panic_of(|| mbarrier_expect_tx(bar, 1)),
                "a barrier's phase lacks 1048576 bytes: at most 1048575 are possible"
            );
            mbarrier_complete_tx(bar, MOST);
            mbarrier_complete_tx(bar, MOST);
            assert_eq!(
                panic_of(|| mbarrier_complete_tx(bar, 1)),
                "a barrier's phase lacks -1048576 bytes: at most 1048575 are possible"
            );
            assert_eq!(pending(bar), 2);
        }
    });
}
