//! What one order would put right is one finding, and what takes several is several.

use ptx_interpreter::{Allowed, Finding, Kind, Program, Trial};

/// What is found in 64 threads that execute a body. `%t` is the number of a thread, `%a` its place in `s`, and `%b` that of the thread whose
/// number differs by 32; `%c` is that of the one whose number differs by 1.
fn found(body: &str) -> Vec<Finding> {
    found_in(body, 1, 0)
}

fn found_in(body: &str, blocks: u32, seed: u64) -> Vec<Finding> {
    let program = Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"k.cu\"\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %o, %w, %u;\n.reg .b32 %t, %a, %b, %c, %r, %i, %n;\n.reg .pred %p;\n.shared .align 4 .b8 s[1024];\n\
         ld.param.u64 %o, [p]; mov.u32 %t, %tid.x; mov.u32 %n, s;\n\
         mad.lo.u32 %a, %t, 4, %n; xor.b32 %r, %t, 32; mad.lo.u32 %b, %r, 4, %n;\n\
         xor.b32 %r, %t, 1; mad.lo.u32 %c, %r, 4, %n; setp.lt.u32 %p, %t, 32;\n\
         mul.wide.u32 %w, %t, 4; add.u64 %w, %o, %w;\n{body}\nret;\n}}\n"
    ));
    let mut trial = Trial::new(&program, "k");
    trial.grid([blocks, 1, 1]).block([64, 1, 1]).seed(seed).buffer(&[0; 1024]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    report.findings
}

/// The lines of the two accesses.
fn lines(one: &Finding) -> [u32; 2] {
    let mut lines = [0, 1].map(|at: usize| one.places[at].source.as_ref().map_or(0, |(_, line)| *line));
    lines.sort_unstable();
    lines
}

/// Of each finding the lines of its pairs.
fn pairs(findings: &[Finding]) -> Vec<Vec<[u32; 2]>> {
    let mut all: Vec<Vec<[u32; 2]>> =
        findings.iter().map(|finding| finding.and_further().map(lines).collect()).collect();
    all.iter_mut().for_each(|pairs| pairs.sort_unstable());
    all.sort();
    all
}

/// A body whose lines have numbers.
fn numbered(statements: &[(u32, &str)]) -> String {
    statements.iter().map(|(line, text)| format!(".loc 1 {line} 1\n{text}\n")).collect()
}

const FILLS: [(u32, &str); 3] =
    [(10, "st.shared.u32 [%a], %t;"), (11, "st.shared.u32 [%a+256], %t;"), (12, "bar.sync 0;")];
const READS: [(u32, &str); 3] =
    [(20, "ld.shared.u32 %r, [%b];"), (21, "ld.shared.u32 %r, [%b+256];"), (22, "bar.sync 0;")];
const STORES: [(u32, &str); 2] = [(30, "st.shared.u32 [%a], %t;"), (31, "st.shared.u32 [%a+256], %t;")];

/// The three parts without the barriers of some lines.
fn without(barriers: &[u32]) -> String {
    let all = FILLS.iter().chain(&READS).chain(&STORES).filter(|(line, _)| !barriers.contains(line));
    numbered(&all.copied().collect::<Vec<_>>())
}

#[test]
fn one_barrier_is_one_finding() {
    assert_eq!(found(&without(&[])), []);
    for seed in 0..8 {
        let first = found_in(&without(&[12]), 1, seed);
        assert_eq!(pairs(&first), [[[10, 20], [11, 21]]]);
        assert_eq!(pairs(&found_in(&without(&[22]), 1, seed)), [[[20, 30], [21, 31]]]);
        // The place that is nearest to where the barrier belongs is told first.
        assert_eq!(lines(&first[0]), [10, 20]);
    }
}

#[test]
fn two_barriers_are_two_findings() {
    assert_eq!(pairs(&found(&without(&[12, 22]))), [[[10, 20], [11, 21]], [[20, 30], [21, 31]]]);
}

