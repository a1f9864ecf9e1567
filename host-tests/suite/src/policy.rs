//! The bits that every `createpolicy` has to give, by the host's own encoders.

use ptx_intrinsics::caching::{
    CachePolicy, L2EvictFirst, L2EvictLast, L2EvictNormal, L2EvictUnchanged, PolicyPriorities,
};
use ptx_intrinsics::catalogue::Form;

use super::other::Other;
use super::room::Room;
use super::sizes::sizes;

/// Where the ranges begin, or some gigabytes after it: nothing is read there.
pub(super) const ADDRESS: u64 = 0x7f00_0000_0000;

/// What is converted: a property of CUDA's host interface has the bits of a policy. Threads have other fractions.
pub(super) const PROPERTY: CachePolicy = CachePolicy::encode_fractional::<(L2EvictLast, L2EvictFirst)>(0.01);

/// A policy of sizes that the assembler cannot know is made three times, of a total beside a power of two.
pub(super) fn trial(form: &Form) -> Other {
    let made = "let made = {}; put(to, [made.bits(), ld_global::<NoHint, NoPrefetch>().read_with(data, made)]);";
    let (before, then) = if is_range(form) {
        let before = "let (p, data) = (range_of(from), from.cast::<u64>()); let size = |which| sizes(thread, which, get(from.add(8 + 4 * which))); \
                      let (primary_size, total_size) = size(0);";
        let more = [1, 2].map(|which| {
            let place = 8 + 8 * which;
            format!(" let (primary_size, total_size) = size({which}); put(to.add({place}), {{}}.bits());")
        });
        (before, made.to_owned() + &more.concat())
    } else {
        let before = "let fraction = (1 + thread) as f32 / 32.0; let property = PROPERTY | (thread as u64 % 16) << 52; \
                      let data = from.cast::<u64>();";
        (before, made.to_owned())
    };
    Other { room: Room::Global, before, then: then.into(), expected }
}

fn is_range(form: &Form) -> bool {
    form.ptx().contains(".range")
}

/// A thread's slot: its policy, and eight bytes loaded under it; then the other policies of a range.
fn expected(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    to[8..16].copy_from_slice(&from[..8]);
    let of: fn(usize, &Form, usize, &[u8]) -> u64 =
        if is_range(form) { range } else { |_, form, thread, _| bits(form, thread) };
    for which in 0..if is_range(form) { 3 } else { 1 } {
        let place = if which == 0 { 0 } else { 8 + 8 * which };
        to[place..place + 8].copy_from_slice(&of(which, form, thread, from).to_le_bytes());
    }
}

/// Of the random bytes that the thread reads.
fn range(which: usize, form: &Form, thread: usize, from: &[u8]) -> u64 {
    let random = |at: usize| u32::from_le_bytes([from[at], from[at + 1], from[at + 2], from[at + 3]]);
    let (primary, total) = sizes(thread, which, random(8 + 4 * which));
    let (_, by_range) = priorities(form);
    by_range(ADDRESS + u64::from(random(0)), primary, total).bits()
}

fn bits(form: &Form, thread: usize) -> u64 {
    if form.ptx().starts_with("createpolicy.cvt") {
        return PROPERTY.bits() | (thread as u64 % 16) << 52;
    }
    let whole = form.rust().contains("::all::");
    let (by_fraction, _) = priorities(form);
    by_fraction(if whole { 1.0 } else { (1 + thread) as f32 / 32.0 }).bits()
}

type ByFraction = fn(f32) -> CachePolicy;
type ByRange = fn(u64, u32, u32) -> CachePolicy;

/// The host's encoders for the priorities that a form names.
fn priorities(form: &Form) -> (ByFraction, ByRange) {
    fn of<P: PolicyPriorities>() -> (ByFraction, ByRange) {
        (CachePolicy::encode_fractional::<P>, CachePolicy::encode_range::<P>)
    }
    let words: Vec<&str> = form.ptx().split('.').filter_map(|word| word.strip_prefix("L2::evict_")).collect();
    match words[..] {
        ["last"] => of::<L2EvictLast>(),
        ["last", "first"] => of::<(L2EvictLast, L2EvictFirst)>(),
        ["last", "unchanged"] => of::<(L2EvictLast, L2EvictUnchanged)>(),
        ["normal"] => of::<L2EvictNormal>(),
        ["normal", "first"] => of::<(L2EvictNormal, L2EvictFirst)>(),
        ["normal", "unchanged"] => of::<(L2EvictNormal, L2EvictUnchanged)>(),
        ["first"] => of::<L2EvictFirst>(),
        ["first", "first"] => of::<(L2EvictFirst, L2EvictFirst)>(),
        ["first", "unchanged"] => of::<(L2EvictFirst, L2EvictUnchanged)>(),
        ["unchanged"] => of::<L2EvictUnchanged>(),
        ["unchanged", "first"] => of::<(L2EvictUnchanged, L2EvictFirst)>(),
        ["unchanged", "unchanged"] => of::<(L2EvictUnchanged, L2EvictUnchanged)>(),
        _ => unreachable!("{} has other priorities than the crate", form.ptx()),
    }
}
