//! How asynchronous copies and barriers are tried: each thread has a barrier of its own in its slot.

use ptx_intrinsics::catalogue::Form;

use super::other::{Other, all};
use super::room::{Room, THREADS};

/// The poison of the output goes to shared memory first, so that it stays where nothing is copied.
macro_rules! source {
    ($t:literal $size:literal) => {
        concat!(
            "copy(to, p); let (dst, src) = (SharedPtr::new(p.cast::<",
            $t,
            ">()), from.cast::<",
            $t,
            ">()); \
             let (ignore, src_size) = (thread % 3 == 0, thread as u32 % (",
            $size,
            " + 1)); "
        )
    };
}

/// A `cp.async`: what is ignored is at a null address.
pub(super) fn copy(form: &Form) -> Other {
    let before = match size(form) {
        4 => source!("u32" "4"),
        8 => source!("u64" "8"),
        _ => source!("V4<u32>" "16"),
    };
    let then = if form.rust().contains("copy_unless") {
        "let src = if ignore { core::ptr::null() } else { src }; {}; cp_async_wait_all(); copy(p, to);"
    } else {
        "{}; cp_async_wait_all(); copy(p, to);"
    };
    Other { room: Room::Shared, before, then: then.into(), expected: copied }
}

fn size(form: &Form) -> usize {
    let parameters = form.signature().map_or("", |signature| signature.parameters);
    [("SharedPtr<u32>", 4), ("SharedPtr<u64>", 8)]
        .iter()
        .find(|(pointer, _)| parameters.contains(pointer))
        .map_or(16, |(_, size)| *size)
}

fn copied(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    let size = size(form);
    let read = match form.rust() {
        rust if rust.contains("copy_unless") && thread.is_multiple_of(3) => 0,
        rust if rust.contains("copy_zfill") => thread % (size + 1),
        _ => size,
    };
    to[..read].copy_from_slice(&from[..read]);
    to[read..size].fill(0);
}

/// What makes groups and waits for them.
pub(super) fn group(form: &Form) -> Other {
    let then = match form.instruction() {
        "cp.async.commit_group" => {
            "cp_async_ca::<NoPrefetch>().copy(dst, src); {}; cp_async_wait_group::<0>(); copy(p, to); cp_async_wait_all();"
        }
        "cp.async.wait_all" => "cp_async_ca::<NoPrefetch>().copy(dst, src); {}; copy(p, to);",
        // Of five groups the first two have come, and then all.
        _ => {
            "for group in 0..5 { cp_async_ca::<NoPrefetch>().copy(dst.add(group), src.add(group as usize)); cp_async_commit_group(); } \
             {}; let early = get::<u64>(p); cp_async_wait_all(); copy(p, to); put(to.add(24), early);"
        }
    };
    Other { room: Room::Shared, before: source!("u32" "4"), then: then.into(), expected: grouped }
}

fn grouped(form: &Form, _: usize, from: &[u8], to: &mut [u8]) {
    let bytes = if form.instruction() == "cp.async.wait_group" { 20 } else { 4 };
    to[..bytes].copy_from_slice(&from[..bytes]);
    if bytes == 20 {
        to[24..32].copy_from_slice(&from[..8]);
    }
}

/// `cp.async.mbarrier.arrive`, and an arrival of the thread's own: only both make a phase complete. Without `.noinc` the
/// first is not counted in.
pub(super) fn arrive(form: &Form) -> Other {
    let before = if form.ptx().contains(".noinc") { "let count = 2;" } else { "let count = 1;" };
    let then = "copy(to, p); let bar = SharedPtr::new(p.add(24).cast::<Mbarrier>()); mbarrier_init(bar, count); \
                cp_async_ca::<NoPrefetch>().copy(SharedPtr::new(p.cast::<V4<u32>>()), from.cast()); {}; \
                let early = mbarrier_test_wait_parity(bar, 0); mbarrier_arrive(bar); let late = waited(bar); \
                copy(p, to); put(to.add(24), [early, late, true, true, true, true, true, true]);";
    Other { room: Room::Shared, before, then: then.into(), expected: arrived }
}

fn arrived(_: &Form, _: usize, from: &[u8], to: &mut [u8]) {
    to[..16].copy_from_slice(&from[..16]);
    to[24..32].copy_from_slice(&[0, 1, 1, 1, 1, 1, 1, 1]);
}

