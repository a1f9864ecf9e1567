//! Sums, minima, scans and votes have the values that they say: on a CPU in several orders of its threads, and in the interpreter,
//! where no check finds anything.

use host_tests::check::{forms_check, whole};
use host_tests::tools::device_build::Profile;
use ptx_interpreter::{Program, Trial};
use ptx_kernel::cpu::{Launch, Order};
use rand::seq::IndexedRandom;

use super::{for_gpu, reductions, text_that_is_taken};

/// Sizes of a block: one that is drawn by the seed, and one that is no power of two.
fn sizes() -> Vec<usize> {
    let mut random = forms_check::random("the sizes are");
    let drawn = [32, 256, 1024].sample(&mut random, whole::or(1)).copied();
    [96].into_iter().chain(drawn).collect()
}
const BLOCKS: usize = 2;

/// Numbers of which no two sums are alike by chance.
fn number(i: usize) -> u32 {
    (i as u32).wrapping_mul(2_654_435_761) >> 7
}

fn program(profile: Profile) -> Program {
    let source = for_gpu(include_str!("reductions.rs"));
    Program::parse(&text_that_is_taken("kernel-reductions", &source, profile))
}

/// What the interpreter makes of it, without a finding.
fn interpreted(program: &Program, kernel: &str, threads: usize, x: &[u8], out: usize) -> Vec<u8> {
    let mut trial = Trial::new(program, kernel);
    trial.grid([BLOCKS as u32, 1, 1]).block([threads as u32, 1, 1]).seed(threads as u64);
    trial.buffer(x).and_then(|trial| trial.unwritten(out)).unwrap_or_else(|stop| panic!("{stop}"));
    let report = trial.check();
    assert!(report.is_clean(), "{kernel} of {threads}: {report}");
    trial.content(1).to_vec()
}

/// The least, sums and scans, one after the other.
macro_rules! oracle {
    ($type:ident, $plus:expr) => {
        |x: &[$type], threads: usize| -> Vec<[$type; 9]> {
            let none = $type::default();
            let sum = |x: &[$type]| x.iter().fold(none, |a, b| $plus(a, *b));
            let least = |x: &[$type]| x.iter().copied().reduce(|a, b| if a < b { a } else { b });
            let most = |x: &[$type]| x.iter().copied().reduce(|a, b| if a < b { b } else { a }).unwrap();
            let of = |i: usize| {
                let block = &x[i / threads * threads..][..threads];
                let at = i % threads;
                let (warp, lane) = (&block[at / 32 * 32..][..32], at % 32);
                [
                    sum(warp),
                    sum(&warp[..=lane]),
                    least(&warp[..lane]).unwrap_or(x[i]),
                    most(&warp[lane / 8 * 8..][..8]),
                    sum(block),
                    least(block).unwrap(),
                    most(block),
                    sum(&block[..=at]),
                    sum(&block[..at]),
                ]
            };
            (0..x.len()).map(of).collect()
        }
    };
}

/// On a CPU in each order, and in the interpreter, as the oracle says.
macro_rules! agree {
    ($program:expr, $type:ident $kernel:ident $plus:expr, $of:expr) => {
        for threads in sizes() {
            let x: Vec<$type> = (0..BLOCKS * threads).map($of).collect();
            let expected: Vec<u8> = oracle!($type, $plus)(&x, threads)
                .into_iter()
                // A float's zero has no sign here: the sum of nothing is −0.
                .flat_map(|values| values.map(|value| $plus(value, $type::default())).map($type::to_le_bytes))
                .flatten()
                .collect();
            let bytes = |out: &[[$type; 9]]| -> Vec<u8> {
                out.iter().flatten().flat_map(|value| $plus(*value, $type::default()).to_le_bytes()).collect()
            };
            for order in [Order::Ascending, Order::Descending, Order::Seeded(7)] {
                let mut out = vec![[$type::default(); 9]; x.len()];
                let (from, to) = (x.as_ptr(), out.as_mut_ptr().cast());
                let launch = Launch::new(BLOCKS as u32, threads as u32).order(order);
                // SAFETY: a number of each thread, and nine.
                unsafe { launch.run(|| reductions::$kernel(from, to)) };
                assert!(bytes(&out) == expected, "{} of {threads} threads, {order:?}", stringify!($kernel));
            }
            let x: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
            let out = interpreted($program, stringify!($kernel), threads, &x, expected.len());
            let (out, _) = out.as_chunks::<{ size_of::<$type>() }>();
            let out: Vec<$type> = out.iter().map(|value| $type::from_le_bytes(*value)).collect();
            let (out, _) = out.as_chunks();
            assert!(bytes(out) == expected, "{} of {threads} threads, interpreted", stringify!($kernel));
        }
    };
}

