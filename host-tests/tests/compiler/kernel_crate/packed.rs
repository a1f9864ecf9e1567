//! Floats of 16 bits have the values that a CPU gives them, where the interpreter runs the PTX; each function is one instruction.

use host_tests::check::forms_check;
use host_tests::tools::device_build::Profile;
use ptx_kernel::cpu::Launch;
use rand::RngExt;

use super::{for_gpu, halves, is_that_of_a_cpu, text_of, with_word};

const BLOCKS: u32 = 12;
const THREADS: u32 = 128;
/// How many numbers a thread gives.
const GIVEN: usize = 24;

/// Halves of which sums, products and roundings are rare cases: zeros, the least numbers, ones and what is next to them, ties, the
/// largest numbers, infinities, NaN.
const SPECIAL: [u16; 24] = [
    0, 1, 2, 0x03ff, 0x0400, 0x0080, 0x007f, 0x1000, 0x1001, 0x3b80, 0x3c00, 0x3c01, 0x3f80, 0x3f81, 0x477f, 0x7bff,
    0x7c00, 0x7c01, 0x7f7f, 0x7f80, 0x7fc0, 0x7fff, 0x3380, 0x6400,
];

fn words() -> Vec<[u32; 3]> {
    let mut random = forms_check::random("the numbers are");
    let mut half = |special: bool| match special {
        true => SPECIAL[random.random_range(0..SPECIAL.len())] | random.random_range(0..2u16) << 15,
        false => random.random(),
    };
    let mut word = |at: u32| u32::from(half(!at.is_multiple_of(3))) << 16 | u32::from(half(at % 3 != 1));
    (0..BLOCKS * THREADS).map(|at| [0, 1, 2].map(|place| word(at / 5 + place))).collect()
}

fn ptx(profile: Profile) -> String {
    let source = for_gpu(include_str!("halves.rs"));
    text_of("kernel-halves", &source, profile)
}

#[test]
fn floats_of_16_bits_are_those_of_a_cpu() {
    let words = words();
    let mut expected = vec![[0; GIVEN]; words.len()];
    let (from, to) = (words.as_ptr(), expected.as_mut_ptr());
    // SAFETY: three words for each thread, and as many as it gives.
    unsafe { Launch::new(BLOCKS, THREADS).run(|| halves::halves(from, to)) };
    for profile in [Profile::Dev, Profile::Release] {
        is_that_of_a_cpu(&ptx(profile), "halves", &words, &expected, |trial| {
            trial.grid([BLOCKS, 1, 1]).block([THREADS, 1, 1]);
        });
    }
}

#[test]
fn each_function_on_floats_of_16_bits_is_one_instruction() {
    let text = ptx(Profile::Release);
    let of = |word: &str| with_word(&text, "halves", word);
    for half in ["f16x2", "bf16x2"] {
        let expected = [
            format!("add.rn.{half} %, %, %;"),
            format!("sub.rn.{half} %, %, %;"),
            format!("mul.rn.{half} %, %, %;"),
            format!("fma.rn.{half} %, %, %, %;"),
            format!("min.{half} %, %, %;"),
            format!("max.{half} %, %, %;"),
        ];
        let found = of(&format!(".{half}"));
        let found: Vec<&str> = found.iter().map(AsRef::as_ref).filter(|line: &&str| !line.starts_with("cvt")).collect();
        assert_eq!(found, expected);
    }
    let expected = [
        "cvt.rn.f16.f32 %, %;",
        "cvt.rn.bf16.f32 %, %;",
        "cvt.rn.satfinite.e4m3x2.f32 %, %, %;",
        "cvt.rn.satfinite.e5m2x2.f32 %, %, %;",
        "cvt.rn.satfinite.e4m3x2.f16x2 %, %;",
        "cvt.rn.satfinite.e5m2x2.f16x2 %, %;",
        "cvt.rn.f16x2.e4m3x2 %, %;",
        "cvt.rn.f16x2.e5m2x2 %, %;",
    ];
    assert_eq!(of("cvt.rn"), expected);
}
