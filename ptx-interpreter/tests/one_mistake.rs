//! What follows from a mistake is told with it, and the words say what is missing.

use ptx_interpreter::{Finding, Kind, Program, Trial};

/// What is found where blocks of a cluster have threads that execute a body. `%t` is the number of a thread, `%a` its place in `s`, `%w`
/// that in the argument, which has 1,024 bytes, and `%o` where that begins.
fn found(body: &str, blocks: u32, threads: u32, pdl: bool) -> Vec<Finding> {
    let program = Program::parse(&format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %o, %w, %u;\n.reg .b32 %t, %a, %r, %i, %n;\n.reg .f32 %f;\n.reg .pred %p;\n\
         .shared .align 16 .b8 s[1024];\n.shared .align 8 .b64 bar;\n\
         ld.param.u64 %o, [p]; mov.u32 %t, %tid.x; mov.u32 %n, s;\n\
         mad.lo.u32 %a, %t, 4, %n; mul.wide.u32 %w, %t, 4; add.u64 %w, %o, %w;\n{body}\nret;\n}}\n"
    ));
    let mut trial = Trial::new(&program, "k");
    trial.grid([blocks, 1, 1]).block([threads, 1, 1]).cluster([blocks, 1, 1]);
    trial.buffer(&[0; 1024]).expect("a little memory");
    if pdl {
        trial.shared_with_grid_before(0);
    }
    let report = trial.check();
    assert_eq!(report.stop, None);
    report.findings
}

/// The kind and the title of each finding.
fn titles(findings: &[Finding]) -> Vec<(Kind, &str)> {
    findings.iter().map(|finding| (finding.kind, &*finding.title)).collect()
}

/// The lines of the first two places of a finding, and of what has its cause.
fn lines(finding: &Finding) -> Vec<Vec<u32>> {
    let line = |place: &ptx_interpreter::Place| place.source.as_ref().map_or(0, |(_, line)| *line);
    let mut all: Vec<Vec<u32>> =
        finding.and_further().map(|one| one.places.iter().take(2).map(line).collect()).collect();
    all.iter_mut().for_each(|lines| lines.sort_unstable());
    all.sort();
    all
}

#[test]
fn bytes_that_never_come_are_told_with_the_wait_for_them() {
    let body = |bytes: u32| {
        format!(
            "setp.ne.u32 %p, %t, 0;\n@%p bra WAIT;\nmbarrier.init.shared.b64 [bar], 1;\n\
             mbarrier.arrive.expect_tx.shared.b64 %u, [bar], {bytes};\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%n], [%o], 64, [bar];\n\
             WAIT:\nbar.sync 0;\nL:\nmbarrier.try_wait.parity.shared.b64 %p, [bar], 0;\n@!%p bra L;"
        )
    };
    assert_eq!(found(&body(64), 1, 32, false), []);
    for (bytes, title) in [
        (80, "a barrier expects more bytes than copies bring"),
        (48, "copies bring more bytes to a barrier than it expects"),
    ] {
        let findings = found(&body(bytes), 1, 32, false);
        assert_eq!(titles(&findings), [(Kind::Async, title)]);
        assert!(findings[0].hangs(), "{}", findings[0]);
        assert_eq!(findings[0].notes[0], "the two differ by 16 bytes: the phase never ends");
        let wait = "so all threads wait in the end, and nobody is left who could end that: one waits for the phase of parity 0 of the barrier";
        assert!(findings[0].notes[1].starts_with(wait), "{}", findings[0]);
    }
}

#[test]
fn whatever_comes_before_the_wait_for_the_grid_is_one_finding() {
    let access = ".loc 1 10 1\nld.global.u32 %r, [%w];\n.loc 1 11 1\nst.global.u32 [%w+512], %r;\n";
    assert_eq!(found(&format!("griddepcontrol.wait;\n{access}"), 1, 32, true), []);
    let findings = found(&format!("{access}griddepcontrol.wait;"), 1, 32, true);
    let title = "bytes of the grid before this one are accessed, and `griddepcontrol.wait` is not before it";
    assert_eq!(titles(&findings), [(Kind::Order, title)]);
    assert_eq!(lines(&findings[0]), [[10], [11]]);
}

