//! A kernel `k` of one warp: it reads words and writes sums.

use ptx_interpreter::{Program, Report, Trial};

/// The bytes of its sums: 16 of each lane.
pub(crate) fn run(kernel: &str, words: impl Iterator<Item = u32>) -> (Vec<u8>, Report) {
    let content: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let program = Program::parse(kernel);
    let mut trial = Trial::new(&program, "k");
    trial.block([32, 1, 1]).buffer(&content).expect("memory").buffer(&[0; 512]).expect("memory");
    let report = trial.check();
    (trial.content(1).to_vec(), report)
}
