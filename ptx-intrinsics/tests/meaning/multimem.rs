//! `multimem` on a CPU, where a multimem address stands for one copy: what it loads, stores and changes.

use ptx_intrinsics::catalogue;
use ptx_intrinsics::grammar::multimem::judge_multimem;
use ptx_intrinsics::prelude::*;
use ptx_intrinsics::ptx::multimem::{changed, reduced, stored};

use crate::atomics::{Words, packed};
use crate::kind;

/// How many forms there are.
pub(crate) const FORMS: usize = 3672;

#[repr(align(16))]
struct Place([u8; 48]);

impl Place {
    fn new() -> Self {
        Self(std::array::from_fn(|at| (at * 7 + 1) as u8))
    }

    fn middle(&mut self) -> *mut u8 {
        (&raw mut self.0).cast::<u8>().wrapping_add(16)
    }
}

/// Does what a form says at 16 bytes, and gives what a load gives.
fn done(ptx: &'static str, place: &mut Place, value: [u8; 16]) -> Option<[u8; 16]> {
    let (words, _) = judge_multimem(ptx).expect("the catalogue's own words");
    let p = place.middle();
    macro_rules! of {
        ($t:ty) => {{
            let value = u128::from_le_bytes(value) as $t;
            // SAFETY: the place is this function's own, and 16 bytes aligned to 16.
            unsafe {
                if ptx.starts_with("multimem.ld_reduce") {
                    return Some(u128::from(reduced::<$t>(words, p.cast())).to_le_bytes());
                }
                let does = if ptx.starts_with("multimem.st") { stored::<$t> } else { changed::<$t> };
                does(words, p.cast(), value);
            }
        }};
    }
    match words.bytes() {
        4 => of!(u32),
        8 => of!(u64),
        _ => of!(u128),
    }
    None
}

#[test]
#[cfg_attr(miri, ignore = "it walks the whole catalogue, which takes an hour there")]
fn every_multimem_is_of_one_copy() {
    let value: [u8; 16] = std::array::from_fn(|at| 0x40 - 2 * at as u8);
    let mut forms = 0;
    for form in catalogue::forms().filter(|form| kind(form) == 3) {
        let ptx: &'static str = form.ptx().to_owned().leak();
        let bytes = judge_multimem(ptx).expect("it is listed").0.bytes();
        let (before, mut place) = (Place::new(), Place::new());
        let given = done(ptx, &mut place, value);
        let mut expected = Place::new();
        match given {
            Some(given) => assert_eq!(given[..bytes], before.0[16..16 + bytes], "{ptx}"),
            None if ptx.starts_with("multimem.st") => expected.0[16..16 + bytes].copy_from_slice(&value[..bytes]),
            None => {
                let words = Words::of(ptx);
                let each = words.bytes_of_a_number();
                let numbers = |bytes: &[u8]| -> Vec<u128> {
                    bytes
                        .chunks(each)
                        .map(|number| number.iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte)))
                        .collect()
                };
                let (old, by) = (numbers(&before.0[16..16 + bytes]), numbers(&value[..bytes]));
                let new: Vec<u128> = old.iter().zip(&by).map(|(old, by)| words.after(*old, *by, 0)).collect();
                expected.0[16..16 + bytes].copy_from_slice(&packed(&new, each)[..bytes]);
            }
        }
        assert_eq!(place.0, expected.0, "{ptx}");
        forms += 1;
    }
    assert_eq!(forms, FORMS);
}

/// Each way to write one, and the types of Rust that count as PTX's.
#[test]
fn it_is_written_in_ptx_s_words() {
    let (mut x, mut bits) = (7u32, B32(0b1100));
    let mut row = V8::new([B8(1), B8(2), B8(3), B8(4), B8(5), B8(6), B8(7), B8(8)]);
    let mut halves = V4::new([B32(0x3c00_4000); 4]);
    let (holds, fails) = (true, false);
    // SAFETY: the addresses are those of variables.
    unsafe {
        assert_eq!(ptx!(multimem.ld_reduce.weak.add.u32[&raw const x]), 7);
        assert_eq!(ptx!(@holds multimem.ld_reduce.acquire.sys.global.min.u32 [&raw const x], else 9), 7);
        assert_eq!(ptx!(@fails multimem.ld_reduce.min.u32 [&raw const x], else 9), 9);
        let _: u32 = ptx!(@(x == 0) multimem.ld_reduce.max.u32 [&raw const x], else _);
        ptx!(@fails multimem.st.u32 [&raw mut x], 1);
        ptx!(@fails multimem.red.add.u32 [&raw mut x], 1);
        assert_eq!(x, 7);
        ptx!(@holds multimem.st.release.sys.global.u32 [&raw mut x], 1);
        ptx!(@holds multimem.red.relaxed.gpu.add.u32 [&raw mut x], 2);
        assert_eq!(x, 3);
        ptx!(multimem.red.and.b32[&raw mut bits], B32(0b1010));
        ptx!(multimem.red.or.b32[&raw mut x], 4);
        assert_eq!((bits, x), (B32(0b1000), 7));
        let sums = ptx!(multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.v8.e4m3 [&raw const row]);
        assert_eq!(sums, row);
        ptx!(multimem.st.v8.e5m2[&raw mut row], V8::new([B8(9); 8]));
        assert_eq!(row.0, [B8(9); 8]);
        ptx!(multimem.red.release.sys.global.add.v4.f16x2[&raw mut halves], halves);
        assert_eq!(halves.0, [B32(0x4000_4400); 4]);
        assert_eq!(ptx!(multimem.ld_reduce.add.acc::f32.v4.bf16x2 [&raw const halves]), halves);
    }
}