/// A loop of two parts, with a barrier behind each of them.
fn turns(barriers: [&str; 2]) -> String {
    let [middle, end] = barriers;
    let body = numbered(&[
        (40, "st.shared.u32 [%a], %i;"),
        (41, middle),
        (42, "ld.shared.u32 %r, [%b];"),
        (43, "ld.shared.u32 %r, [%b];"),
        (44, end),
    ]);
    format!("mov.u32 %i, 0;\nLOOP:\n{body} add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 4; @%p bra LOOP;")
}

#[test]
fn a_barrier_at_the_end_of_a_turn_is_another_one_than_in_its_middle() {
    assert_eq!(found(&turns(["bar.sync 0;", "bar.sync 0;"])), []);
    assert_eq!(pairs(&found(&turns(["", "bar.sync 0;"]))), [[[40, 42], [40, 43]]]);
    assert_eq!(pairs(&found(&turns(["bar.sync 0;", ""]))), [[[40, 42], [40, 43]]]);
    // A barrier where a turn begins would order what is before the loop too, and one in the middle would not.
    let before = |barriers| numbered(&[(39, "st.shared.u32 [%b], %t;")]) + &turns(barriers);
    assert_eq!(pairs(&found(&before(["bar.sync 0;", ""]))), [[[39, 40], [40, 42], [40, 43]]]);
    assert_eq!(pairs(&found(&before(["", "bar.sync 0;"]))), [vec![[39, 40]], vec![[40, 42], [40, 43]]]);
}

/// A compiler unrolls a loop, so each of its lines has several instructions.
#[test]
fn an_unrolled_loop_is_one_finding() {
    let turn = |at: u32| {
        let [store, one, two] = [("st", "a"), ("ld", "b"), ("ld", "c")].map(|(word, place)| match word {
            "st" => format!("st.shared.u32 [%{place}+{}], %t;", 256 * at),
            _ => format!("ld.shared.u32 %r, [%{place}+{}];", 256 * at),
        });
        numbered(&[(50, &store), (51, &one), (52, &two)])
    };
    let findings = found(&[0, 1, 2].map(turn).concat());
    assert_eq!(pairs(&findings), [[[50, 51], [50, 52]]]);
    let text = findings[0].to_string();
    assert!(text.contains("= note: 3 pairs of instructions of the PTX come from here, and do the same\n"), "{text}");
    assert!(text.contains("= note: 1 more pair of lines has the same cause: 50 and 52\n"), "{text}");
}

/// Of a function that is inlined in two places, what is missing in it is one finding, and what is missing between its calls is another.
#[test]
fn a_function_that_is_inlined_twice_is_one_finding() {
    let call = |line: u32, place: u32| {
        let inlined = |at: u32, text: &str| format!(".loc 1 {at} 1, function_name $f, inlined_at 1 {line} 1\n{text}\n");
        let store = inlined(60, &format!("st.shared.u32 [%a+{place}], %t;"));
        store + &inlined(61, &format!("ld.shared.u32 %r, [%b+{place}];"))
    };
    assert_eq!(pairs(&found(&(call(70, 0) + &call(71, 256)))), [[[60, 61]]]);
    assert_eq!(found(&(call(70, 0) + "bar.sync 0;\n" + &call(71, 0))).len(), 1);
    assert_eq!(found(&(call(70, 0) + &call(71, 0))).len(), 2);
}

/// The steps of a sum within a warp need a barrier each, and have one cause. Two sums have two.
#[test]
fn a_warp_that_goes_on_together_is_one_finding() {
    let sum = |line: u32, place: u32| {
        let store = format!("st.shared.u32 [%a+{place}], %t;");
        let load = format!("ld.shared.u32 %r, [%c+{place}];");
        let last = format!("st.shared.u32 [%a+{place}], %r;");
        numbered(&[(line, &store), (line + 1, &load), (line + 2, &last)])
    };
    let one = found(&sum(80, 0));
    assert_eq!(pairs(&one), [[[80, 81], [81, 82]]]);
    let help =
        "put `bar.warp.sync` (__syncwarp()) between each two of these steps; threads of a warp do not run in lockstep";
    assert_eq!(one[0].help, help);
    let two = found(&(sum(80, 0) + "bar.sync 0;\n" + &sum(90, 0)));
    assert_eq!(pairs(&two), [[[80, 81], [81, 82]], [[90, 91], [91, 92]]]);
}