/// The numbers of a kind of arrival: of how many it is, how many the phase lacks then of four, how many the next phase
/// expects.
macro_rules! numbers {
    ($before:literal, $numbers:literal) => {
        concat!(
            $before,
            " let (count, left, next) = ",
            $numbers,
            "; let (bytes, parity, ns) = (16 * (1 + thread as u32), 0, 1000);"
        )
    };
}

/// The thread's own barrier.
macro_rules! own_barrier {
    ($numbers:literal) => {
        numbers!("let own = SharedPtr::new(p.cast::<Mbarrier>()); let bar = own;", $numbers)
    };
}

/// The barrier of the same thread in the other block, which comes to this one in turn.
macro_rules! other_barrier {
    ($numbers:literal) => {
        numbers!(
            "let own = SharedPtr::new(home_of(p).cast::<Mbarrier>()); \
             let bar = SharedClusterPtr::new(p.cast::<Mbarrier>());",
            $numbers
        )
    };
}

/// What both blocks do before one comes to the other's barriers.
const MEET: &str = "fence_mbarrier_init_release_cluster(); sync_cluster();";

/// `mbarrier` of the other block. Nothing says when an arrival is there, so what has to become true is waited for; what has
/// to be false is so at any time.
fn of_other_block(form: &Form) -> Other {
    let drops = form.ptx().contains("arrive_drop");
    let before = match (takes_count(form), drops) {
        (false, false) => other_barrier!("(1, 3, 4)"),
        (false, true) => other_barrier!("(1, 3, 3)"),
        (true, false) => other_barrier!("(2, 2, 4)"),
        (true, true) => other_barrier!("(2, 2, 2)"),
    };
    let then = match kind(form) {
        "expect_tx" => format!(
            "mbarrier_init(own, 1); {MEET} {{}}; sync_cluster(); let state = mbarrier_arrive(own); \
             let first = state.is_complete(own); mbarrier_complete_tx(own, bytes); put(to, [first, waited(own)]);"
        ),
        "complete_tx" => format!(
            "mbarrier_init(own, 1); let state = mbarrier_arrive_expect_tx(own, bytes); \
             let first = state.is_complete(own); {MEET} {{}}; put(to, [first, waited(own)]);"
        ),
        _ if form.ptx().contains(".expect_tx") => format!(
            "mbarrier_init(own, 4); {MEET} {{}}; arrive(own, left - 1); let first = mbarrier_test_wait_parity(own, 0); \
             mbarrier_arrive(own); let second = mbarrier_test_wait_parity(own, 0); mbarrier_complete_tx(own, bytes); \
             put(to, [first, second, waited(own)]); put(to.add(3), phase_of(own, next));"
        ),
        _ => format!(
            "mbarrier_init(own, 4); {MEET} {{}}; arrive(own, left - 1); let first = mbarrier_test_wait_parity(own, 0); \
             mbarrier_arrive(own); put(to, [first, waited(own)]); put(to.add(2), phase_of(own, next));"
        ),
    };
    Other { room: Room::ClusterLines, before, then: then.into(), expected: tested }
}

fn takes_count(form: &Form) -> bool {
    form.signature().is_some_and(|signature| signature.parameters.contains("count"))
}

