//! Atomics on two floats in the shared memory of another block, which an H100 adds as integers: a finding, and the values are PTX's.

use ptx_interpreter::{Kind, Program, Trial};

/// Each of 32 threads in two blocks has a word of shared memory with 1.0 and 2.0, and executes an instruction on that of a block:
/// `%to` is its address in the window of shared memory, and `%there` a generic one. What is found, and the first word then.
fn run(instruction: &str, is_own: bool, ones: u32) -> (Vec<(Kind, String)>, u32) {
    let rank = u32::from(!is_own);
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) .reqnctapercluster 2, 1, 1 {{\n.shared .align 4 .b8 words[128];\n\
         .reg .b16 %h; .reg .b32 %v, %old, %r<5>, %own, %to; .reg .b64 %there, %d<3>;\n\
         mov.u32 %r1, %tid.x; mov.u32 %own, words; mad.lo.u32 %own, %r1, 4, %own; mov.u32 %v, {ones}; mov.u16 %h, 15360;\n\
         st.shared.u32 [%own], %v; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, {rank};\n\
         mapa.shared::cluster.u32 %to, %own, %r3; cvt.u64.u32 %d1, %to; cvta.shared::cluster.u64 %there, %d1;\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n{instruction}\nbarrier.cluster.arrive; barrier.cluster.wait;\n\
         ld.shared.u32 %v, [%own]; ld.param.u64 %d1, [p]; mad.lo.u32 %r4, %r2, 32, %r1; mul.wide.u32 %d2, %r4, 4;\n\
         add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %v; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.grid([2, 1, 1]).block([32, 1, 1]).buffer(&[0; 256]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{instruction}");
    let found = report.findings.iter().map(|finding| (finding.kind, finding.to_string())).collect();
    let words: Vec<u32> =
        trial.content(0).chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    assert!(words.iter().all(|word| *word == words[0]), "{instruction}: {words:x?}");
    (found, words[0])
}

/// 1.0 and 2.0 of `f16`, their sums with themselves, and the same of `bf16`.
const HALVES: (u32, u32) = (0x4000_3c00, 0x4400_4000);
const BRAINS: (u32, u32) = (0x4000_3f80, 0x4080_4000);

#[test]
fn a_sum_of_two_floats_at_a_neighbour_is_named() {
    for (instruction, (ones, twos)) in [
        ("red.relaxed.cluster.shared::cluster.add.noftz.f16x2 [%to], %v;", HALVES),
        ("atom.relaxed.cluster.shared::cluster.add.noftz.bf16x2 %old, [%to], %v;", BRAINS),
        ("red.add.noftz.f16x2 [%there], %v;", HALVES),
        ("atom.add.noftz.f16x2 %old, [%there], %v;", HALVES),
    ] {
        let (found, word) = run(instruction, false, ones);
        assert_eq!(word, twos, "{instruction}");
        let [(Kind::Gpu, text)] = &found[..] else { panic!("{instruction}: {found:?}") };
        for part in [
            "error[gpu]: two floats of 16 bits",
            "adds two floats to byte 0 of `words` in the shared memory of block 1",
            "on an H100 this adds 32-bit integers",
            "found 64 times",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(run(instruction, true, ones), (vec![], twos), "{instruction}");
    }
}

#[test]
fn other_sums_at_a_neighbour_are_right() {
    for (instruction, sum) in [
        ("red.relaxed.cluster.shared::cluster.add.noftz.f16 [%to], %h;", 0x4000_4000),
        ("red.relaxed.cluster.shared::cluster.add.u32 [%to], %v;", 0x8000_7800),
        ("red.add.f32 [%there], %v;", 0x4080_3c00),
    ] {
        assert_eq!(run(instruction, false, HALVES.0), (vec![], sum), "{instruction}");
    }
}
