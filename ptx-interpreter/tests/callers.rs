//! A finding in a function that is not inlined names the calls that led there.

use ptx_interpreter::{Allowed, Finding, Kind, Program, Trial};

/// `f` stores at an address that it is handed, `g` calls it, and `deep` calls itself as often as it is told and then calls `f`. `wait` waits at a barrier.
/// `plain` does as `f`, and names no lines, and `same` stores the same for all.
const FUNCTIONS: &str = "\
.version 8.6
.target sm_90
.address_size 64
.file 1 \"k.cu\"
.func f(.param .b64 to) {
.reg .b64 %d; .reg .b32 %v;
.loc 1 3 0
ld.param.u64 %d, [to]; mov.u32 %v, %tid.x; st.global.u32 [%d], %v;
ret; }
.func g(.param .b64 to) {
.reg .b64 %d;
.loc 1 7 0
ld.param.u64 %d, [to]; { .param .b64 x; st.param.b64 [x], %d; call.uni f, (x); }
ret; }
.func deep(.param .b64 to, .param .b32 n) {
.reg .b64 %d; .reg .b32 %n; .reg .pred %p;
ld.param.u64 %d, [to]; ld.param.u32 %n, [n];
setp.eq.u32 %p, %n, 0; @%p bra last; sub.u32 %n, %n, 1;
{ .param .b64 x; .param .b32 m; st.param.b64 [x], %d; st.param.b32 [m], %n; call.uni deep, (x, m); }
ret;
last:
{ .param .b64 x; st.param.b64 [x], %d; call.uni f, (x); }
ret; }
.func wait() {
bar.sync 0, 128;
ret; }
.func plain(.param .b64 to) { .reg .b64 %d; .reg .b32 %v; ld.param.u64 %d, [to]; mov.u32 %v, %tid.x; st.global.u32 [%d], %v; ret; }
.func same(.param .b64 to) { .reg .b64 %d; ld.param.u64 %d, [to]; st.global.u32 [%d], 7; ret; }
.visible .entry k(.param .u64 p) {
.reg .b64 %d; .reg .b32 %t, %n; .reg .pred %p;
ld.param.u64 %d, [p]; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 32;
";

/// What is found in 64 threads that execute a body with 4 bytes of memory.
fn found(body: &str, seed: u64) -> Vec<Finding> {
    let program = Program::parse(&format!("{FUNCTIONS}{body}\nret; }}\n"));
    let mut trial = Trial::new(&program, "k");
    trial.block([64, 1, 1]).seed(seed).buffer(&[0; 4]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    report.findings
}

/// The lines of a message that say where something is, after another one that has some words.
fn where_after<'t>(text: &'t str, words: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| !line.contains(words)).take_while(|line| !line.ends_with('|'));
    lines.map(str::trim).collect()
}

const CALLS: &str = "\
@%p bra other;
.loc 1 20 5, function_name $L__info_string0, inlined_at 1 30 5
{ .param .b64 x; st.param.b64 [x], %d; call.uni f, (x); }
bra done;
other:
.loc 1 40 0
{ .param .b64 x; st.param.b64 [x], %d; call.uni g, (x); }
done:";

#[test]
fn both_accesses_of_a_race_name_their_calls() {
    for seed in 0..8 {
        let all = found(CALLS, seed);
        let race: Vec<&Finding> =
            all.iter().filter(|finding| finding.places[0].thread / 32 != finding.places[1].thread / 32).collect();
        let [race] = race[..] else { panic!("{all:?}") };
        let text = race.to_string();
        let direct = ["k.cu:3, PTX line 8 in f", "called at k.cu:20, PTX line 34 in k", "called at k.cu:30"];
        let nested =
            ["k.cu:3, PTX line 8 in f", "called at k.cu:7, PTX line 13 in g", "called at k.cu:40, PTX line 38 in k"];
        let (first, second) = if race.places[0].thread < 32 { (nested, direct) } else { (direct, nested) };
        for (arrow, expected) in [("-->", first), (":::", second)] {
            let mut expected: Vec<String> = expected.map(str::to_owned).into();
            expected[0] = format!("{arrow} {}", expected[0]);
            assert_eq!(where_after(&text, arrow), expected, "{text}");
        }
    }
}

/// What an instruction does is one finding, by however many calls it is reached.
#[test]
fn calls_make_no_more_findings() {
    let times = |function: &str, count: usize| -> Vec<(Kind, u64)> {
        let call = format!("{{ .param .b64 x; st.param.b64 [x], %d; call.uni {function}, (x); }}\n");
        found(&call.repeat(count), 0).iter().map(|finding| (finding.kind, finding.times)).collect()
    };
    let [(Kind::Race, once)] = times("plain", 1)[..] else { panic!("{:?}", times("plain", 1)) };
    let [(Kind::Race, often)] = times("plain", 5)[..] else { panic!("{:?}", times("plain", 5)) };
    assert!(often > once, "{often} and {once}");
    assert_eq!(times("same", 5), []);
}

/// nvcc says line 0 of a load that it has made of several.
#[test]
fn line_0_is_no_line_of_the_source() {
    let text_of = |loc: &str| {
        let all = found(&format!("add.u64 %d, %d, 1048576;\n{loc}\nst.global.u32 [%d], %t;"), 0);
        let [finding] = &all[..] else { panic!("{all:?}") };
        finding.to_string()
    };
    let own = text_of(".loc 1 0 7");
    assert_eq!(where_after(&own, "-->"), ["--> PTX line 34 in k"], "{own}");
    let inlined = text_of(".loc 1 0 0, function_name $L__info_string0, inlined_at 1 30 5");
    assert_eq!(where_after(&inlined, "-->"), ["--> k.cu:30, PTX line 34 in k"], "{inlined}");
}

#[test]
fn a_recursion_is_named_once() {
    let body = "add.u64 %d, %d, 1048576; mov.u32 %n, 40;\n\
                { .param .b64 x; .param .b32 m; st.param.b64 [x], %d; st.param.b32 [m], %n; call.uni deep, (x, m); }";
    let all = found(body, 0);
    let [finding] = &all[..] else { panic!("{all:?}") };
    let text = finding.to_string();
    let expected = [
        "--> k.cu:3, PTX line 8 in f",
        "called at PTX line 22 in deep",
        "called at PTX line 19 in deep",
        "called at PTX line 33 in k",
    ];
    assert_eq!((finding.kind, where_after(&text, "-->")), (Kind::Bounds, expected.to_vec()), "{text}");
}

#[test]
fn who_waits_forever_names_its_calls() {
    let all = found("call.uni wait;", 0);
    let finding = all.iter().find(|finding| finding.kind == Kind::Deadlock).unwrap_or_else(|| panic!("{all:?}"));
    let text = finding.to_string();
    assert_eq!(where_after(&text, "in wait"), ["--> PTX line 25 in wait", "called at PTX line 32 in k"], "{text}");
}

#[test]
fn a_line_that_calls_allows_a_finding() {
    for (line, is_silent) in [(40, true), (30, true), (7, true), (41, false)] {
        let mut all = found(CALLS, 0);
        all.retain(|finding| finding.places[0].thread / 32 != finding.places[1].thread / 32);
        let mut allowed = Allowed::parse(&format!("race k.cu:{line} both write the same")).expect("it is right");
        allowed.silence("k", &mut all);
        assert_eq!(all.is_empty(), is_silent, "line {line}");
    }
}
