//! What is found in a kernel.

use ptx_interpreter::{Program, Trial};

/// The kinds and titles of the findings of `k`, in so many blocks of 64 threads. It takes 16 bytes of zeros.
pub(crate) fn in_blocks(blocks: u32, text: &str) -> Vec<String> {
    let program = Program::parse(text);
    let mut trial = Trial::new(&program, "k");
    trial.grid([blocks, 1, 1]).block([64, 1, 1]);
    trial.buffer(&[0; 16]).expect("a little memory");
    let report = trial.check();
    assert!(report.stop.is_none(), "{report}");
    report.findings.iter().map(|finding| format!("{:?}: {}", finding.kind, finding.title)).collect()
}
