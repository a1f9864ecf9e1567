//! What Triton's low-level language, Gluon, writes, and what its authors forget.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// A module of one kernel, whose source has lines.
fn module(kernel: &str) -> String {
    format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {{\n.shared .align 128 .b8 stage[1024];\n.shared .align 8 .b64 bar;\n.loc 1 7 0\n\
         .reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<4>;\nld.param.u64 %d1, [p];\n{kernel}\nret;\n}}\n.file 1 \"k.py\"\n"
    )
}

fn run(kernel: &str, [blocks, threads]: [u32; 2]) -> (Report, Vec<u8>) {
    let program = Program::parse(&module(kernel));
    assert!(program.gaps().is_empty(), "{:?}", program.gaps());
    let mut trial = Trial::new(&program, "k");
    trial.grid([blocks, 1, 1]).block([threads, 1, 1]);
    trial.buffer(&[0; 1024]).expect("a little memory");
    let report = trial.check();
    let content = trial.content(0).to_vec();
    (report, content)
}

/// Kind and lines of each finding.
fn found(kernel: &str, shape: [u32; 2]) -> Vec<(Kind, Vec<u32>)> {
    let line = |source: &Option<(String, u32)>| source.as_ref().map_or(0, |(_, line)| *line);
    let (report, _) = run(kernel, shape);
    let of = |places: &[ptx_interpreter::Place]| places.iter().map(|place| line(&place.source)).collect();
    report.findings.iter().map(|finding| (finding.kind, of(&finding.places))).collect()
}

#[test]
fn inline_assembly_is_of_the_line_of_its_statement() {
    let kernel = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n.loc 1 41 13\n// begin inline asm\n{\n.loc 1 44 13\n\
                  @%p1 mbarrier.init.shared.b64 [bar], 1;\n.loc 1 45 13\nmbarrier.arrive.shared.b64 _, [bar];\n}\n// end inline asm\n\
                  st.global.u32 [%d1], %r1;";
    let lines: Vec<u32> = found(kernel, [1, 64]).into_iter().flat_map(|(_, lines)| lines).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| *line == 41), "{lines:?}");
}

#[test]
fn a_barrier_that_has_ended_is_used() {
    let use_of = |between: &str, last: &str| {
        let kernel = format!(
            ".loc 1 1 0\nmov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n\
             .loc 1 2 0\nmbarrier.arrive.shared.b64 _, [bar];\nbar.sync 0;\n\
             .loc 1 3 0\n@%p1 mbarrier.inval.shared.b64 [bar];\n{between}\n.loc 1 4 0\n{last}"
        );
        found(&kernel, [1, 64])
    };
    let arrive = "mbarrier.arrive.shared.b64 _, [bar];";
    assert_eq!(use_of("bar.sync 0;", arrive), [(Kind::Uninitialised, vec![3, 4])]);
    assert_eq!(use_of("bar.sync 0;", "@%p1 mbarrier.inval.shared.b64 [bar];"), [(Kind::Uninitialised, vec![3, 4])]);
    assert_eq!(use_of("@%p1 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;", arrive), []);
    assert_eq!(
        use_of("bar.sync 0;", "st.shared.u32 [stage], 7;").iter().filter(|(kind, _)| *kind != Kind::Race).count(),
        0
    );
}

#[test]
fn copies_of_two_blocks_to_the_same_bytes_race() {
    let store = "cp.async.bulk.global.shared::cta.bulk_group [%d1], [stage], 256;\ncp.async.bulk.commit_group;\n\
                 cp.async.bulk.wait_group 0;";
    let fill = "mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 3; mov.u32 %r2, stage; add.u32 %r2, %r2, %r1;\n\
                st.shared.u64 [%r2], %d1; fence.proxy.async.shared::cta; bar.sync 0;\n\
                mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n.loc 1 9 0\n";
    let apart = "mov.u32 %r3, %ctaid.x; mul.wide.u32 %d2, %r3, 256; add.u64 %d1, %d1, %d2;\n";
    assert_eq!(found(&format!("{fill}{store}"), [2, 32]), [(Kind::Race, vec![9, 9])]);
    assert_eq!(found(&format!("{fill}{apart}{store}"), [2, 32]), []);
}

#[test]
fn what_is_taken_of_a_tensor_may_stand_before_the_spaces() {
    let copies = "cp.async.bulk.tensor.2d.tile::gather4.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7];\n\
                  cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7];\n\
                  cp.async.bulk.tensor.2d.tile::scatter4.global.shared::cta.bulk_group [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r1];";
    assert!(Program::parse(&module(copies)).gaps().is_empty());
}

/// Halves of registers have columns of their own, and come back.
#[test]
fn halves_are_unpacked_into_tensor_memory_and_packed_again() {
    let kernel = "mov.u32 %r8, %tid.x; mov.u32 %r7, stage;\n\
                  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 32;\nbar.sync 0;\nld.shared.u32 %r6, [%r7];\n\
                  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\
                  mad.lo.u32 %r1, %r8, 65537, 0x20001; add.u32 %r2, %r1, 0x70000;\n\
                  tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r6], {%r1, %r2};\ntcgen05.wait::st.sync.aligned;\n\
                  tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r3, %r4}, [%r6];\ntcgen05.wait::ld.sync.aligned;\n\
                  mul.wide.u32 %d2, %r8, 16; add.u64 %d1, %d1, %d2;\n\
                  st.global.v2.u32 [%d1], {%r3, %r4};\n\
                  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r6];\ntcgen05.wait::ld.sync.aligned;\n\
                  st.global.v2.u32 [%d1+8], {%r2, %r3};\n\
                  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, 32;";
    let (report, content) = run(kernel, [1, 32]);
    assert!(report.is_clean(), "{report}");
    let expected = (0..32_u32).flat_map(|thread| {
        let (low, high) = (thread + 1, thread + 2);
        [high << 16 | low, (high + 7) << 16 | low, high, low]
    });
    let expected: Vec<u8> = expected.flat_map(u32::to_le_bytes).collect();
    assert_eq!(content[..512], expected[..]);
}