#[test]
fn a_block_that_may_not_have_begun_is_told_with_the_race() {
    let body = |first: &str| {
        let all = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
        let first = if first.is_empty() { all } else { first };
        format!(
            "mov.u32 %r, %cluster_ctarank;\nxor.b32 %r, %r, 1;\nmapa.shared::cluster.u32 %i, %a, %r;\n\
             .loc 1 10 1\nst.shared.u32 [%a], %t;\n{first}.loc 1 12 1\nld.shared::cluster.u32 %i, [%i];\n{all}"
        )
    };
    assert_eq!(found(&body(""), 2, 32, false), []);
    let findings = found(&body("bar.sync 0;\n"), 2, 32, false);
    let title = "the shared memory of another block is accessed, and nothing tells that this block has begun";
    assert_eq!(titles(&findings), [(Kind::Bounds, title)]);
    assert_eq!(lines(&findings[0]), [vec![10, 12], vec![12]]);
}

#[test]
fn a_copy_that_begins_too_early_is_told_once() {
    let body = |end: &str| {
        format!(
            "mad.lo.u32 %a, %t, 16, %n;\nmad.lo.u32 %i, %t, -16, %n;\nadd.u32 %i, %i, 1008;\nmov.u32 %r, 0;\nL:\n\
             .loc 1 10 1\ncp.async.ca.shared.global [%a], [%o], 16;\ncp.async.wait_all;\nbar.sync 0;\n\
             .loc 1 13 1\nld.shared.f32 %f, [%i];\n{end}\nadd.u32 %r, %r, 1;\nsetp.lt.u32 %p, %r, 3;\n@%p bra L;"
        )
    };
    assert_eq!(found(&body("bar.sync 0;"), 1, 64, false), []);
    let findings = found(&body(""), 1, 64, false);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, Kind::Async);
    assert!(lines(&findings[0]).iter().all(|lines| *lines == [10, 13]), "{}", findings[0]);
}

#[test]
fn a_barrier_in_divergent_code_is_told_with_what_it_should_order() {
    let body = |first: &str| {
        format!(
            "setp.lt.u32 %p, %t, 16;\nxor.b32 %i, %t, 16;\nmad.lo.u32 %i, %i, 4, %n;\n.loc 1 9 1\n{first}bar.sync 0;\nNEXT:\n\
             .loc 1 10 1\nst.shared.u32 [%a], %t;\n.loc 1 11 1\nbar.sync 0;\n.loc 1 12 1\nld.shared.u32 %r, [%i];"
        )
    };
    assert_eq!(found(&body(""), 1, 32, false), []);
    let findings = found(&body("@%p bra NEXT;\n"), 1, 32, false);
    let title = "a barrier is in divergent code: threads of one warp wait for it at different instructions";
    assert_eq!(titles(&findings), [(Kind::Deadlock, title)], "{findings:?}");
}

#[test]
fn words_say_what_an_address_may_be() {
    let help = |body: &str| {
        let findings = found(body, 1, 32, false);
        assert_eq!(findings.len(), 1, "{findings:?}");
        (findings[0].places.last().expect("a place").what.clone(), findings[0].help.clone())
    };
    let (what, _) = help("add.u64 %u, %o, 0x3ffffffe0;\nld.global.u32 %r, [%u];\nst.global.u32 [%o], %r;");
    assert!(
        what.ends_with("that is 32 bytes before argument 0, if an index of 32 bits has wrapped below zero"),
        "{what}"
    );
    let (_, words) = help("cvta.to.shared.u64 %u, %o;\nld.shared.u32 %r, [%u];");
    assert_eq!(
        words,
        "give it an address in the state space that it names: `cvta.to` makes none of an address in another space"
    );
}