/// What two branches do may lack several orders. It is one finding if both have an access in common.
#[test]
fn branches_have_one_cause_if_they_share_an_access() {
    let branches = |reads: [(u32, &str); 2]| {
        let stores = numbered(&[(100, "st.shared.u32 [s], 1;"), (101, "st.shared.u32 [s+4], 1;")]);
        format!(
            "@%p bra OTHER;\nsetp.ne.u32 %p, %t, 32; @%p bra END;\n{stores} bra END;\nOTHER:\n{}END:",
            numbered(&reads)
        )
    };
    let apart = branches([(110, "ld.shared.u32 %r, [s];"), (111, "ld.shared.u32 %r, [s+4];")]);
    assert_eq!(pairs(&found(&apart)), [[[100, 110]], [[101, 111]]]);
    let shared = branches([(110, "ld.shared.u32 %r, [s];"), (111, "ld.shared.u32 %r, [s];")]);
    assert_eq!(pairs(&found(&shared)), [[[100, 110], [100, 111]]]);
}

/// What a flag says is ready, and what another one does.
#[test]
fn a_flag_is_one_finding() {
    let body = |flags: [u32; 2]| {
        let [one, other] = flags.map(|at| format!("st.relaxed.gpu.global.u32 [%o+{at}], 1;"));
        let waits = [(130, "W"), (132, "V")].into_iter().zip(flags).map(|((line, label), at)| {
            numbered(&[(line, &format!("{label}: ld.acquire.gpu.global.u32 %r, [%o+{at}];"))])
                + &format!("setp.eq.u32 %p, %r, 0; @%p bra {label};\n")
        });
        let [first, second] = &waits.collect::<Vec<_>>()[..] else { unreachable!() };
        let stores = numbered(&[(120, "st.global.u32 [%o+512], 1;"), (121, &one), (122, "st.global.u32 [%o+516], 1;")]);
        let loads = numbered(&[(131, "ld.global.u32 %r, [%o+512];")]);
        let last = numbered(&[(133, "ld.global.u32 %r, [%o+516];")]);
        format!(
            "mov.u32 %n, %ctaid.x; setp.ne.u32 %p, %t, 0; @%p bra END; setp.ne.u32 %p, %n, 0; @%p bra READ;\n{stores}{}bra END;\n\
             READ:\n{first}{loads}{second}{last}END:",
            numbered(&[(123, &other)])
        )
    };
    let several = found_in(&body([0, 4]), 2, 0);
    assert_eq!(pairs(&several), [[[120, 131]], [[122, 133]]]);
    assert!(several.iter().all(|finding| finding.kind == Kind::Order), "{several:?}");
}

/// What several blocks store by one instruction they should not share, whatever else they do with it.
#[test]
fn what_blocks_share_is_one_finding() {
    let body = numbered(&[
        (140, "st.global.u32 [%w], %n;"),
        (141, "ld.global.u32 %r, [%w];"),
        (142, "st.global.u32 [%w+512], %n;"),
        (143, "ld.global.u32 %r, [%w+512];"),
    ]);
    let all = pairs(&found_in(&format!("mov.u32 %n, %ctaid.x;\n{body}"), 2, 0));
    assert_eq!(all, [[[140, 140], [140, 141]], [[142, 142], [142, 143]]]);
}

/// An allowed pair goes, and those that have its cause stay.
#[test]
fn an_allowed_pair_leaves_the_others() {
    let mut findings = found(&without(&[12]));
    let all = findings[0].times;
    let mut allowed = Allowed::parse("race k.cu:20 it is looked at elsewhere").expect("it is valid");
    allowed.silence("k", &mut findings);
    assert_eq!(pairs(&findings), [[[11, 21]]]);
    assert!(findings[0].times < all && findings[0].further.is_empty(), "{findings:?}");
    assert_eq!((allowed.silenced(), allowed.warnings()), (1, vec![]));
}
