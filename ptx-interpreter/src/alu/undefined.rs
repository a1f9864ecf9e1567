//! Which bits of a result depend on bits that are undefined.

use super::words::{Type, signed};

/// The operands of an instruction in one thread.
pub(crate) struct Sources<'a> {
    /// The parts of its opcode.
    pub(crate) words: &'a [&'a str],
    pub(crate) values: &'a [u64],
    /// The bits of each that are undefined.
    pub(crate) undefined: &'a [u64],
}

/// Instructions that only move bits to other places, or choose some.
pub(crate) fn moves_bits(words: &[&str]) -> bool {
    match words[0] {
        "mov" | "cvta" | "and" | "or" | "lop3" | "shl" | "shr" | "bfe" | "bfi" | "prmt" | "shf" | "selp" => true,
        "cvt" => words[words.len().saturating_sub(2)..].iter().all(|ty| integer(ty).is_some()),
        _ => false,
    }
}

impl Sources<'_> {
    /// The undefined bits of a result of `width` bits.
    pub(crate) fn result(&self, width: u32) -> u64 {
        let any = self.undefined.iter().any(|bits| *bits != 0);
        let bits = if any { self.bits(width).unwrap_or(u64::MAX) } else { 0 };
        bits & low(width)
    }

    /// None if all may be.
    fn bits(&self, width: u32) -> Option<u64> {
        let (v, u) = (|at: usize| self.values[at], |at: usize| self.undefined[at]);
        let has = |word: &str| self.words.contains(&word);
        let is_known = |at: usize| (u(at) == 0).then_some(v(at));
        let ty = self.words.last()?;
        let all = self.undefined.iter().fold(0, |all, bits| all | bits);
        Some(match (self.words[0], self.values.len()) {
            ("mov" | "cvta", 1) => u(0),
            ("not", 1) => u(0),
            ("xor", 2) => u(0) | u(1),
            ("and", 2) => u(0) & u(1) | u(0) & v(1) | u(1) & v(0),
            ("or", 2) => u(0) & u(1) | u(0) & !v(1) | u(1) & !v(0),
            ("lop3", 4) => {
                let of = |[a, b, c]: [u64; 3]| {
                    let rows = (0..8).filter(|row| v(3) >> row & 1 == 1);
                    let is = |value: u64, bit: u64| if bit == 1 { value } else { !value };
                    rows.fold(0, |all, row| all | is(a, row >> 2) & is(b, row >> 1 & 1) & is(c, row & 1))
                };
                let known = of([v(0), v(1), v(2)]);
                let other =
                    |which: u64| of([0, 1, 2].map(|at| if which >> at & 1 == 1 { v(at) ^ u(at) } else { v(at) }));
                (1..8).fold(0, |all, which| all | known ^ other(which))
            }
            ("shl", 2) => u(0).checked_shl(is_known(1)? as u32).unwrap_or(0),
            ("shr", 2) => {
                let by = is_known(1)?.min(63) as u32;
                let is_signed = ty.starts_with('s');
                if is_signed { (signed(u(0).into(), width) >> by) as u64 } else { (u(0) & low(width)) >> by }
            }
            ("selp", 3) => match is_known(2) {
                Some(0) => u(1),
                Some(_) => u(0),
                None => u(0) | u(1) | (v(0) ^ v(1)),
            },
            ("bfe", 3) => {
                let (from, count) = (is_known(1)? as u32 & 255, is_known(2)? as u32 & 255);
                let field = u(0).checked_shr(from).unwrap_or(0) & low(count.min(64));
                if ty.starts_with('s') && field >> count.saturating_sub(1).min(63) & 1 == 1 {
                    return None;
                }
                field
            }
            ("bfi", 4) => {
                let (from, count) = (is_known(2)? as u32 & 255, is_known(3)? as u32 & 255);
                let field = low(count.min(64)).checked_shl(from).unwrap_or(0);
                u(1) & !field | u(0).checked_shl(from).unwrap_or(0) & field
            }
            ("prmt", 3) if self.words.len() == 2 => {
                let (both, selector) = (u(0) & low(32) | u(1) << 32, is_known(2)?);
                let byte = |at: u32| {
                    let selected = (selector >> (4 * at) & 15) as u32;
                    let byte = both >> (8 * (selected & 7)) & 255;
                    if selected & 8 == 0 { byte } else { 255 * (byte >> 7) }
                };
                (0..4).fold(0, |all, at| all | byte(at) << (8 * at))
            }
            ("shf", 3) => {
                let (both, by) = (u(0) & low(32) | u(1) << 32, is_known(2)? as u32);
                let by = if has("clamp") { by.min(32) } else { by & 31 };
                if has("l") { both << by >> 32 } else { both >> by }
            }
            ("cvt", 1) => self.converted(u(0), width)?,
            ("cvt", 2) if ty == &"f32" => {
                let half = low(width / 2);
                (if u(0) == 0 { 0 } else { half << (width / 2) }) | (if u(1) == 0 { 0 } else { half })
            }
            ("set" | "setp", 3) if has("and") && is_known(2) == Some(0) => 0,
            ("set" | "setp", 3) if has("or") && is_known(2) == Some(1) => 0,
            ("add" | "sub" | "mul" | "mad" | "neg", _) if integer(ty).is_some() && !has("hi") => {
                u64::MAX << all.trailing_zeros()
            }
            _ => {
                let Type { bits, .. } = Type::parse(ty).filter(|ty| ty.lanes == 2)?;
                let halves = [low(bits), low(bits) << bits];
                halves.into_iter().filter(|half| all & half != 0).fold(0, |all, half| all | half)
            }
        })
    }

    /// Of a conversion of whole numbers.
    fn converted(&self, undefined: u64, width: u32) -> Option<u64> {
        let [.., to, from] = self.words else { return None };
        let ((to_bits, _), (from_bits, is_signed)) = (integer(to)?, integer(from)?);
        if self.words.contains(&"sat") {
            return None;
        }
        let own = undefined & low(from_bits);
        let wide = if is_signed && own >> (from_bits - 1) & 1 == 1 { own | !low(from_bits) } else { own };
        Some(wide & low(if to.starts_with('s') { width } else { to_bits }))
    }
}

