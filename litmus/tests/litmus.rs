//! The memory model against litmus tests of our own, each of its parts against a test that fails without it, and the reader
//! of `.litmus` files against what is wrong in them.

use std::path::{Path, PathBuf};

use litmus::batch::{self, Question};
use litmus::{Expected, Limits, Model, Part, Program, executions, judge, parse, terminates};
use ptx_build::progress::Progress;

/// Litmus tests in `tests/litmus`.
const FILES: usize = 121;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus")
}

fn read(name: &str) -> Program {
    let file = folder().join(name).with_extension("litmus");
    parse(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn text(threads: &str, condition: &str) -> Program {
    parse(&format!("PTX test\n{{ x = 0; y = 0; }}\n{threads}\n{condition}\n")).unwrap()
}

fn holds(program: &Program, without: &[Part]) -> bool {
    let judgement = judge(program, &Model::without(without), &Limits::default()).unwrap();
    assert!(!judgement.bounded, "{}", program.name);
    judgement.holds
}

#[test]
fn every_file_has_the_verdict_of_its_list() {
    let expected = [Expected::read(&folder().join("expected.csv")).unwrap()];
    let files = batch::files(&[folder()]).unwrap();
    let judged =
        batch::judge_files(&files, Question::Condition, &expected, &Limits::default(), &Progress::kept()).unwrap();
    let table = batch::table(&judged, Question::Condition);
    let counts =
        format!("{FILES} files: {FILES} judged, {FILES} of them with a published result, {FILES} agree, 0 disagree");
    assert_eq!(table.lines().last(), Some(counts.as_str()), "{table}");
    assert_eq!(expected[0].len(), FILES);
}

/// A file whose verdict is another one without the part.
const NEEDS: [(Part, &str); 23] = [
    (Part::Coherence, "MP-write-back"),
    (Part::Atomicity, "Atomic-add"),
    (Part::NoThinAir, "LB-thin-air"),
    (Part::Causality, "MP-release-acquire"),
    (Part::Scopes, "MP-narrow"),
    (Part::CompleteOverlap, "MP-alias-flag"),
    (Part::MorallyStrongCoherence, "Co-two-readers"),
    (Part::ReleaseOperation, "MP-release-acquire"),
    (Part::ReleaseThenWrite, "MP-release-then-write"),
    (Part::ReleaseFence, "MP-release-fence"),
    (Part::AcquireOperation, "MP-release-acquire"),
    (Part::ReadThenAcquire, "MP-read-then-acquire"),
    (Part::AcquireFence, "MP-acquire-fence"),
    (Part::Observation, "MP-release-acquire"),
    (Part::ObservationThroughAtomics, "MP-through-atomic"),
    (Part::ObservationInCausality, "CoRR-relaxed-weak"),
    (Part::FenceScOrder, "SB-fence-sc"),
    (Part::BarrierSynchronizes, "SB-barrier"),
    (Part::ProxiesDiffer, "Proxy-other"),
    (Part::SameProxyInBlock, "Proxy-same-MP"),
    (Part::ProxyFences, "Proxy-fence"),
    (Part::AliasFences, "Proxy-alias-fence"),
    (Part::AliasesDiffer, "Proxy-alias"),
];

#[test]
fn each_part_of_the_model_decides_a_file() {
    for (part, file) in NEEDS {
        let program = read(file);
        assert_ne!(holds(&program, &[]), holds(&program, &[part]), "{file} does not need {part:?}");
    }
    let mut tested: Vec<Part> = NEEDS.map(|(part, _)| part).to_vec();
    // These have tests of their own below.
    tested.extend([Part::FenceSc, Part::ScPerLocation]);
    tested.sort();
    assert_eq!(
        tested,
        Part::ALL.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    );
}

/// No verdict depends on it alone: a Fence-SC order against causality only orders more than one along it.
#[test]
fn fence_sc_order_is_along_causality() {
    let two = text("P0@cta 0,gpu 0;\nfence.sc.gpu;\nfence.sc.gpu;", "exists (x == 0)");
    let count = |without: &[Part]| executions(&two, &Model::without(without), &Limits::default()).unwrap();
    assert_eq!(count(&[]), 1);
    assert_eq!(count(&[Part::FenceSc]), 2);
}

/// Causality forbids what it forbids, too, since observation is a step of causality order.
#[test]
fn sc_per_location_forbids_what_causality_forbids_of_one_location() {
    let program = read("CoRR-relaxed");
    assert!(!holds(&program, &[]));
    assert!(!holds(&program, &[Part::ScPerLocation]));
    assert!(!holds(&program, &[Part::Causality]));
    assert!(holds(&program, &[Part::Causality, Part::ScPerLocation]));
}

#[test]
fn a_thread_that_waits_for_a_message_ends_and_one_that_waits_for_none_does_not() {
    let ends = |program: &Program| terminates(program, &Model::new(), &Limits::default()).unwrap().holds;
    assert!(ends(&read("MP-spin")));
    let waits = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0;\n | LC00:;\n st.relaxed.gpu x, 2 | ld.relaxed.gpu r0, x;\n | bne r0, 1, LC00;";
    assert!(!ends(&text(waits, "exists (x == 0)")));
    // A barrier that wants three, and two that come.
    let closed = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0;\nbar.cta.sync 0, 0, 3 | bar.cta.sync 0, 0, 3;";
    assert!(!ends(&text(closed, "exists (x == 0)")));
    assert!(ends(&text(&closed.replace(", 3", ", 2"), "exists (x == 0)")));
}

#[test]
fn a_loop_that_writes_is_followed_as_often_as_the_limit_says() {
    let program = text("P0@cta 0,gpu 0;\nLC00:;\natom.relaxed.gpu.add r0, x, 1;\nbne r0, 3, LC00;", "exists (x == 4)");
    let judged = |turns| judge(&program, &Model::new(), &Limits { turns, ..Limits::default() }).unwrap();
    assert!(!judged(2).holds && judged(2).bounded);
    assert!(judged(3).holds && !judged(3).bounded);
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_its_line() {
    let said = |text: &str| parse(text).map(drop).unwrap_err().to_string();
    let of = |rest: &str| said(&format!("PTX t\n{{ x = 0; }}\n P0@cta 0,gpu 0 ;\n{rest}"));
    assert_eq!(said("AArch64 t\n{}\n"), "the file does not begin with `PTX NAME`");
    assert_eq!(said("PTX t\n"), "there is no initial state, `{ … }`");
    assert_eq!(said("PTX t\n{ x = 0;"), "the `{` of the initial state is not closed");
    assert_eq!(said("PTX t\n{ x }"), "line 2: `x` is not `NAME = NUMBER`");
    assert_eq!(said("PTX t\n{ x = &y; }"), "line 2: `x = &y`: pointers in memory or in registers");
    assert_eq!(
        of(" ld.weak r0 ;\nexists (x == 0)"),
        "line 4: `ld.weak r0`: its words or its operands are not those of this instruction"
    );
    assert_eq!(of(" ld.relaxed r0, x ;\nexists (x == 0)"), "line 4: `ld.relaxed r0, x`: its scope is missing");
    assert_eq!(of(" ld.release.gpu r0, x ;\nexists (x == 0)"), "line 4: `ld.release.gpu r0, x`: it cannot be .release");
    assert_eq!(of(" jump x ;\nexists (x == 0)"), "line 4: `jump x`: it takes three operands");
    assert_eq!(of(" st.weak x, 1 | st.weak x, 1 ;\nexists (x == 0)"), "line 4: 2 cells for 1 threads");
    assert_eq!(of(" beq r0, 0, LC00 ;\nexists (x == 0)"), "P0 has no label LC00");
    assert_eq!(of(" st.weak x, 1 ;\n"), "line 5: there is no condition: exists, ~exists or forall");
    assert_eq!(of(" st.weak x, 1 ;\nexists (P3:r0 == 0)"), "line 5: there is no thread P3");
    assert_eq!(of(" st.weak x, 1 ;\nexists (x == 0) 1"), "line 5: `1` is left over in the condition");
    assert_eq!(of(" st.weak x, 1 ;\nfilter (x == 0)"), "line 5: `filter` and `final`");
    for order in ["weak", "relaxed", "volatile"] {
        let fences = "a fence is .sc, .acq_rel, .acquire or .release; PTX has no fence";
        for fence in [format!("fence.{order}.gpu"), format!("fence.{order}")] {
            assert_eq!(of(&format!(" {fence} ;\nexists (x == 0)")), format!("line 4: `{fence}`: {fences}.{order}"));
        }
    }
    assert_eq!(of(" fence.sc ;\nexists (x == 0)"), "line 4: `fence.sc`: its scope is missing");
    for order in ["sc", "acq_rel", "acquire", "release"] {
        assert_eq!(text(&format!("P0@cta 0,gpu 0;\nfence.{order}.gpu;"), "exists (x == 0)").threads[0].code.len(), 1);
    }
}

/// They are well-formed PTX that the model does not have, and no mistake of the file.
#[test]
fn vectors_and_other_widths_are_outside() {
    let unread =
        |cell: &str| parse(&format!("PTX t\n{{ x = 0; }}\n P0@cta 0,gpu 0 ;\n {cell} ;\nexists (x == 0)")).unwrap_err();
    for (cell, why) in [
        ("ld.weak.v2.u32 {r0, r1}, x", "vectors, `.v2`"),
        ("ld.relaxed.gpu.v4.b32 {r0, r1, r2, r3}, x", "vectors, `.v4`"),
        ("ld.v2.u32 {r0, r1}, x", "vectors, `.v2`"),
        ("st.weak.v8.b32 x, {r0, r1, r2, r3, r4, r5, r6, r7}", "vectors, `.v8`"),
        ("ld.weak.u8 r0, x", "bytes and halves of a word, `.u8`"),
        ("st.release.sys.b16 x, 1", "bytes and halves of a word, `.b16`"),
        ("st.weak.u64 x, 1", "more than a word, `.u64`"),
        ("atom.relaxed.gpu.add.f64 r0, x, 1", "more than a word, `.f64`"),
        ("atom.relaxed.gpu.exch.b128 r0, x, 1", "more than a word, `.b128`"),
    ] {
        let unread = unread(cell);
        assert_eq!((unread.to_string(), unread.outside), (format!("line 4: `{cell}`: {why}"), true));
    }
    assert!(!unread("ld.weak.v3.u32 {r0, r1}, x").outside, "PTX has no vector of three");
}

#[test]
fn published_results_of_other_files_are_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let list = scratch.path().join("list.csv");
    let files = [folder().join("MP-weak.litmus")];
    let judged = |lists: &[&str]| {
        let read = |text: &&str| {
            std::fs::write(&list, text).unwrap();
            Expected::read(&list).unwrap()
        };
        let lists: Vec<Expected> = lists.iter().map(read).collect();
        batch::judge_files(&files, Question::Condition, &lists, &Limits::default(), &Progress::kept())
    };
    // One that is of a file is enough, and each list needs one.
    assert_eq!(judged(&["MP-weak.litmus,1\nother.litmus,0\n"]).unwrap()[0].expected, Some(true));
    let other = "no published result is of a file that is judged";
    for (lists, names) in [
        (&["other.litmus,0\nlitmus/z.litmus,1\n"][..], "it names 2 files, first litmus/z.litmus; "),
        (&["MP-weak.litmus,1\n", "other.litmus,1\n"], "it names 1 files, first other.litmus; "),
        (&[""], "it names 0 files, first none; "),
    ] {
        let error = judged(lists).unwrap_err().to_string();
        let first = format!("{names}the first file that is judged is {}", files[0].display());
        assert_eq!(
            error.lines().take(3).map(|line| line.trim_start_matches([' ', '|'])).collect::<Vec<_>>(),
            [other.to_owned(), format!("at {}", list.display()), first]
        );
    }
}

#[test]
fn a_disagreement_and_a_file_that_cannot_be_read_are_counted() {
    let scratch = tempfile::tempdir().unwrap();
    let list = scratch.path().join("list.csv");
    let [unread, bytes] = ["unread.litmus", "a-bytes.litmus"].map(|name| scratch.path().join(name));
    std::fs::write(&list, "litmus/MP-weak.litmus,0\n").unwrap();
    std::fs::write(&unread, "C t\n").unwrap();
    std::fs::write(&bytes, b"PTX t\n\xff\n").unwrap();
    let files = batch::files(&[folder().join("MP-weak.litmus"), scratch.path().to_owned()]).unwrap();
    let expected = [Expected::read(&list).unwrap()];
    let judged =
        batch::judge_files(&files, Question::Condition, &expected, &Limits::default(), &Progress::kept()).unwrap();
    assert_eq!(
        judged.iter().map(|judged| (judged.disagrees(), judged.is_unread())).collect::<Vec<_>>(),
        [(true, false), (false, true), (false, true)]
    );
    let table = batch::table(&judged, Question::Condition);
    assert!(table.contains("exists   yes    no  DISAGREES\n"), "{table}");
    let named = table.lines().find(|line| line.starts_with(bytes.to_str().unwrap())).unwrap_or_default();
    assert!(named.ends_with("  cannot be read: byte 7 is no UTF-8, and a litmus test is a text"), "{table}");
    assert!(
        table.ends_with(
            "3 files: 1 judged, 1 of them with a published result, 0 agree, 1 disagree\n2 outside: cannot be read\n"
        ),
        "{table}"
    );
    assert!(batch::files(&[scratch.path().join("none")]).is_ok(), "a file that is named is one");
}