/// `mbarrier`: which of the tests on the way find a phase complete.
pub(super) fn mbarrier(form: &Form) -> Other {
    let ptx = form.ptx();
    if ptx.contains(".shared::cluster") {
        return of_other_block(form);
    }
    let before = match (takes_count(form), ptx.contains("arrive_drop")) {
        (false, false) => own_barrier!("(1, 3, 4)"),
        (false, true) => own_barrier!("(1, 3, 3)"),
        (true, false) => own_barrier!("(2, 2, 4)"),
        (true, true) => own_barrier!("(2, 2, 2)"),
    };
    let then = match kind(form) {
        "init" => {
            "{}; let state = mbarrier_arrive(own); let first = state.is_complete(own); mbarrier_arrive(own); \
             put(to, [first, state.is_complete(own)]);"
        }
        // The memory is of use for something else.
        "inval" => "mbarrier_init(own, 1); {}; copy(from, p); copy(p, to);",
        "pending_count" => {
            "mbarrier_init(own, 2 + thread as u32); let state = mbarrier_arrive_no_complete(own, 1); put(to, {});"
        }
        "expect_tx" => {
            "mbarrier_init(own, 1); {}; let state = mbarrier_arrive(own); let first = state.is_complete(own); \
             mbarrier_complete_tx(own, bytes); put(to, [first, state.is_complete(own)]);"
        }
        "complete_tx" => {
            "mbarrier_init(own, 1); let state = mbarrier_arrive_expect_tx(own, bytes); \
             let first = state.is_complete(own); {}; put(to, [first, state.is_complete(own)]);"
        }
        "test_wait" | "try_wait" => {
            "mbarrier_init(own, 2); let state = mbarrier_arrive(own); let first = {}; mbarrier_arrive(own); \
             put(to, [first, {}]);"
        }
        _ if ptx.contains(".expect_tx") => {
            "mbarrier_init(own, 4); let state = {}; let first = state.is_complete(own); arrive(own, left); \
             let second = state.is_complete(own); mbarrier_complete_tx(own, bytes); \
             put(to, [first, second, state.is_complete(own)]); put(to.add(3), phase_of(own, next));"
        }
        _ => {
            "mbarrier_init(own, 4); let state = {}; let first = state.is_complete(own); arrive(own, left); \
             put(to, [first, state.is_complete(own)]); put(to.add(2), phase_of(own, next));"
        }
    };
    Other { room: Room::Shared, before, then: then.into(), expected: tested }
}

fn kind(form: &Form) -> &str {
    form.ptx().split('.').nth(1).unwrap_or_default()
}

fn tested(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    let found: &[u8] = match kind(form) {
        "inval" => from,
        "pending_count" => &(2 + thread as u32).to_le_bytes(),
        "arrive" | "arrive_drop" if form.ptx().contains(".expect_tx") => &[0, 0, 1, 0, 1],
        "arrive" | "arrive_drop" => &[0, 1, 0, 1],
        _ => &[0, 1],
    };
    to[..found.len()].copy_from_slice(found);
}

/// Shared memory of the block that is the form's destination, and a barrier for one copy.
const INTO_SHARED: &str = "copy(to, p); let own = SharedPtr::new(p.add(96).cast::<Mbarrier>()); mbarrier_init(own, 1); \
    let (dst, bar) = (SharedPtr::new(p.cast::<u32>()), own); \
    let (src, size, left, right) = (from.cast::<u32>(), 16 * (1 + thread as u32 % 4), 4, 8); \
    fence_mbarrier_init_release_cluster(); fence_proxy_async_shared_cta(); mbarrier_arrive_expect_tx(own, size);";

/// The destination is in the other block, and its barrier too; this block's own are the other one's destination.
macro_rules! into_other_block {
    ($most:literal, $more:literal) => {
        concat!(
            "let home = home_of(p); copy(to, home); \
             let own = SharedPtr::new(home.add(96).cast::<Mbarrier>()); mbarrier_init(own, 1); \
             let (dst, bar) = (SharedClusterPtr::new(p.cast::<u32>()), SharedClusterPtr::new(p.add(96).cast::<Mbarrier>())); \
             let (src, size) = (from.cast::<u32>(), 16 * (1 + thread as u32 % ", $most, ")); ", $more,
            " fence_mbarrier_init_release_cluster(); fence_proxy_async_shared_cta(); \
             mbarrier_arrive_expect_tx(own, size); sync_cluster();"
        )
    };
}
pub(super) use into_other_block;

/// Both blocks are done, and what the other one sent is in this one.
macro_rules! arrived_from_other_block {
    ($done:literal, $more:literal) => {
        concat!(
            "{}; let done = waited(own)",
            $done,
            "; sync_cluster(); ",
            $more,
            " copy(home, to); put(to.add(96), done as u64);"
        )
    };
}

/// Bytes from a thread's slot of one block's half of a trial to that of the other's.
pub(super) const HALF: usize = THREADS * 128;

/// What was in shared memory is the form's source.
const INTO_GLOBAL: &str = "copy(from, p); fence_proxy_async_shared_cta(); \
    let (dst, src) = (to.cast::<u32>(), SharedPtr::new(p.cast::<u32>())); \
    let (size, mask) = (16 * (1 + thread as u32 % 8), MASK);";

