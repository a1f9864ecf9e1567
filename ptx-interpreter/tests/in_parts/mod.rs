//! The kernels of the corpus as a whole and in parts.

use ptx_interpreter::{Parts, Program, Report};

use crate::pairs::{FILES, pairs};

/// What a report says, but for how many parts there were, and for addresses: the buffers of each trial are elsewhere.
fn said(report: &Report) -> (String, String) {
    let text = report.to_string();
    let mut pieces = text.split("0x");
    let first = pieces.next().unwrap_or_default().to_owned();
    let is_digit = |letter: char| letter.is_ascii_hexdigit();
    let text = pieces.fold(first, |text, piece| text + "0x… " + piece.trim_start_matches(is_digit));
    (text, report.printed.clone())
}

/// Where there are more blocks than the kernel is made for, both find the same.
#[test]
fn kernels_of_the_corpus_find_the_same() {
    let (mut launches, mut cut) = (0, 0);
    for file in &FILES {
        let program = Program::parse(file.ptx);
        for mut pair in pairs(file) {
            let blocks = pair.blocks;
            for (which, times) in [("right", 1), ("wrong", 1), ("right", 3), ("wrong", 3)] {
                pair.blocks = blocks * times;
                let [whole, cut_one] = [Parts::None, Parts::OfOneCluster].map(|parts| {
                    let mut trial = pair.trial(&program, which, 1);
                    let report = trial.parts(parts).check();
                    let contents: Vec<Vec<u8>> = (0..8).map(|argument| trial.content(argument).to_vec()).collect();
                    (report, contents)
                });
                let what = format!("{which}_{} in {} blocks", pair.name, pair.blocks);
                assert_eq!(said(&whole.0), said(&cut_one.0), "{what}");
                assert!(whole.1 == cut_one.1, "{what}: other bytes");
                launches += 1;
                cut += usize::from(cut_one.0.parts > 0);
            }
        }
    }
    println!("{launches} launches, {cut} in parts");
    assert!(launches >= 800 && cut >= 6, "{launches} launches, {cut} in parts");
}
