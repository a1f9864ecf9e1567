//! On a CPU an atomic is one for each element, and for other threads too.

use std::thread;

use ptx_intrinsics::prelude::*;

/// What was at the value, and what is there after.
macro_rules! change {
    ($value:expr, $($words:tt)*) => {{
        let mut value = $value;
        let p = &raw mut value;
        // SAFETY: `p` is the address of a value of the words' type.
        let old = unsafe { change!(@ p $($words)*) };
        (old, value)
    }};
    (@ $p:ident $op:ident . $($words:tt)*) => { change!(@words $p $op (.) $($words)*) };
    (@words $p:ident $op:ident ($($done:tt)*) [] $($operands:tt)*) => { ptx!($op $($done)* [$p] $($operands)*) };
    (@words $p:ident $op:ident ($($done:tt)*) $word:tt $($rest:tt)*) => { change!(@words $p $op ($($done)* $word) $($rest)*) };
}

#[test]
fn integers() {
    assert_eq!(change!(B32(0b1100), atom.and.b32 [], B32(0b0110)), (B32(0b1100), B32(0b0100)));
    assert_eq!(change!(0b1100u64, atom.or.b64 [], 0b0110), (0b1100, 0b1110));
    assert_eq!(change!(0b1100i32, atom.global.xor.b32 [], 0b0110), (0b1100, 0b1010));
    assert_eq!(change!(5u32, atom.relaxed.cta.shared.exch.b32 [], 6), (5, 6));
    assert_eq!(change!(u32::MAX, atom.add.u32 [], 3), (u32::MAX, 2));
    assert_eq!(change!(-5i32, atom.add.s32 [], 3), (-5, -2));
    assert_eq!(change!(u64::MAX - 1, atom.release.gpu.add.u64 [], 3), (u64::MAX - 1, 1));
    assert_eq!(change!(-5i32, atom.min.s32 [], 3), (-5, -5));
    assert_eq!(change!(-5i32 as u32, atom.min.u32 [], 3), (-5i32 as u32, 3));
    assert_eq!(change!(-5i64, atom.acquire.sys.max.s64 [], 3), (-5, 3));
    assert_eq!(change!(7u64, atom.max.u64 [], 3), (7, 7));
}

#[test]
fn counting() {
    let inc = |from, to| change!(from, atom.inc.u32 [], to).1;
    assert_eq!([inc(0, 3), inc(2, 3), inc(3, 3), inc(9, 3)], [1, 3, 0, 0]);
    let dec = |from, to| change!(from, atom.dec.u32 [], to).1;
    assert_eq!([dec(0, 3), dec(1, 3), dec(3, 3), dec(9, 3)], [3, 0, 2, 3]);
}

#[test]
fn comparing() {
    assert_eq!(change!(B16(7), atom.cas.b16 [], B16(7), B16(9)), (B16(7), B16(9)));
    assert_eq!(change!(7u32, atom.acq_rel.gpu.global.cas.b32 [], 8, 9), (7, 7));
    assert_eq!(change!(7i64, atom.cas.b64 [], 7, -9), (7, -9));
    let long = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdefu128;
    assert_eq!(change!(long, atom.cas.b128 [], long, 1), (long, 1));
    assert_eq!(change!(long, atom.cas.b128 [], long + (1 << 64), 1), (long, long));
    assert_eq!(change!(B128(long), atom.exch.b128 [], B128(5)), (B128(long), B128(5)));
}

#[test]
fn floats() {
    assert_eq!(change!(1.5f32, atom.add.f32 [], -0.25), (1.5, 1.25));
    assert_eq!(change!(1.5f32, atom.add.noftz.f32 [], -0.25), (1.5, 1.25));
    assert_eq!(change!(1.5f64, atom.add.f64 [], 2.0), (1.5, 3.5));
    let pair = V2::new([1.0f32, 2.0]);
    assert_eq!(change!(pair, atom.global.add.v2.f32 [], V2::new([0.5, -0.5])), (pair, V2::new([1.5, 1.5])));
    let four = V4::new([1.0f32, 2.0, 3.0, 4.0]);
    assert_eq!(change!(four, atom.add.v4.f32 [], V4::new([1.0; 4])), (four, V4::new([2.0, 3.0, 4.0, 5.0])));
}

/// 1.0, 2.0 and so on, and what is no number.
const HALF: [u16; 4] = [0x3c00, 0x4000, 0xbc00, 0x7e00];

