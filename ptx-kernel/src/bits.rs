//! Bytes that change places, and bits that are found.

use ptx_intrinsics::gate::{BitMasks, OnTarget};

gated! { bmsk_clamp bmsk_wrap }

arithmetic! {
    /// Four of the eight bytes of `a` and `b`, those of `a` the lowest. Each hexadecimal digit of `selector` names one, the lowest digit
    /// the lowest byte of the result. With 8 added it stands for its byte's sign, eight times.
    #[doc(alias = "__byte_perm")]
    prmt(a: u32, b: u32, selector: u32) -> u32, "prmt.b32" "Any target."
        = permuted(a, b, |at| {
            let digit = selector >> (4 * at) & 15;
            (digit & 7, digit & 8 != 0)
        });
    /// Four bytes from the byte `at` on, upwards.
    prmt_f4e(a: u32, b: u32, at: u32) -> u32, "prmt.b32.f4e" "Any target." = permuted(a, b, |i| ((at & 3) + i, false));
    /// Four bytes from the byte `at` on, downwards. Below the lowest of `a` is the highest of `b`.
    prmt_b4e(a: u32, b: u32, at: u32) -> u32, "prmt.b32.b4e" "Any target." = permuted(a, b, |i| (((at & 3) + 8 - i) & 7, false));
    /// The byte `at` of `a`, four times.
    prmt_rc8(a: u32, b: u32, at: u32) -> u32, "prmt.b32.rc8" "Any target." = permuted(a, b, |_| (at & 3, false));
    /// The bytes of `a`; those below `at` are the byte `at`.
    prmt_ecl(a: u32, b: u32, at: u32) -> u32, "prmt.b32.ecl" "Any target." = permuted(a, b, |i| (i.max(at & 3), false));
    /// The bytes of `a`; those above `at` are the byte `at`.
    prmt_ecr(a: u32, b: u32, at: u32) -> u32, "prmt.b32.ecr" "Any target." = permuted(a, b, |i| (i.min(at & 3), false));
    /// The half `at` of `a`, twice.
    prmt_rc16(a: u32, b: u32, at: u32) -> u32, "prmt.b32.rc16" "Any target." = permuted(a, b, |i| ((at & 1) * 2 + (i & 1), false));

    /// The place of the highest bit that is set, or `0xffffffff` of 0.
    bfind_u32(x: u32) -> u32, "bfind.u32" "Any target." = highest(x.into());
    /// The place of the highest bit that is set.
    bfind_u64(x: u64) -> u32, in (reg64 -> reg32), "bfind.u64" "Any target." = highest(x);
    /// The place of the highest bit that differs from the sign, or `0xffffffff` of 0 and −1.
    bfind_s32(x: i32) -> u32, "bfind.s32" "Any target." = highest(unsigned(x.into()));
    /// The place of the highest bit that differs from the sign.
    bfind_s64(x: i64) -> u32, in (reg64 -> reg32), "bfind.s64" "Any target." = highest(unsigned(x));
    /// By how many bits a shift to the left brings the highest bit that is set to the top, or `0xffffffff` of 0.
    bfind_shiftamt_u32(x: u32) -> u32, "bfind.shiftamt.u32" "Any target." = from_top(31, highest(x.into()));
    /// By how many bits a shift to the left brings the highest bit that is set to the top.
    bfind_shiftamt_u64(x: u64) -> u32, in (reg64 -> reg32), "bfind.shiftamt.u64" "Any target." = from_top(63, highest(x));
    /// By how many bits a shift to the left brings the highest bit that differs from the sign to the top.
    bfind_shiftamt_s32(x: i32) -> u32, "bfind.shiftamt.s32" "Any target." = from_top(31, highest(unsigned(x.into())));
    /// By how many bits a shift to the left brings the highest bit that differs from the sign to the top.
    bfind_shiftamt_s64(x: i64) -> u32, in (reg64 -> reg32), "bfind.shiftamt.s64" "Any target." = from_top(63, highest(unsigned(x)));

    /// `length` bits that are set, from the bit `at` on. More than 32 count as 32.
    bmsk_clamp(at: u32, length: u32) -> u32, "bmsk.clamp.b32" "Needs sm_70 and ptx76." BitMasks
        = mask(at.min(32), length.min(32));
    /// `length` bits that are set, from the bit `at` on. Of both numbers only the lowest five bits count.
    bmsk_wrap(at: u32, length: u32) -> u32, "bmsk.wrap.b32" "Needs sm_70 and ptx76." BitMasks = mask(at & 31, length & 31);
}

/// The bytes of both that `place` names for each byte of the result, or their signs.
#[cfg(not(target_arch = "nvptx64"))]
fn permuted(a: u32, b: u32, place: impl Fn(u32) -> (u32, bool)) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    u32::from_le_bytes([0, 1, 2, 3].map(|at| {
        let (from, sign) = place(at);
        let byte = (both >> (8 * from)) as u8;
        if sign { (byte as i8 >> 7) as u8 } else { byte }
    }))
}

#[cfg(not(target_arch = "nvptx64"))]
fn unsigned(x: i64) -> u64 {
    (x ^ x >> 63) as u64
}

#[cfg(not(target_arch = "nvptx64"))]
fn highest(bits: u64) -> u32 {
    bits.checked_ilog2().unwrap_or(u32::MAX)
}

#[cfg(not(target_arch = "nvptx64"))]
fn from_top(top: u32, found: u32) -> u32 {
    if found == u32::MAX { found } else { top - found }
}

#[cfg(not(target_arch = "nvptx64"))]
fn mask(at: u32, length: u32) -> u32 {
    (((1u64 << length) - 1) << at) as u32
}
