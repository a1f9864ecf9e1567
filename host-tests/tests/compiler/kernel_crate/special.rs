//! Special registers, functions on bits and approximations of pairs are what a CPU says, where the interpreter runs the PTX; each is
//! one instruction.

use host_tests::tools::device_build::Profile;
use ptx_kernel::cpu::Launch;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{for_gpu, instructions, is_that_of_a_cpu, registers, text_of, with_word};

/// Blocks of 2 warps and a part, in rows of clusters of 2.
const BLOCKS: [u32; 2] = [6, 3];
const THREADS: u32 = 80;
const SHARED: usize = 400;
/// How many numbers a thread gives.
const GIVEN: usize = 56;

/// Numbers with few bits set, with few bits clear, and halves of all kinds.
fn words() -> Vec<[u32; 3]> {
    let mut random = StdRng::seed_from_u64(33);
    let mut word = || match random.random_range(0..8) {
        0 => 0,
        1 => u32::MAX,
        2 => 1 << random.random_range(0..32),
        3 => u32::MAX << random.random_range(0..32),
        4 => random.random::<u32>() & 0x80ff_80ff,
        5 => random.random::<u32>() & 0x8fff_8fff | 0x3000_3000,
        6 => random.random::<u32>() | 0x7c00_7f80,
        _ => random.random(),
    };
    (0..BLOCKS[0] * BLOCKS[1] * THREADS).map(|_| [word(), word(), word()]).collect()
}

fn ptx(profile: Profile) -> String {
    let source = for_gpu(include_str!("registers.rs"));
    text_of("kernel-registers", &source, profile)
}

#[test]
fn registers_and_functions_on_bits_are_those_of_a_cpu() {
    let words = words();
    let mut expected = vec![[0; GIVEN]; words.len()];
    let (from, to) = (words.as_ptr(), expected.as_mut_ptr());
    let launch = Launch::new((BLOCKS[0], BLOCKS[1]), THREADS).cluster(2).dynamic_shared(SHARED);
    // SAFETY: three words for each thread, and as many as it gives.
    unsafe { launch.run(|| registers::registers(from, to)) };
    for profile in [Profile::Dev, Profile::Release] {
        is_that_of_a_cpu(&ptx(profile), "registers", &words, &expected, |trial| {
            trial.grid([BLOCKS[0], BLOCKS[1], 1]).block([THREADS, 1, 1]).cluster([2, 1, 1]).shared(SHARED);
        });
    }
}

#[test]
fn each_register_and_each_function_on_bits_is_one_instruction() {
    let text = ptx(Profile::Release);
    for (name, word, expected) in instructions(include_str!("registers.txt")) {
        assert_eq!(with_word(&text, name, word), expected, "{word}");
    }
}
