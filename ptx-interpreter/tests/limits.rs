//! What a launch takes of memory, and when its deadline ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ptx_interpreter::{Choice, Kind, Program, Report, Trial};

const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// Two kernels, of which each names one variable of the module; nobody names the third.
const NAMED: &str = "\
    .shared .align 4 .b8 large[4294967292];\n\
    .shared .align 4 .b8 first[128];\n\
    .shared .align 4 .b8 second[256];\n\
    .shared .align 4 .b8 nobody[4294967292];\n\
    .visible .entry k(.param .u64 p) {\n\
    .reg .b32 %r<6>; .reg .b64 %d<3>; .shared .align 4 .b8 own[128];\n\
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n\
    mov.u32 %r3, own; add.u32 %r3, %r3, %r2; mov.u32 %r4, first; add.u32 %r4, %r4, %r2;\n\
    st.shared.u32 [%r3], %r1; st.shared.u32 [%r4], 1000;\n\
    ld.shared.u32 %r3, [%r3]; ld.shared.u32 %r4, [%r4]; add.u32 %r3, %r3, %r4;\n\
    cvt.u64.u32 %d2, %r2; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret;\n}\n\
    .visible .entry size(.param .u64 p) {\n\
    .reg .b32 %r<2>; .reg .b64 %d<2>;\n\
    ld.param.u64 %d1, [p]; st.shared.u32 [second+252], 1; mov.u32 %r1, %total_smem_size; st.global.u32 [%d1], %r1; ret;\n}\n\
    .visible .entry huge() {\n\
    st.shared.u32 [large], 1; ret;\n}\n";