/// The bits of a whole number of a type, and whether it is signed.
fn integer(ty: &str) -> Option<(u32, bool)> {
    let ty = Type::parse(ty).filter(|ty| ty.lanes == 1 && !ty.is_float())?;
    Some((ty.bits, ty.is_signed()))
}

fn low(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits.min(64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_results() {
        let of = |opcode: &str, values: &[u64], undefined: &[u64], width: u32| {
            let words: Vec<&str> = opcode.split('.').collect();
            Sources { words: &words, values, undefined }.result(width)
        };
        assert_eq!(of("and.b32", &[7, 0xff], &[0xffff, 0], 32), 0xff);
        assert_eq!(of("and.b32", &[0, 0], &[0, u64::MAX], 32), 0);
        assert_eq!(of("or.b32", &[0, 0xff00], &[0xffff, 0], 32), 0xff);
        assert_eq!(of("lop3.b32", &[7, 0xff, 0, 0xc0], &[0xffff, 0, 0, 0], 32), 0xff);
        assert_eq!(of("lop3.b32", &[7, 0xff, 0, 0x96], &[0xffff, 0, 0, 0], 32), 0xffff);
        assert_eq!(of("shl.b32", &[0, 16], &[0xffff, 0], 32), 0xffff_0000);
        assert_eq!(of("shl.b32", &[0, 16], &[0xffff, 1], 32), 0xffff_ffff);
        assert_eq!(of("shr.u32", &[0, 16], &[0xffff, 0], 32), 0);
        assert_eq!(of("shr.s32", &[0, 8], &[0x8000_0000, 0], 32), 0xff80_0000);
        assert_eq!(of("bfe.u32", &[0, 8, 8], &[0xff, 0, 0], 32), 0);
        assert_eq!(of("bfi.b32", &[0, 0, 8, 8], &[0xff, 0xf, 0, 0], 32), 0xff0f);
        assert_eq!(of("prmt.b32", &[0, 0, 0x7610], &[0xffff_0000, 0xff, 0], 32), 0);
        assert_eq!(of("prmt.b32", &[0, 0, 0x4320], &[0xffff_0000, 0xff, 0], 32), 0xffff_ff00);
        assert_eq!(of("selp.b32", &[1, 2, 1], &[0, u64::MAX, 0], 32), 0);
        assert_eq!(of("selp.b32", &[1, 3, 1], &[0, 0, 1], 32), 2);
        assert_eq!(of("setp.lt.and.s32", &[1, 2, 0], &[u64::MAX, 0, 0], 1), 0);
        assert_eq!(of("setp.lt.s32", &[1, 2], &[u64::MAX, 0], 1), 1);
        assert_eq!(of("cvt.u32.u8", &[0], &[0xff00], 32), 0);
        assert_eq!(of("cvt.s32.s8", &[0], &[0x80], 32), 0xffff_ff80);
        assert_eq!(of("cvt.rn.f32.s32", &[0], &[1], 32), 0xffff_ffff);
        assert_eq!(of("cvt.rn.bf16x2.f32", &[0, 0], &[1, 0], 32), 0xffff_0000);
        assert_eq!(of("cvt.rn.satfinite.e4m3x2.f32", &[0, 0], &[0, 1], 16), 0xff);
        assert_eq!(of("add.f32x2", &[0, 0], &[1 << 40, 0], 64), 0xffff_ffff << 32);
        assert_eq!(of("fma.rn.f16x2", &[0, 0, 0], &[1, 0, 0], 32), 0xffff);
        assert_eq!(of("add.s32", &[0, 0], &[0xf00, 0], 32), 0xffff_ff00);
        assert_eq!(of("mul.f32", &[0, 0], &[1, 0], 32), 0xffff_ffff);
    }
}