#[test]
fn an_index_below_shared_memory_is_told_by_what_begins_there() {
    let generic = "cvt.u64.u32 %u, %a;\ncvta.shared.u64 %u, %u;\nld.u32 %r, [%u+-8];";
    for (blocks, load) in
        [(1, "ld.shared.u32 %r, [s+-8];"), (1, "ld.shared.u32 %r, [%a+-8];"), (1, generic), (2, generic)]
    {
        let body =
            format!("barrier.cluster.arrive;\nbarrier.cluster.wait;\nst.shared.u32 [%a], %t;\nbar.sync 0;\n{load}");
        let findings = found(&body, blocks, 32, false);
        assert_eq!(titles(&findings), [(Kind::Bounds, "an access is outside of every piece of memory")], "{load}");
        let what = &findings[0].places[0].what;
        assert!(what.contains("accesses what is 8 bytes before the first of the shared memory of block "), "{what}");
        assert!(what.ends_with(", where `s` begins"), "{what}");
        assert_eq!(findings[0].help, "compare the index with zero before the access: it is below that");
    }
}

#[test]
fn who_has_discarded_bytes_is_told() {
    let body = ".loc 1 10 1\ndiscard.global.L2 [%o], 128;\nbar.sync 0;\n.loc 1 12 1\nld.global.u32 %r, [%o];\n.loc 1 13 1\nst.global.u32 [%o+256], %r;";
    let findings = found(body, 1, 1, false);
    assert_eq!(titles(&findings), [(Kind::Uninitialised, "bytes are read that `discard` has left without a value")]);
    assert_eq!(lines(&findings[0]), [[10, 12]]);
    assert_eq!(findings[0].help, "discard only what is written again before anybody reads it");
}

/// A sum whose old value nobody uses tells nobody anything.
#[test]
fn a_sum_that_stands_beside_is_no_flag() {
    let body = "mov.u32 %r, %cluster_ctarank;\nmul.wide.u32 %u, %r, 64;\nadd.u64 %u, %o, %u;\nmad.wide.u32 %w, %t, 4, %u;\n\
                add.u32 %r, %r, 1;\nand.b32 %r, %r, 7;\nmul.wide.u32 %u, %r, 64;\nadd.u64 %u, %o, %u;\nmad.wide.u32 %u, %t, 4, %u;\n\
                .reg .f32 %g<3>;\nmov.f32 %g0, 0f3F800000;\n.loc 1 10 1\nld.global.u32 %r, [%u];\n\
                .loc 1 11 1\natom.global.add.v2.f32 {%g1, %g2}, [%o+512], {%g0, %g0};\n.loc 1 12 1\nst.global.u32 [%w], %t;";
    let findings = found(body, 8, 16, false);
    let kinds: Vec<Kind> = findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::Race], "{findings:?}");
    assert_eq!(lines(&findings[0]), [[10, 12]]);
    assert_eq!(findings[0].places.len(), 2, "{}", findings[0]);
}

/// What is not there yet when a copy reads it is told with the copy that begins too early.
#[test]
fn what_a_copy_reads_too_early_is_one_finding() {
    let body = |barrier: &str| {
        format!(
            "setp.lt.u32 %p, %t, 32;\nmov.u32 %i, 1000;\n@%p mov.u32 %i, 1;\nL:\nsub.u32 %i, %i, 1;\nsetp.ne.u32 %p, %i, 0;\n@%p bra L;\n\
             .loc 1 10 1\nst.shared.u32 [%a], %t;\nfence.proxy.async;\n{barrier}setp.ne.u32 %p, %t, 0;\n@%p bra END;\n\
             .loc 1 12 1\ncp.async.bulk.global.shared::cta.bulk_group [%o], [%n], 512;\ncp.async.bulk.commit_group;\n\
             cp.async.bulk.wait_group 0;\nEND:"
        )
    };
    assert_eq!(found(&body("bar.sync 0;\n"), 1, 128, false), []);
    let findings = found(&body(""), 1, 128, false);
    assert_eq!(
        titles(&findings),
        [(Kind::Async, "the source of an asynchronous copy is written before the copy is known to be done")]
    );
    assert_eq!(lines(&findings[0]), [[10, 12]]);
}
