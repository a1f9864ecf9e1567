//! One memory by two virtual addresses: it has one content, and `fence.proxy.alias` orders what uses both.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// A kernel of two addresses and an output: `%a`, `%b` and `%o` are each thread's word of them.
fn program(body: &str) -> Program {
    Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 one, .param .u64 other, .param .u64 out) {{\n\
         .reg .pred %p; .reg .b32 %t, %r, %s; .reg .b64 %a, %b, %o, %at;\n\
         ld.param.u64 %a, [one]; ld.param.u64 %b, [other]; ld.param.u64 %o, [out];\n\
         mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4;\n\
         add.u64 %a, %a, %at; add.u64 %b, %b, %at; add.u64 %o, %o, %at;\n\
         {body}\nret;\n}}"
    ))
}

/// Two addresses of one buffer: its report, what is there, and the output.
fn run(body: &str, weak: bool, seed: u64) -> (Report, Vec<u8>, Vec<u8>) {
    let program = program(body);
    let mut trial = Trial::new(&program, "k");
    trial.block([64, 1, 1]).seed(seed).weak(weak);
    trial.unwritten(256).unwrap().alias(0).unwrap().buffer(&[0; 256]).unwrap();
    let report = trial.check();
    let (content, out) = (trial.content(0).to_vec(), trial.content(2).to_vec());
    (report, content, out)
}

fn kinds(body: &str) -> Vec<Kind> {
    run(body, false, 0).0.findings.iter().map(|finding| finding.kind).collect()
}

fn numbers() -> Vec<u8> {
    (0..64u32).flat_map(u32::to_le_bytes).collect()
}

const PASSED: &str = "st.global.u32 [%a], %t; fence.proxy.alias; ld.global.u32 %r, [%b]; st.global.u32 [%o], %r;";

#[test]
fn what_is_stored_by_one_address_is_loaded_by_the_other() {
    for weak in [false, true] {
        for seed in 0..8 {
            let (report, content, out) = run(PASSED, weak, seed);
            assert!(report.is_clean(), "{report}");
            assert_eq!((content, out), (numbers(), numbers()));
        }
    }
}

#[test]
fn a_thread_needs_a_fence_too() {
    let (report, ..) = run(&PASSED.replace("fence.proxy.alias;", ""), false, 0);
    let text = report.findings[0].to_string();
    assert_eq!(report.findings.len(), 1, "{report}");
    assert_eq!(report.findings[0].kind, Kind::Proxy);
    assert!(text.contains("reads 4 bytes, among them byte 128 of argument 1"), "{text}");
    assert!(text.contains("the earlier access names them byte 128 of argument 0, which is another address"), "{text}");
    assert!(text.contains("= help: execute `fence.proxy.alias`"), "{text}");
}

/// The fence is anywhere on the way from the one access to the other, in any thread.
#[test]
fn the_fence_may_be_on_both_sides_of_a_barrier() {
    let other = "xor.b32 %s, %t, 32; sub.u32 %s, %s, %t; mul.wide.s32 %at, %s, 4; add.u64 %b, %b, %at;";
    let body = |before: &str, after: &str| {
        format!(
            "{other} st.global.u32 [%a], %t; {before} bar.sync 0; {after} ld.global.u32 %r, [%b]; st.global.u32 [%o], %r;"
        )
    };
    let fence = "fence.proxy.alias;";
    assert_eq!(kinds(&body(fence, "")), []);
    assert_eq!(kinds(&body("", fence)), []);
    assert_eq!(kinds(&body("", &format!("setp.eq.u32 %p, %t, 0; @%p {fence} bar.sync 0;"))), []);
    assert_eq!(kinds(&body("", "")), [Kind::Proxy]);
    assert_eq!(kinds(&body("fence.proxy.async;", "fence.acq_rel.sys;")), [Kind::Proxy]);
    // A fence before the access is none.
    assert_eq!(kinds(&format!("{fence} {}", body("", ""))), [Kind::Proxy]);
}

