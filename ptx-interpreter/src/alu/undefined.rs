//! Which bits of a result depend on bits that are undefined.

use super::video::{self, is_video};
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
        "mov" | "cvta" | "and" | "or" | "lop3" | "shl" | "shr" | "bfe" | "bfi" | "prmt" | "shf" | "selp" | "brev" => {
            true
        }
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
            ("set" | "setp", 2..=3) if self.is_decided() => 0,
            // It may be a sum less one of its terms: CUB's scans take off again what they have added.
            ("sub", 2) if integer(ty).is_some() && u(0) != 0 && u(1) != 0 => 0,
            ("add" | "sub" | "mul" | "mad" | "neg", _) if integer(ty).is_some() && !has("hi") && !has("sat") => {
                u64::MAX << all.trailing_zeros() & self.sums(width).unwrap_or(u64::MAX)
            }
            ("min" | "max", 2) if integer(ty).is_some() && !has("relu") => {
                let [(least, most), (of_other, most_of_other)] = [self.range(0)?, self.range(1)?];
                let is_first = if has("min") { most <= of_other } else { least >= most_of_other };
                let is_second = if has("min") { most_of_other <= least } else { of_other >= most };
                [is_first, is_second].into_iter().position(|is_it| is_it).map(u)?
            }
            ("brev", 1) => (u(0) & low(width)).reverse_bits() >> (64 - width),
            ("popc", 1) => {
                let known = (v(0) & !u(0)).count_ones();
                between(known.into(), (known + u(0).count_ones()).into())
            }
            ("clz", 1) => {
                let zeros = |value: u64| u64::from(value.leading_zeros());
                let (of_most, of_least) = (zeros(v(0) | u(0)), zeros(v(0) & !u(0)));
                let beyond = 64 - u64::from(integer(ty)?.0);
                between(of_most - beyond, of_least - beyond)
            }
            ("bfind", 1) if ty.starts_with('u') && !has("shiftamt") => {
                let least = (v(0) & !u(0)).checked_ilog2()?;
                between(least.into(), (v(0) | u(0)).ilog2().into())
            }
            (name, 3) if is_video(name) => video::undefined(self.words, self.undefined)?,
            _ => {
                let Type { bits, .. } = Type::parse(ty).filter(|ty| ty.lanes == 2)?;
                let halves = [low(bits), low(bits) << bits];
                halves.into_iter().filter(|half| all & half != 0).fold(0, |all, half| all | half)
            }
        })
    }

    /// The least and the greatest number that an operand may be, of the instruction's type. Signed ones are moved up, so that the lowest is 0.
    fn range(&self, at: usize) -> Option<(u64, u64)> {
        let (bits, is_signed) = integer(self.words.last()?)?;
        let value = self.values[at] ^ if is_signed { 1 << (bits - 1) } else { 0 };
        let undefined = self.undefined[at];
        Some((value & !undefined & low(bits), (value | undefined) & low(bits)))
    }

    /// Whether the known bits of two whole numbers decide how they compare, and nothing else does.
    fn is_decided(&self) -> bool {
        let decided = || {
            let bits = integer(self.words.last()?)?.0;
            let [(least, most), (of_other, most_of_other)] = [self.range(0)?, self.range(1)?];
            let differ = (self.values[0] ^ self.values[1]) & !(self.undefined[0] | self.undefined[1]) & low(bits) != 0;
            Some(match self.words[1] {
                "eq" | "ne" => differ,
                "lt" | "ge" | "lo" | "hs" => most < of_other || least >= most_of_other,
                "gt" | "le" | "hi" | "ls" => least > most_of_other || most <= of_other,
                _ => false,
            })
        };
        self.undefined.get(2).is_none_or(|bits| *bits == 0) && decided() == Some(true)
    }

    /// The bits of a sum or a product that may differ, if it is never too large for its register.
    fn sums(&self, width: u32) -> Option<u64> {
        let (bits, is_signed) = integer(self.words.last()?)?;
        let is_wide = self.words.contains(&"wide");
        if is_signed && is_wide || self.words.contains(&"cc") {
            return None;
        }
        let number = |at: usize, whole: u32, all: bool| {
            u128::from((self.values[at] & !self.undefined[at] | if all { self.undefined[at] } else { 0 }) & low(whole))
        };
        let result = |all: bool| {
            let of = |at: usize| number(at, bits, all);
            match (self.words[0], self.values.len()) {
                ("add", 2) => Some(of(0) + of(1)),
                ("mul", 2) => Some(of(0) * of(1)),
                ("mad", 3) => (of(0) * of(1)).checked_add(number(2, if is_wide { width } else { bits }, all)),
                _ => None,
            }
        };
        let (least, most) = (result(false)?, result(true)?);
        let own = if is_wide { width } else { bits };
        (most <= low(own).into()).then(|| between(least as u64, most as u64))
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

/// The bits that differ among the numbers from one to another.
fn between(least: u64, most: u64) -> u64 {
    low(64 - (least ^ most).leading_zeros())
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
        assert_eq!(of("add.s32", &[0, 1 << 31], &[0xf00, 0], 32), 0xf00);
        assert_eq!(of("sub.s32", &[0, 0], &[0xf00, 0], 32), 0xffff_ff00);
        assert_eq!(of("add.sat.s32", &[0, 0], &[0xf00, 0], 32), 0xffff_ffff);
        assert_eq!(of("mul.f32", &[0, 0], &[1, 0], 32), 0xffff_ffff);
        assert_eq!(of("vabsdiff4.u32.u32.u32", &[0, 0, 0], &[1, 1 << 24, !0], 32), 0xff00_00ff);
        assert_eq!(of("vabsdiff4.u32.u32.u32.add", &[0, 0, 0], &[1, 0, 0], 32), 0xffff_ffff);
        assert_eq!(of("vadd2.s32.s32.u32.sat.d=h1", &[0, 0, 0], &[1 << 16, 1, 1], 32), 0xffff_0001);
        assert_eq!(of("vadd2.s32.s32.u32.a=h33", &[0, 0, 0], &[1, 0, 0], 32), 0xffff_ffff);
        // What the known bits decide.
        assert_eq!(of("setp.lt.u32", &[3, 16], &[12, 0], 1), 0);
        assert_eq!(of("setp.lt.u32", &[3, 15], &[12, 0], 1), 1);
        assert_eq!(of("setp.le.u32", &[3, 15], &[12, 0], 1), 0);
        assert_eq!(of("setp.gt.s32", &[0, 0xffff_ffff], &[0x7fff_ffff, 0], 1), 0);
        assert_eq!(of("setp.gt.u32", &[0, 0xffff_ffff], &[0x8000_0000, 0], 1), 0);
        assert_eq!(of("setp.gt.s32", &[0, 0xffff_ffff], &[0x8000_0000, 0], 1), 1);
        assert_eq!(of("setp.eq.s32", &[2, 1], &[4, 0], 1), 0);
        assert_eq!(of("setp.eq.s32", &[2, 2], &[4, 0], 1), 1);
        assert_eq!(of("setp.eq.and.s32", &[2, 1, 1], &[4, 0, 1], 1), 1);
        assert_eq!(of("setp.lt.f32", &[0, 1 << 30], &[1, 0], 1), 1);
        assert_eq!(of("min.u32", &[3, 99], &[4, 0], 32), 4);
        assert_eq!(of("min.u32", &[99, 3], &[4, 0], 32), 0);
        assert_eq!(of("max.s32", &[0xffff_fff0, 3], &[1, 0], 32), 0);
        assert_eq!(of("max.u32", &[3, 4], &[4, 0], 32), 0xffff_ffff);
        assert_eq!(of("brev.b32", &[0], &[3], 32), 0xc000_0000);
        assert_eq!(of("popc.b32", &[0xf0], &[3], 32), 3);
        assert_eq!(of("popc.b32", &[0xe0], &[0x1f], 32), 15);
        assert_eq!(of("clz.b32", &[0x100], &[0xff], 32), 0);
        assert_eq!(of("clz.b32", &[1], &[2], 32), 1);
        assert_eq!(of("clz.b64", &[0], &[1], 32), 127);
        assert_eq!(of("bfind.u32", &[0x100], &[0xff], 32), 0);
        assert_eq!(of("bfind.u32", &[0], &[1], 32), 0xffff_ffff);
        assert_eq!(of("mul.lo.s32", &[0, 0], &[u64::MAX, 0], 32), 0);
        assert_eq!(of("mul.wide.u32", &[0, 4], &[0xff, 0], 64), 0x3ff);
        assert_eq!(of("mul.wide.s32", &[0, 4], &[0xff, 0], 64), !0);
        assert_eq!(of("mad.lo.u32", &[0, 0, 5], &[0xffff_ffff, 0, 2], 32), 3);
        assert_eq!(of("add.u32", &[8, 0], &[7, 0], 32), 7);
        assert_eq!(of("add.s32", &[0xffff_fff8, 1], &[7, 0], 32), 0xffff_ffff);
    }
}
