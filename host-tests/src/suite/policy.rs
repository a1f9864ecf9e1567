//! The bits that every `createpolicy` has to give, by the host's own encoders.

use ptx_intrinsics::catalogue::Form;
use ptx_intrinsics::{CachePolicy, L2EvictFirst, L2EvictLast, L2EvictNormal, L2EvictUnchanged, PolicyPriorities};

/// Where the ranges begin: nothing is read there.
pub(super) const ADDRESS: u64 = 0x7f00_0000_0000;

/// What is converted: a property of CUDA's host interface has the bits of a policy. Threads have other fractions.
pub(super) const PROPERTY: CachePolicy = CachePolicy::encode_fractional::<(L2EvictLast, L2EvictFirst)>(0.01);

/// A thread's slot: its policy, and eight bytes loaded under it.
pub(super) fn expected(form: &Form, thread: usize, from: &[u8], to: &mut [u8]) {
    to[..8].copy_from_slice(&bits(form, thread).to_le_bytes());
    to[8..16].copy_from_slice(&from[..8]);
}

fn bits(form: &Form, thread: usize) -> u64 {
    if form.ptx().starts_with("createpolicy.cvt") {
        return PROPERTY.bits() | (thread as u64 % 16) << 52;
    }
    let words: Vec<&str> = form.ptx().split('.').filter_map(|word| word.strip_prefix("L2::evict_")).collect();
    let of = match words[..] {
        ["last"] => of::<L2EvictLast>,
        ["last", "first"] => of::<(L2EvictLast, L2EvictFirst)>,
        ["last", "unchanged"] => of::<(L2EvictLast, L2EvictUnchanged)>,
        ["normal"] => of::<L2EvictNormal>,
        ["normal", "first"] => of::<(L2EvictNormal, L2EvictFirst)>,
        ["normal", "unchanged"] => of::<(L2EvictNormal, L2EvictUnchanged)>,
        ["first"] => of::<L2EvictFirst>,
        ["first", "first"] => of::<(L2EvictFirst, L2EvictFirst)>,
        ["first", "unchanged"] => of::<(L2EvictFirst, L2EvictUnchanged)>,
        ["unchanged"] => of::<L2EvictUnchanged>,
        ["unchanged", "first"] => of::<(L2EvictUnchanged, L2EvictFirst)>,
        ["unchanged", "unchanged"] => of::<(L2EvictUnchanged, L2EvictUnchanged)>,
        _ => unreachable!("{} has other priorities than the crate", form.ptx()),
    };
    of(form, thread).bits()
}

fn of<P: PolicyPriorities>(form: &Form, thread: usize) -> CachePolicy {
    if form.ptx().contains(".range") {
        let (address, primary) = (ADDRESS + 4096 * thread as u64, 4096 * (1 + thread as u32));
        return CachePolicy::encode_range::<P>(address, primary, 1 << 18);
    }
    let whole = form.rust().contains("::all::");
    CachePolicy::encode_fractional::<P>(if whole { 1.0 } else { (1 + thread) as f32 / 32.0 })
}
