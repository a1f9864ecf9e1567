//! What is done by bytes that nobody has written, instruction by instruction.

use ptx_interpreter::{Kind, Program, Trial};

/// How a finding says what is done.
const STORES: &str = "stores it";
const DECIDES: &str = "decides by it what to do";
const ADDRESS: &str = "takes it as an address";
const CHANGES: &str = "changes memory by it";
const USES: &str = "uses it";

/// What is done by values without one. `%r1` is the number of the thread, `%r2` is a word that nobody has written, `%r3` one that
/// is written, and `%r4` has its upper half written and the lower one not. `%d1` is where the thread has a word in global memory, `%d2` where it
/// has one in shared memory, and `%d3` where it has one in local memory.
const CASES: &[(&str, Option<&str>)] = &[
    ("st.global.u32 [%d1], %r2;", Some(STORES)),
    ("add.u32 %r5, %r2, %r3; st.global.u32 [%d1], %r3;", None),
    ("add.u32 %r5, %r2, %r3; mov.u32 %r6, %r5; st.global.u32 [%d1], %r6;", Some(STORES)),
    // A copy of a part of what was loaded.
    ("st.global.u32 [%d1], %r4;", None),
    ("add.u32 %r5, %r4, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("shr.u32 %r5, %r4, 16; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("shr.u32 %r5, %r4, 15; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("shl.b32 %r5, %r4, 16; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("and.b32 %r5, %r4, 0xffff0000; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("and.b32 %r5, %r4, 0xffff8000; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("or.b32 %r5, %r4, 0xffff; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("bfe.u32 %r5, %r4, 20, 8; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("prmt.b32 %r5, %r4, %r3, 0x3254; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("prmt.b32 %r5, %r4, %r3, 0x3154; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("mov.b32 {%h1, %h2}, %r4; add.u16 %h2, %h2, 1; st.global.u16 [%d1], %h2;", None),
    ("mov.b32 {_, %h2}, %r4; add.u16 %h2, %h2, 1; st.global.u16 [%d1], %h2;", None),
    ("mov.b32 {%h1, _}, %r4; add.u16 %h1, %h1, 1; st.global.u16 [%d1], %h1;", Some(STORES)),
    ("mov.b64 %d4, {0, %r2}; mov.b64 {%r5, %r6}, %d4; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("mov.b64 %d4, {0, %r2}; mov.b64 {%r5, %r6}, %d4; add.u32 %r6, %r6, 1; st.global.u32 [%d1], %r6;", Some(STORES)),
    ("add.f16x2 %r5, %r4, %r3; shr.u32 %r5, %r5, 16; st.global.u32 [%d1], %r5;", None),
    ("selp.u32 %r5, %r2, %r3, %p1; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("selp.u32 %r5, %r3, %r2, %p1; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("setp.eq.u32 %p2, %r2, 0; selp.u32 %r5, 1, 2, %p2; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("setp.eq.u32 %p2, %r2, 0; @%p2 mov.u32 %r3, 7; st.global.u32 [%d1], %r3;", Some(STORES)),
    ("setp.eq.u32 %p2, %r2, 0; @%p2 st.global.u32 [%d1], 7;", Some(DECIDES)),
    ("setp.eq.u32 %p2, %r2, 0; @%p2 bra DONE; st.shared.u32 [%d2], 1;", Some(DECIDES)),
    ("setp.eq.u32 %p2, %r2, 0; and.pred %p2, %p2, %p1; @%p2 bra DONE; st.shared.u32 [%d2], 1;", None),
    ("setp.eq.and.u32 %p2, %r2, 0, %p1; @%p2 bra DONE; st.shared.u32 [%d2], 1;", None),
    ("setp.eq.or.u32 %p2, %r2, 0, %p1; @%p2 bra DONE; st.shared.u32 [%d2], 1;", Some(DECIDES)),
    ("not.pred %p1, %p1; setp.eq.or.u32 %p2, %r2, 0, %p1; @%p2 bra DONE; st.shared.u32 [%d2], 1;", None),
    ("and.b32 %r5, %r2, 4; cvt.u64.u32 %d4, %r5; add.u64 %d4, %d1, %d4; ld.global.u32 %r5, [%d4];", Some(ADDRESS)),
    // Two ways that only compute are a choice.
    ("setp.eq.u32 %p2, %r2, 0; @%p2 bra SKIP; add.u32 %r3, %r3, 1; SKIP: st.global.u32 [%d1], %r1;", None),
    ("setp.eq.u32 %p2, %r2, 0; @%p2 bra SKIP; add.u32 %r3, %r3, 1; SKIP: st.global.u32 [%d1], %r3;", Some(STORES)),
    (
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra OTHER; mov.u32 %r5, 1; bra MEET; OTHER: mov.u32 %r5, 2; mov.u32 %r6, 2; MEET: st.global.u32 [%d1], %r5;",
        Some(STORES),
    ),
    (
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra OTHER; mov.u32 %r5, 1; bra MEET; OTHER: mov.u32 %r5, 2; MEET: mov.u32 %r5, 3; st.global.u32 [%d1], %r5;",
        None,
    ),
    (
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra OTHER; mov.u32 %r5, 1; bra MEET; OTHER: st.shared.u32 [%d2], 2; MEET: mov.u32 %r5, 3;",
        Some(DECIDES),
    ),
    ("setp.eq.u32 %p2, %r2, 0; @!%p2 bra DONE; add.u32 %r3, %r3, 1; st.global.u32 [%d1], %r3;", Some(DECIDES)),
    ("red.shared.add.u32 [%d2], %r2;", Some(CHANGES)),
    ("vote.sync.any.pred %p2, %p1, -1; @%p2 bra DONE; st.shared.u32 [%d2], 1;", None),
    ("setp.eq.u32 %p1, %r2, 0; vote.sync.any.pred %p2, %p1, -1;", None),
    ("setp.eq.u32 %p1, %r2, 0; vote.sync.any.pred %p2, %p1, -1; @%p2 bra DONE; st.shared.u32 [%d2], 1;", Some(DECIDES)),
    (
        "setp.lt.u32 %p1, %r1, 8; selp.u32 %r5, 3, %r2, %p1; setp.eq.u32 %p2, %r5, 3; vote.sync.ballot.b32 %r5, %p2, -1; and.b32 %r5, %r5, 255; st.global.u32 [%d1], %r5;",
        None,
    ),
    (
        "setp.lt.u32 %p1, %r1, 8; selp.u32 %r5, 3, %r2, %p1; setp.eq.u32 %p2, %r5, 3; vote.sync.ballot.b32 %r5, %p2, -1; and.b32 %r5, %r5, 511; st.global.u32 [%d1], %r5;",
        Some(STORES),
    ),
    (
        "setp.lt.u32 %p1, %r1, 8; selp.u32 %r5, %r1, %r2, %p1; match.any.sync.b32 %r5, %r5, -1; and.b32 %r5, %r5, 255; @%p1 st.global.u32 [%d1], %r5;",
        None,
    ),
    (
        "setp.lt.u32 %p1, %r1, 8; selp.u32 %r5, %r1, %r2, %p1; match.any.sync.b32 %r5, %r5, -1; and.b32 %r5, %r5, 511; @%p1 st.global.u32 [%d1], %r5;",
        Some(STORES),
    ),
    ("redux.sync.add.u32 %r5, %r2, -1; st.global.u32 [%d1], %r3;", None),
    ("redux.sync.add.u32 %r5, %r2, -1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("shfl.sync.idx.b32 %r5, %r3, %r2, 31, -1; st.global.u32 [%d1], %r5;", Some(STORES)),
    (
        "add.u64 %d4, %d2, 128; cp.async.ca.shared.global [%d4], [%d1+128], 4; cp.async.wait_all; ld.shared.u32 %r5, [%d4]; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;",
        Some(STORES),
    ),
    ("nanosleep.u32 %r2;", Some(USES)),
    // Through other lanes, through memory, and beyond a value that takes its place.
    ("shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("shfl.sync.bfly.b32 %r2, %r3, 1, 31, -1; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2;", None),
    (
        "add.u32 %r5, %r2, 1; st.shared.u32 [%d2], %r5; ld.shared.u32 %r6, [%d2]; st.global.u32 [%d1], %r6;",
        Some(STORES),
    ),
    (
        "add.u32 %r5, %r2, 1; st.shared.u32 [%d2], %r5; st.shared.u32 [%d2], %r3; ld.shared.u32 %r6, [%d2]; st.global.u32 [%d1], %r6;",
        None,
    ),
    (
        "add.u32 %r5, %r2, 1; st.shared.u32 [%d2], %r5; atom.shared.exch.b32 %r6, [%d2], 3; ld.shared.u32 %r6, [%d2]; st.global.u32 [%d1], %r6;",
        None,
    ),
    ("add.u32 %r5, %r2, 1; st.shared.u32 [%d2], %r5; fence.proxy.async; bar.sync 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra DONE;
      cp.async.bulk.global.shared::cta.bulk_group [%d1], [%d2], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", Some(USES)),
    ("add.u32 %r5, %r3, 1; st.shared.u32 [%d2], %r5; fence.proxy.async; bar.sync 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra DONE;
      cp.async.bulk.global.shared::cta.bulk_group [%d1], [%d2], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", None),
    ("add.u32 %r5, %r2, 1; st.local.u32 [%d3], %r5; ld.local.u32 %r6, [%d3]; st.global.u32 [%d1], %r6;", Some(STORES)),
    ("st.local.u32 [%d3], %r3; ld.local.u32 %r6, [%d3]; add.u32 %r6, %r6, 1; st.global.u32 [%d1], %r6;", None),
    ("ld.local.u32 %r6, [%d3]; add.u32 %r6, %r6, 1; st.global.u32 [%d1], %r6;", Some(STORES)),
    (
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), more, (x); ld.param.b32 %r5, [y]; } st.global.u32 [%d1], %r5;",
        Some(STORES),
    ),
    (
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), more, (x); ld.param.b32 %r5, [y]; } st.global.u32 [%d1], %r3;",
        None,
    ),
    (
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), more, (x); st.param.b32 [x], %r3; call.uni (y), more, (x); ld.param.b32 %r5, [y]; } st.global.u32 [%d1], %r5;",
        None,
    ),
    (
        "{ .param .b32 x; .param .b32 y; call.uni (y), more, (x); ld.param.b32 %r5, [y]; } st.global.u32 [%d1], %r5;",
        Some(STORES),
    ),
    ("mov.u32 %r2, 5; st.global.u32 [%d1], %r2;", None),
    ("ld.shared.u32 %r2, [%d2]; st.global.u32 [%d1], %r2;", None),
];

fn run(body: &str, seed: u64) -> Vec<(Kind, String)> {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.func (.param .b32 to) more (.param .b32 from) {{ .reg .b32 %q<2>; ld.param.u32 %q1, [from]; add.u32 %q1, %q1, 5;\n\
         st.param.u32 [to], %q1; ret; }}\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .b16 %h<4>; .reg .pred %p<4>; .shared .align 16 .b8 room[512]; .local .align 8 .b8 own[8];\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4; add.u64 %d1, %d1, %d4; mov.u64 %d2, room; add.u64 %d2, %d2, %d4;\n\
         mov.u64 %d3, own; st.shared.u32 [%d2], %r1; st.shared.u16 [%d2+258], 3; setp.gt.u32 %p1, %r1, 99;\n\
         ld.shared.u32 %r2, [%d2+128]; ld.shared.u32 %r3, [%d2]; ld.shared.u32 %r4, [%d2+256];\n\
         {body}\nDONE: ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.seed(seed).unwritten(256).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{body}");
    let what = |finding: &ptx_interpreter::Finding| finding.places.last().map(|place| place.what.clone());
    report.findings.iter().map(|finding| (finding.kind, what(finding).unwrap_or_default())).collect()
}

#[test]
fn what_is_done_by_values_without_one() {
    for (body, expected) in CASES {
        for seed in 0..4 {
            let expected: Vec<_> = expected.iter().map(|what| (Kind::Uninitialised, (*what).to_owned())).collect();
            assert_eq!(run(body, seed), expected, "{body}, seed {seed}");
        }
    }
    println!("{} texts", CASES.len());
    assert!(CASES.len() >= 66, "fewer texts than there were");
}