#[test]
fn sums_minima_and_scans_have_the_values_that_they_say() {
    for profile in [Profile::Dev, Profile::Release] {
        let program = program(profile);
        agree!(&program, u32 of_u32 u32::wrapping_add, number);
        agree!(&program, i32 of_i32 i32::wrapping_add, |i| number(i) as i32 - (1 << 24));
        agree!(&program, u64 of_u64 u64::wrapping_add, |i| u64::from(number(i)) << 30);
        agree!(&program, i64 of_i64 i64::wrapping_add, |i| (i64::from(number(i)) - (1 << 24)) << 9);
        // Whole numbers, so that each order of adding gives the same.
        agree!(&program, f32 of_f32 |a: f32, b: f32| a + b, |i| (number(i) % 4096) as f32 - 2048.0);
        agree!(&program, f64 of_f64 |a: f64, b: f64| a + b, |i| f64::from(number(i)) - f64::from(1 << 24));
    }
}

fn votes_of(x: &[u32], threads: usize, i: usize) -> [u32; 10] {
    let block = &x[i / threads * threads..][..threads];
    let at = i % threads;
    let (warp, lane) = (&block[at / 32 * 32..][..32], at % 32);
    let (eight, four) = (&warp[lane / 8 * 8..][..8], &warp[lane / 4 * 4..][..4]);
    let thirds = |x: &[u32]| x.iter().filter(|x| **x % 3 == 0).count() as u32;
    let (low, high) = warp.split_at(16);
    let even = low.iter().enumerate().fold(0, |bits, (lane, x)| bits | u32::from(x % 2 == 0) << lane);
    let of_half = if lane < 16 {
        [low.iter().fold(0, |a: u32, b| a.wrapping_add(*b)), even]
    } else {
        [*high.iter().min().unwrap(), warp[lane ^ 1]]
    };
    let any = block.iter().any(|x| x % 64 == 5);
    let one = four.iter().any(|x| x % 8 == 1);
    let down = if lane % 8 + 3 < 8 { eight[lane % 8 + 3] } else { x[i] };
    [
        any.into(),
        (!any).into(),
        thirds(block),
        thirds(warp),
        one.into(),
        (!one).into(),
        eight[3],
        down,
        of_half[0],
        of_half[1],
    ]
}

#[test]
fn votes_and_parts_of_a_warp_have_the_values_that_they_say() {
    let programs = [Profile::Dev, Profile::Release].map(program);
    for threads in sizes() {
        let x: Vec<u32> = (0..BLOCKS * threads).map(number).collect();
        let expected: Vec<[u32; 10]> = (0..x.len()).map(|i| votes_of(&x, threads, i)).collect();
        for order in [Order::Ascending, Order::Descending, Order::Seeded(9)] {
            let mut out = vec![[0; 10]; x.len()];
            let (from, to) = (x.as_ptr(), out.as_mut_ptr().cast());
            // SAFETY: a number of each thread, and ten.
            unsafe { Launch::new(BLOCKS as u32, threads as u32).order(order).run(|| reductions::votes(from, to)) };
            assert_eq!(out, expected, "{threads} threads, {order:?}");
        }
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        let expected: Vec<u8> = expected.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        for program in &programs {
            let out = interpreted(program, "votes", threads, &bytes, expected.len());
            assert!(out == expected, "{threads} threads, interpreted");
        }
    }
}
