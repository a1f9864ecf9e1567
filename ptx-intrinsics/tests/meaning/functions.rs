//! Every function of the catalogue that no words spell: its own expression, on its own types, and what it does.

use std::collections::BTreeSet;

use ptx_intrinsics::catalogue;
use ptx_intrinsics::fence::*;
use ptx_intrinsics::prelude::*;

use crate::{Memory, kind, squeezed};

/// The instructions that a test below has tried all forms of, by the source of these files.
pub(crate) fn instructions() -> BTreeSet<&'static str> {
    let sources = concat!(
        include_str!("functions.rs"),
        include_str!("barriers.rs"),
        include_str!("blocks.rs"),
        include_str!("copies.rs"),
        include_str!("later.rs"),
        include_str!("tensors.rs"),
        include_str!("warp.rs")
    );
    let tried = sources.split("\n    tried.is_all_of(&[").skip(1);
    tried.flat_map(|rest| rest.split(']').next().unwrap_or_default().split('"').skip(1).step_by(2)).collect()
}

/// How many forms they have.
pub(crate) const FORMS: usize = 1164;

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
        fence_mbarrier_init_release_cluster fence_proxy_alias fence_proxy_alias_acquire_sys fence_proxy_alias_release_sys
        fence_proxy_async_generic_release_sync_restrict_shared_cluster_read_cta
        fence_proxy_async_generic_release_sync_restrict_shared_cluster_read_cluster fence_proxy_async fence_proxy_async_global
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

/// What it says when it panics.
pub(crate) fn panic_of(panics: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap()
}
