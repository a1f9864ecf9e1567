//! Threads of a warp exchange something by different instructions of the same words and mask.

use ptx_interpreter::{Kind, Program, Trial};

/// What 32 threads leave in `%r9`, if the lower half of them executes one text and the upper half another one. `%r1` is the number of a thread.
fn left(lower: &str, upper: &str, seed: u64) -> Result<Vec<u32>, Kind> {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<10>; .reg .b64 %d<3>; .reg .pred %p<4>; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r9, 0;\n\
         mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; add.u32 %r2, %r1, 100; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOWER;\n\
         {upper}\nbra DONE;\nLOWER:\n{lower}\nDONE: st.global.u32 [%d1], %r9; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.seed(seed).buffer(&[0; 128]).expect("a little memory");
    let report = trial.check();
    if let Some(finding) = report.findings.first() {
        return Err(finding.kind);
    }
    assert_eq!(report.stop, None, "{lower} {upper}");
    Ok(trial.content(0).chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

fn expect(lower: &str, upper: &str, of: impl Fn(u32) -> u32) {
    for seed in 0..4 {
        assert_eq!(left(lower, upper, seed), Ok((0..32).map(&of).collect()), "{lower} {upper}");
    }
}

#[test]
fn each_lane_has_the_operands_of_its_own_instruction() {
    let shuffle = "shfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;";
    expect(shuffle, "mov.u32 %r4, 16; shfl.sync.bfly.b32 %r9|%p2, %r2, %r4, 31, -1;", |lane| match lane {
        0..16 => lane + 16 + 100,
        _ => lane - 16,
    });
    let ballot = |limit: u32, to: &str| format!("setp.lt.u32 %p2, %r1, {limit}; vote.sync.ballot.b32 {to}, %p2, -1;");
    expect(&ballot(3, "%r9"), &format!("{} mov.u32 %r9, %r7;", ballot(18, "%r7")), |_| 0x3_0007);
    expect("redux.sync.add.s32 %r9, 1, -1;", "redux.sync.add.s32 %r9, %r1, -1;", |_| 16 + (16..32).sum::<u32>());
    let same = "shr.u32 %r3, %r1, 1; match.any.sync.b32 %r9, %r3, -1;";
    expect(same, "and.b32 %r5, %r1, 1; match.any.sync.b32 %r9, %r5, -1;", |lane| match lane {
        16.. if lane % 2 == 0 => 0x5555_0003,
        16.. => 0xaaaa_000c,
        0 | 1 => 0x5555_0003,
        2 | 3 => 0xaaaa_000c,
        _ => 3 << (lane / 2 * 2),
    });
}

#[test]
fn other_words_and_other_masks_do_not_meet() {
    let upper = "shfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;";
    for lower in [
        "shfl.sync.idx.b32 %r9, %r1, 16, 31, -1;",
        "bar.warp.sync -1;",
        "shfl.sync.bfly.b32 %r9, %r1, 16, 31, 0x1ffff;",
    ] {
        assert_eq!(left(lower, upper, 0), Err(Kind::Deadlock), "{lower}");
    }
}

#[test]
fn a_match_of_all_gives_the_threads_that_are_there() {
    // 32 threads are in the mask, and the block has ten, of which the last one may have ended.
    for (ends, value, expected) in [("10", "7", 0x3ff), ("10", "%r1", 0), ("9", "7", 0x1ff)] {
        let module = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p<3>; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n\
             setp.ge.u32 %p1, %r1, {ends}; @%p1 exit; match.all.sync.b32 %r2|%p2, {value}, -1; mul.wide.u32 %d2, %r1, 4;\n\
             add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; ret; }}\n"
        );
        let program = Program::parse(&module);
        let mut trial = Trial::new(&program, "k");
        assert!(trial.block([10, 1, 1]).buffer(&[0; 40]).expect("a little memory").check().is_clean());
        assert_eq!(trial.content(0)[..4], u32::to_le_bytes(expected), "{ends} {value}");
    }
}