fn words(content: &[u8]) -> Vec<u32> {
    content.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

#[test]
fn a_kernel_has_the_shared_variables_that_it_names() {
    let program = Program::parse(&format!("{HEAD}{NAMED}"));
    let mut trial = Trial::new(&program, "k");
    trial.buffer(&[0; 128]).expect("a little memory");
    let report = trial.check();
    assert_eq!((report.findings, report.stop), (vec![], None));
    assert_eq!(words(trial.content(0)), (1000..1032).collect::<Vec<_>>());
    let mut trial = Trial::new(&program, "size");
    trial.block([1, 1, 1]).buffer(&[0; 4]).expect("a little memory");
    let report = trial.check();
    assert_eq!((report.findings, report.stop), (vec![], None));
    assert_eq!(words(trial.content(0)), [256]);
    let bytes = ["k", "size", "huge"].map(|kernel| program.kernel(kernel).map(|kernel| kernel.shared));
    assert_eq!(bytes, [Some(256), Some(256), Some(4_294_967_292)]);
    let report = Trial::new(&program, "huge").check();
    assert_eq!(report.findings[0].title, "a block has at most 49152 bytes of static shared memory, not 4294967292");
}

/// `ptxas` takes more static shared memory for a target whose name ends with an `a`.
#[test]
fn a_kernel_for_one_gpu_declares_more_shared_memory() {
    for (target, bytes, most) in [
        ("sm_100", 49152, None),
        ("sm_100", 49156, Some(49152)),
        ("sm_100f", 49156, Some(49152)),
        ("sm_100a", 232448, None),
        ("sm_103a, debug", 232452, Some(232448)),
    ] {
        let module = format!(
            ".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k() {{\n\
             .shared .align 4 .b8 tile[{bytes}]; st.shared.u32 [tile+{}], 1; ret;\n}}\n",
            bytes - 4
        );
        let report = Trial::new(&Program::parse(&module), "k").check();
        let titles: Vec<String> = report.findings.into_iter().map(|finding| finding.title).collect();
        let expected =
            most.map(|most| format!("a block has at most {most} bytes of static shared memory, not {bytes}"));
        assert_eq!(titles, Vec::from_iter(expected), "{target}");
    }
}

/// Of a function that may be called every kernel has the variables.
#[test]
fn too_much_shared_memory_of_functions_is_refused() {
    let module = format!(
        "{HEAD}.shared .align 4 .b8 large[4294967292];\n.func f() {{\nst.shared.u32 [large], 1; ret;\n}}\n\
         .visible .entry k() {{\nret;\n}}\n"
    );
    let report = Trial::new(&Program::parse(&module), "k").check();
    let [finding] = &report.findings[..] else { panic!("{report}") };
    assert_eq!(finding.kind, Kind::Launch);
    let expected =
        "k and the functions of its module name 4294967296 bytes of shared memory; this machine runs 16777216";
    assert_eq!(finding.title, expected);
}

/// A launch whose deadline has passed already.
fn late(body: &str, threads: u32, run: impl FnOnce(&mut Trial<'_>) -> Report) -> Report {
    let module = format!(
        "{HEAD}.visible .entry k(.param .u64 p) {{\n.shared .align 8 .b64 bar; .shared .align 16 .b8 to[32768];\n\
         .reg .b64 %d<3>; .reg .b32 %r<3>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([threads, 1, 1]).limits(u64::MAX, Some(Instant::now()));
    trial.buffer(&[0; 32768]).expect("a little memory");
    let report = run(&mut trial);
    assert!(report.findings.iter().any(|finding| finding.is_late()), "{report}");
    report
}

/// A turn has no more instructions.
const TURN: u64 = 1024;

#[test]
fn the_deadline_is_asked_for_by_what_is_done() {
    let adds = "again: add.u32 %r1, %r1, 1; bra again;";
    let report = late(adds, 32, |trial| trial.check());
    assert!(report.instructions < 32 * (600 + TURN), "{}", report.instructions);
    let first = |choice: Choice<'_>| if let Choice::Thread(_) = choice { 0 } else { unreachable!("no load is weak") };
    let report = late(adds, 2, |trial| trial.check_in_order(first));
    assert!(report.instructions < 600, "{}", report.instructions);
    // A large copy takes as long as many instructions.
    let copies = "mov.u32 %r1, bar; mov.u32 %r2, to; mbarrier.init.shared.b64 [%r1], 1; fence.proxy.async;\n\
                  again: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 32768;\n\
                  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 32768, [%r1];\n\
                  nanosleep.u32 9; bra again;";
    let report = late(copies, 1, |trial| trial.check());
    assert!(report.instructions < 400, "{}", report.instructions);
}

/// What a barrier cannot count is an error, and nothing is printed about a panic.
#[test]
fn a_barrier_that_cannot_be_does_not_panic() {
    let panics = Arc::new(AtomicUsize::new(0));
    let (counted, before) = (Arc::clone(&panics), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        counted.fetch_add(1, Ordering::Relaxed);
        before(info);
    }));
    let cases = [
        ("mbarrier.init.shared.b64 [bar], 0;", "a phase of a barrier is of 1 to 1048575 threads, and not of 0"),
        (
            "mbarrier.init.shared.b64 [bar], 1048576;",
            "a phase of a barrier is of 1 to 1048575 threads, and not of 1048576",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048576;",
            "the phase of the barrier lacks 0 bytes and then 1048576: at most 1048575 are possible",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 1;\n\
             mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1048575;\n\
             mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1;",
            "the phase of the barrier lacks -1048575 bytes and then -1048576: at most 1048575 are possible",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 _, [bar], 3;",
            "3 arrivals are more than the phase of the barrier expects: 2",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive_drop.shared.b64 _, [bar], 2;\n\
             mbarrier.arrive_drop.shared.b64 _, [bar], 1;",
            "1 arrivals are more than the phase of the barrier expects: 0",
        ),
    ];
    for (body, expected) in cases {
        let module = format!("{HEAD}.visible .entry k() {{\n.shared .align 8 .b64 bar;\n{body}\nret;\n}}\n");
        let program = Program::parse(&module);
        let report = Trial::new(&program, "k").block([1, 1, 1]).check();
        assert!(report.to_string().contains(expected), "{body}: {report}");
        assert_eq!(report.findings.len(), 1, "{report}");
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0);
}