const FIVE: &str = "copy(from, p); fence_proxy_async_shared_cta(); for group in 0..5 { \
    cp_async_bulk_global_shared(to.add(16 * group).cast::<u32>(), SharedPtr::new(p.add(16 * group).cast::<u32>()), 16); \
    cp_async_bulk_commit_group(); }";

/// Of each 16 bytes those that are copied under a mask.
pub(super) const MASK: u16 = 0b1010_0000_1101_0011;

/// `cp.async.bulk`: to shared memory after a barrier, to global memory in groups.
pub(super) fn bulk(form: &Form) -> Other {
    let (before, then) = match form.ptx() {
        ptx if ptx.contains(".prefetch.") => {
            let before = "let (src, size) = (from.cast::<u32>(), 16 * (1 + thread as u32 % 8));";
            return Other { room: Room::Lines, before, then: "{}; copy(from, to);".into(), expected: all };
        }
        "cp.async.bulk.commit_group" => {
            (INTO_GLOBAL, "cp_async_bulk_global_shared(dst, src, size); {}; cp_async_bulk_wait_group::<0>();")
        }
        "cp.async.bulk.wait_group" => {
            (FIVE, "{}; let early = get::<Slot>(to); cp_async_bulk_wait_group::<0>(); put(to.add(96), early);")
        }
        // What was read may be written over.
        "cp.async.bulk.wait_group.read" => (FIVE, "{}; put(p, [0u64; 4]); cp_async_bulk_wait_group::<0>();"),
        ptx if ptx.contains(".global.shared::cta") => {
            (INTO_GLOBAL, "{}; cp_async_bulk_commit_group(); cp_async_bulk_wait_group::<0>();")
        }
        ptx if ptx.contains(".shared::cluster") => return bulk_to_other_block(ptx),
        // What is ignored is undetermined.
        ptx if ptx.contains(".ignore_oob") => (
            INTO_SHARED,
            "{}; let done = waited(own); copy(p, to); put(to.add(96), done as u64); put(to, 0u32); \
             put(to.add(size as usize - 8), 0u64);",
        ),
        _ => (INTO_SHARED, "{}; let done = waited(own); copy(p, to); put(to.add(96), done as u64);"),
    };
    Other { room: Room::SharedLines, before, then: then.into(), expected: moved }
}

/// To the other block of the cluster; a multicast to both, where the copy in this one is compared on the spot.
fn bulk_to_other_block(ptx: &str) -> Other {
    let (before, then) = if ptx.contains(".multicast") {
        (
            into_other_block!(
                "4",
                "let mask = 0b11; let echo = of_rank(p, rank()); \
                let second = SharedPtr::new(echo.add(96).cast::<Mbarrier>()); mbarrier_init(second, 1); \
                mbarrier_arrive_expect_tx(second, size);"
            ),
            arrived_from_other_block!(" & waited(second) & same(echo, from, size)", ""),
        )
    } else if ptx.contains(".shared::cta") {
        (
            into_other_block!(
                "2",
                "put(home.add(64), get::<Slot>(from)); let src = SharedPtr::new(home.add(64).cast::<u32>());"
            ),
            arrived_from_other_block!("", "put(home.add(64), get::<Slot>(to.add(64)));"),
        )
    } else {
        (into_other_block!("4", ""), arrived_from_other_block!("", ""))
    };
    Other { room: Room::ClusterLines, before, then: then.into(), expected: moved }
}

fn moved(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    let ptx = form.ptx();
    let into_global = ptx.contains(".global.shared::cta") || ptx.ends_with("_group");
    let size = match ptx {
        _ if ptx.contains(".wait_group") => 80,
        _ if into_global => 16 * (1 + thread % 8),
        _ if ptx.contains(".shared::cluster.shared::cta") => 16 * (1 + thread % 2),
        _ => 16 * (1 + thread % 4),
    };
    let mask = if ptx.ends_with(".cp_mask") { MASK } else { u16::MAX };
    for at in (0..size).filter(|at| mask >> (at % 16) & 1 == 1) {
        to[at] = from[at];
    }
    match ptx {
        "cp.async.bulk.wait_group" => to[96..].copy_from_slice(&from[..32]),
        _ if ptx.contains(".wait_group") || into_global => {}
        _ => {
            to[96..104].copy_from_slice(&1u64.to_le_bytes());
            if ptx.contains(".ignore_oob") {
                to[..4].fill(0);
                to[size - 8..size].fill(0);
            }
        }
    }
}
