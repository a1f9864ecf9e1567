//! Weak loads show each end that the memory model allows, and no other: in global and in shared memory, in all ways and by seeds.

use litmus::agreement::{RUNS, agree_on_values, ends_of_seeds, observed};
use litmus::{Limits, Model, Program, Space, Term, outcomes, parse};

/// Seeds of one shape.
const SEEDS: u64 = 3000;

/// What a shape's threads do.
type Shape = (&'static str, &'static [&'static [&'static str]]);

/// The shapes whose ends all appear, and not all of them if loads return the newest values.
const SHAPES: &[Shape] = &[
    ("2+2W", &[&["st.relaxed.gpu x, 1", "st.relaxed.gpu y, 2"], &["st.relaxed.gpu y, 1", "st.relaxed.gpu x, 2"]]),
    ("S", &[&["st.relaxed.gpu x, 2", "st.relaxed.gpu y, 1"], &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 1"]]),
    ("R", &[&["st.relaxed.gpu x, 1", "st.relaxed.gpu y, 1"], &["st.relaxed.gpu y, 2", "ld.relaxed.gpu r0, x"]]),
    (
        "an addition between",
        &[
            &["st.relaxed.gpu x, 4", "st.relaxed.gpu y, 1"],
            &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 1", "atom.relaxed.gpu.add r1, x, 1"],
        ],
    ),
    (
        "a comparison with an older value",
        &[
            &["st.relaxed.gpu x, 1", "st.relaxed.gpu y, 1"],
            &["ld.relaxed.gpu r0, y", "atom.relaxed.gpu.cas r1, x, 1, 2"],
        ],
    ),
    ("MP", &[&["st.relaxed.gpu x, 1", "st.relaxed.gpu y, 1"], &["ld.relaxed.gpu r0, y", "ld.relaxed.gpu r1, x"]]),
    ("LB", &[&["ld.relaxed.gpu r0, x", "st.relaxed.gpu y, 1"], &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 1"]]),
    (
        "LB with acquires",
        &[&["ld.acquire.gpu r0, x", "st.relaxed.gpu y, 1"], &["ld.acquire.gpu r0, y", "st.relaxed.gpu x, 1"]],
    ),
    (
        "LB with a fence on one side",
        &[
            &["ld.relaxed.gpu r0, x", "fence.acq_rel.gpu", "st.relaxed.gpu y, 1"],
            &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 1"],
        ],
    ),
    (
        "LB with a release on one side",
        &[&["ld.relaxed.gpu r0, x", "st.release.gpu y, 1"], &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 1"]],
    ),
    (
        "LB with two releases",
        &[&["ld.relaxed.gpu r0, x", "st.release.gpu y, 1"], &["ld.relaxed.gpu r0, y", "st.release.gpu x, 1"]],
    ),
    (
        "a weak load that returns what depends on a later store to its place",
        &[
            &["ld.weak r0, x", "st.relaxed.gpu x, 2"],
            &["ld.relaxed.gpu r0, x", "bne r0, 2, END", "st.weak x, 1", "END:"],
        ],
    ),
    (
        "an exchange that returns what depends on a release after it",
        &[
            &["atom.relaxed.gpu.exch r0, x, 1", "st.release.gpu y, 1"],
            &["ld.relaxed.gpu r0, y", "bne r0, 1, END", "st.relaxed.gpu x, 2", "END:"],
        ],
    ),
    (
        "LB with an addition",
        &[&["atom.relaxed.gpu.add r0, x, 1", "st.relaxed.gpu y, 1"], &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 5"]],
    ),
    (
        "LB with an addition that releases",
        &[&["atom.release.gpu.add r0, x, 1", "st.relaxed.gpu y, 1"], &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 5"]],
    ),
    (
        "LB with a comparison before a fence",
        &[
            &["atom.relaxed.gpu.cas r0, x, 1, 3", "fence.acq_rel.gpu", "st.relaxed.gpu y, 1"],
            &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 2"],
        ],
    ),
    (
        "an exchange that reads what depends on it",
        &[&["ld.relaxed.gpu r0, x", "bne r0, 1, END", "st.weak x, 2", "END:"], &["atom.relaxed.gpu.exch r0, x, 1"]],
    ),
];

/// Those that forbid the weak end, or have none.
const ORDERED: &[Shape] = &[
    ("CoWW", &[&["st.relaxed.gpu x, 1", "st.relaxed.gpu x, 2"], &["st.relaxed.gpu x, 3", "ld.relaxed.gpu r0, x"]]),
    (
        "CoWW with an exchange",
        &[&["st.relaxed.gpu x, 1", "st.relaxed.gpu x, 2"], &["atom.relaxed.gpu.exch r0, x, 3", "ld.relaxed.gpu r1, x"]],
    ),
    (
        "2+2W",
        &[
            &["st.relaxed.gpu x, 1", "fence.sc.gpu", "st.relaxed.gpu y, 2"],
            &["st.relaxed.gpu y, 1", "fence.sc.gpu", "st.relaxed.gpu x, 2"],
        ],
    ),
    ("S", &[&["st.relaxed.gpu x, 2", "st.release.gpu y, 1"], &["ld.acquire.gpu r0, y", "st.relaxed.gpu x, 1"]]),
    (
        "R",
        &[
            &["st.relaxed.gpu x, 1", "fence.sc.gpu", "st.relaxed.gpu y, 1"],
            &["st.relaxed.gpu y, 2", "fence.sc.gpu", "ld.relaxed.gpu r0, x"],
        ],
    ),
    ("LB", &[&["ld.acquire.gpu r0, x", "st.release.gpu y, 1"], &["ld.acquire.gpu r0, y", "st.release.gpu x, 1"]]),
    (
        "LB with an addition and a release",
        &[&["atom.relaxed.gpu.add r0, x, 1", "st.release.gpu y, 1"], &["ld.acquire.gpu r0, y", "st.relaxed.gpu x, 5"]],
    ),
    ("two additions", &[&["atom.relaxed.gpu.add r0, x, 1"], &["atom.relaxed.gpu.add r0, x, 1"]]),
    ("a weak store and an addition", &[&["st.weak x, 4"], &["atom.relaxed.gpu.add r0, x, 1"]]),
    ("two comparisons", &[&["atom.relaxed.gpu.cas r0, x, 0, 1"], &["atom.relaxed.gpu.cas r0, x, 0, 2"]]),
    (
        "LB with a barrier on one side",
        &[
            &["ld.relaxed.gpu r0, x", "bar.cta.sync 0", "st.relaxed.gpu y, 1"],
            &["ld.relaxed.gpu r0, y", "st.relaxed.gpu x, 1", "bar.cta.sync 0"],
        ],
    ),
    (
        "a release between the stores of another thread",
        &[&["st.relaxed.gpu x, 1", "st.release.gpu y, 1"], &["ld.acquire.gpu r0, y", "atom.relaxed.gpu.exch r1, x, 2"]],
    ),
];

/// The shape's test, of threads of one block or of two.
fn test((name, threads): &Shape, blocks: usize) -> Program {
    let heads: Vec<String> = (0..threads.len()).map(|at| format!(" P{at}@cta {},gpu 0", at % blocks)).collect();
    let rows = threads.iter().map(|thread| thread.len()).max().unwrap_or_default();
    let cell = |thread: &&[&str], row: usize| thread.get(row).copied().unwrap_or_default().to_owned();
    let row = |row| threads.iter().map(|thread| cell(thread, row)).collect::<Vec<_>>().join(" | ");
    let body: String = (0..rows).map(|at| format!(" {} ;\n", row(at))).collect();
    let text = format!("PTX {name}\n{{ x=0; y=0; }}\n{} ;\n{body}exists (x == 0)\n", heads.join(" |"));
    parse(&text).unwrap_or_else(|unread| panic!("{unread}\n{text}"))
}

fn all(shapes: &[Shape], each: impl Fn(&str, &Program, Space)) {
    for shape in shapes {
        each(shape.0, &test(shape, 2), Space::Global);
        each(shape.0, &test(shape, 1), Space::Global);
        each(shape.0, &test(shape, 1), Space::Shared);
    }
}

#[test]
fn every_end_appears_and_no_other() {
    all(SHAPES, |name, program, space| match agree_on_values(program, space, RUNS, &Limits::default()) {
        Ok(Some(values)) => {
            assert!(!values.cut && values.missing.is_empty(), "{name} in {space:?}: {:?} are missing", values.missing);
            assert!(values.in_order < values.allowed, "{name} in {space:?}: it needs no weak loads");
        }
        Ok(None) => panic!("{name} is not compared"),
        Err(disagreement) => panic!("{name} in {space:?}, threads {:?}: {}", disagreement.order, disagreement.what),
    });
    all(ORDERED, |name, program, space| match agree_on_values(program, space, RUNS, &Limits::default()) {
        Ok(Some(values)) => {
            assert!(!values.cut && values.missing.is_empty(), "{name} in {space:?}: {:?} are missing", values.missing);
        }
        Ok(None) => panic!("{name} is not compared"),
        Err(disagreement) => panic!("{name} in {space:?}, threads {:?}: {}", disagreement.order, disagreement.what),
    });
}

#[test]
fn seeds_show_every_end_and_no_other() {
    all(&[SHAPES, ORDERED].concat(), |name, program, space| {
        let mut terms = observed(program);
        terms.extend((0..program.initial.len()).map(Term::Memory));
        let allowed = outcomes(program, &Model::new(), &terms, &Limits::default()).expect("it is small");
        let seen = ends_of_seeds(program, space, SEEDS).expect("each run ends");
        assert!(seen.is_subset(&allowed), "{name} in {space:?}: {:?}", seen.difference(&allowed));
        let missing: Vec<_> = allowed.difference(&seen).collect();
        assert!(missing.is_empty(), "{name} in {space:?}: {missing:?} of {terms:?} are missing");
    });
}