#[test]
fn reads_before_writes_and_writes_after_writes_need_it() {
    let read = "st.global.u32 [%a], 1; ld.global.u32 %r, [%a]; st.global.u32 [%o], %r;";
    // One fence orders both.
    let (report, ..) = run(&format!("{read} st.global.u32 [%b], 2;"), false, 0);
    let text = report.to_string();
    assert_eq!(report.findings.len(), 1, "{text}");
    assert!(text.contains("= note: 2 pairs of instructions of the PTX come from here, and do the same\n"), "{text}");
    assert_eq!(kinds(&format!("{read} fence.proxy.alias; st.global.u32 [%b], 2;")), []);
    // Reads go with reads.
    let both = "ld.global.u32 %r, [%a]; ld.global.u32 %s, [%b]; add.u32 %r, %r, %s; st.global.u32 [%o], %r;";
    assert_eq!(kinds(&format!("st.global.u32 [%a], 1; fence.proxy.alias; {both}")), []);
    // A read by one address does not stand for that by another.
    let later = format!("st.global.u32 [%a], 1; fence.proxy.alias; {both} st.global.u32 [%b], 2;");
    assert_eq!(kinds(&later), [Kind::Proxy]);
}

/// Atomics by two addresses are not morally strong, and threads without any order race.
#[test]
fn atomics_do_not_go_together() {
    let zero = "mov.u64 %a, 0; ld.param.u64 %a, [one]; ld.param.u64 %b, [other];";
    let body = |first: &str, second: &str| {
        format!(
            "{zero} setp.lt.u32 %p, %t, 32; @!%p bra OTHER; {first} bra END; OTHER: {second} END: st.global.u32 [%o], %t;"
        )
    };
    let add = |place: &str| format!("red.global.add.u32 [{place}], 1;");
    let init = "setp.eq.u32 %p, %t, 0; @!%p bra INIT; ld.param.u64 %at, [one]; st.global.u32 [%at], 0; INIT: fence.proxy.alias; bar.sync 0;";
    assert_eq!(kinds(&format!("{init} {}", body(&add("%a"), &add("%a")))), []);
    assert_eq!(kinds(&format!("{init} {}", body(&add("%a"), &add("%b")))), [Kind::Proxy]);
    let stores = body("st.global.u32 [%a], 1;", "st.global.u32 [%b], 2;");
    assert_eq!(kinds(&format!("{init} {stores}")), [Kind::Race]);
}

/// In one direction it is a fence of memory too.
#[test]
fn a_fence_of_aliases_in_one_direction_hands_a_flag_over() {
    let body = |release: &str, acquire: &str| {
        format!(
            "ld.param.u64 %a, [one]; ld.param.u64 %b, [other]; add.u64 %at, %a, 64; setp.eq.u32 %p, %t, 0; st.global.u32 [%o], 0;
             @%p st.global.u32 [%at], 0; bar.sync 0; setp.lt.u32 %p, %t, 32; @%p bra READ; setp.ne.u32 %p, %t, 32; @%p bra END;
             st.global.u32 [%a], 7; {release} st.relaxed.sys.global.u32 [%at], 1; bra END;
             READ: ld.relaxed.sys.global.u32 %r, [%at]; setp.eq.u32 %p, %r, 0; @%p bra READ; {acquire} ld.global.u32 %s, [%b]; END:"
        )
    };
    assert_eq!(kinds(&body("fence.proxy.alias.release.sys;", "fence.proxy.alias.acquire.sys;")), []);
    assert_eq!(kinds(&body("fence.acq_rel.sys;", "fence.acq_rel.sys;")), [Kind::Proxy]);
    assert_eq!(kinds(&body("fence.proxy.alias;", "fence.proxy.alias;")), [Kind::Order]);
}

/// A load of a vector, and lanes that use both.
#[test]
fn lanes_may_name_either() {
    let body = "and.b32 %r, %t, 1; setp.eq.u32 %p, %r, 0; selp.b64 %a, %a, %b, %p; st.global.u32 [%a], %t; \
                fence.proxy.alias; bar.sync 0; ld.global.u32 %r, [%b]; st.global.u32 [%o], %r;";
    let (report, content, out) = run(body, false, 0);
    assert!(report.is_clean(), "{report}");
    assert_eq!((content, out), (numbers(), numbers()));
    assert_eq!(kinds(&body.replace("fence.proxy.alias;", "")), [Kind::Proxy]);
}

#[test]
fn an_alias_is_of_a_buffer() {
    let program = program("");
    let mut trial = Trial::new(&program, "k");
    assert!(trial.value(&[0; 8]).alias(0).is_err());
    assert!(trial.alias(7).is_err());
}