#[test]
fn floats_of_16_bits() {
    let [one, two, minus_one, none] = HALF.map(B16);
    assert_eq!(change!(one, atom.add.noftz.f16 [], one), (one, two));
    // 1.0 is 0x3f80 and 2.0 0x4000 in bf16.
    assert_eq!(change!(B16(0x3f80), atom.add.noftz.bf16 [], B16(0x3f80)), (B16(0x3f80), B16(0x4000)));
    assert_eq!(change!(B32(0x3c00_3c00), atom.add.noftz.f16x2 [], B32(0xbc00_3c00)).1, B32(0x0000_4000));
    let of = V4::new([one, two, minus_one, none]);
    let with = V4::new([two, one, none, minus_one]);
    assert_eq!(change!(of, atom.min.noftz.v4.f16 [], with).1, V4::new([one, one, minus_one, minus_one]));
    assert_eq!(change!(of, atom.max.noftz.v4.f16 [], with).1, V4::new([two, two, minus_one, minus_one]));
    let zeroes = V2::new([B16(0x0000), B16(0x8000)]);
    let others = V2::new([B16(0x8000), B16(0x0000)]);
    assert_eq!(change!(zeroes, atom.min.noftz.v2.bf16 [], others).1, V2::new([B16(0x8000); 2]));
    assert_eq!(change!(zeroes, atom.max.noftz.v2.bf16 [], others).1, V2::new([B16(0x0000); 2]));
}

#[cfg(feature = "half")]
#[test]
fn floats_of_the_half_crate() {
    use half::{bf16, f16};

    let (one, two) = (f16::from_f32(1.0), f16::from_f32(2.0));
    assert_eq!(change!(one, atom.add.noftz.f16 [], one), (one, two));
    assert_eq!(change!(V8::new([one; 8]), atom.add.noftz.v4.f16x2 [], V8::new([one; 8])).1, V8::new([two; 8]));
    let (one, two) = (bf16::from_f32(1.0), bf16::from_f32(2.0));
    assert_eq!(change!(V2::new([one; 2]), atom.add.noftz.bf16x2 [], V2::new([one; 2])).1, V2::new([two; 2]));
}

#[test]
fn predicates_and_policies() {
    let mut value = 1u32;
    let p = &raw mut value;
    let nowhere = std::ptr::null_mut::<u32>();
    let policy = CachePolicy::EVICT_FIRST;
    // SAFETY: `p` is the address of a number, and `nowhere` is not touched.
    unsafe {
        let no = *p > 1;
        assert_eq!(ptx!(@no atom.add.u32 [nowhere], 1, else 9), 9);
        assert_eq!(ptx!(@no atom.global.add.L2::cache_hint.u32 [nowhere], 1, policy, else 9), 9);
        assert_eq!(ptx!(@no atom.cas.b32 [nowhere], 1, 2, else 9), 9);
        let _: u32 = ptx!(@no atom.add.u32 [nowhere], 1, else _);
        let _: u32 = ptx!(@no atom.cas.b32 [nowhere], 1, 2, else _);
        ptx!(@no red.add.u32 [nowhere], 1);
        let yes = !no;
        assert_eq!(ptx!(@yes atom.add.u32 [p], 1, else 9), 1);
        assert_eq!(ptx!(@(yes && !no) atom.global.add.L2::cache_hint.u32 [p], 1, policy, else 9), 2);
        assert_eq!(ptx!(@yes atom.cas.b32 [p], 3, 4, else 9), 3);
        ptx!(@yes red.add.u32 [p], 1);
        ptx!(red.release.gpu.global.add.L2::cache_hint.u32 [p], 1, policy);
        assert_eq!(*p, 6);
    }
}

/// Nothing that one thread adds is lost to another.
#[test]
fn threads() {
    const EACH: u64 = if cfg!(miri) { 20 } else { 20_000 };
    struct Sums {
        count: u64,
        float: f32,
        pair: V2<f32>,
        long: u128,
    }
    let mut sums = Sums { count: 0, float: 0.0, pair: V2::default(), long: 0 };
    let at = [
        (&raw mut sums.count).addr(),
        (&raw mut sums.float).addr(),
        (&raw mut sums.pair).addr(),
        (&raw mut sums.long).addr(),
    ];
    let exposed = (&raw mut sums).expose_provenance();
    assert_ne!(exposed, 0);
    let add = || {
        let [count, float, pair, long] = at;
        let (count, float) =
            (std::ptr::with_exposed_provenance_mut::<u64>(count), std::ptr::with_exposed_provenance_mut::<f32>(float));
        let (pair, long) = (
            std::ptr::with_exposed_provenance_mut::<V2<f32>>(pair),
            std::ptr::with_exposed_provenance_mut::<u128>(long),
        );
        for _ in 0..EACH {
            // SAFETY: they are the addresses of the sums, which all threads change by atomics alone.
            unsafe {
                ptx!(red.relaxed.gpu.add.u64[count], 1);
                ptx!(red.add.f32[float], 1.0);
                ptx!(red.global.add.v2.f32[pair], V2::new([1.0, 2.0]));
                let mut seen = ptx!(atom.exch.b128[long], u128::MAX);
                while seen == u128::MAX {
                    thread::yield_now();
                    seen = ptx!(atom.exch.b128[long], u128::MAX);
                }
                ptx!(atom.exch.b128[long], seen + 1);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(add);
        }
    });
    let all = 4 * EACH;
    assert_eq!((sums.count, sums.float, sums.pair), (all, all as f32, V2::new([all as f32, 2.0 * all as f32])));
    assert_eq!(sums.long, u128::from(all));
}
