//! Barriers of a block by their number and count, and a cluster's in two steps: what they order, and what the ISA leaves open.

use ptx_interpreter::{Kind, Program, Report, Trial};

/// A launch of blocks of 64 threads. `%t` is the thread, `%w` its warp, `%own` its word of shared memory, `%to` its word of the buffer.
fn run(body: &str, blocks: u32, seed: u64) -> (Report, Vec<u32>) {
    run_threads(body, blocks, 64, seed)
}

/// The same, with blocks of so many threads.
fn run_threads(body: &str, blocks: u32, threads: u32, seed: u64) -> (Report, Vec<u32>) {
    let cluster = if blocks > 1 { ".reqnctapercluster 2, 1, 1" } else { "" };
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p) {cluster} {{\n.shared .align 4 .b8 words[256];\n\
         .reg .b32 %r<9>, %t, %w, %own, %b; .reg .b64 %to, %d<3>; .reg .pred %p<4>;\n\
         mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %own, words; mad.lo.u32 %own, %t, 4, %own; mov.u32 %b, %ctaid.x;\n\
         ld.param.u64 %to, [p]; mad.lo.u32 %r1, %b, 64, %t; mul.wide.u32 %d1, %r1, 4; add.u64 %to, %to, %d1; mov.u32 %r1, 0;\n\
         setp.eq.u32 %p1, %w, 0;\n{body}\nst.global.u32 [%to], %r1; done: ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.grid([blocks, 1, 1]).block([threads, 1, 1]).seed(seed);
    trial.buffer(&vec![0; 256 * blocks as usize]).expect("a little memory");
    let report = trial.check();
    let words = trial.content(0).chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    (report, words.collect())
}

/// The values of all orders of the threads, which agree.
fn right(body: &str, blocks: u32) -> Vec<u32> {
    let all = (0..8).map(|seed| {
        let (report, words) = run(body, blocks, seed);
        assert_eq!((report.findings, report.stop), (vec![], None), "{body}");
        words
    });
    all.reduce(|one, other| {
        assert_eq!(one, other, "{body}");
        one
    })
    .expect("eight orders")
}

/// What a launch ends early with.
fn stops(body: &str, blocks: u32) -> String {
    let (report, _) = run(body, blocks, 0);
    report.findings.first().unwrap_or_else(|| panic!("{body} is wrong")).to_string()
}

/// Whether some order of the threads finds something.
fn is_found(body: &str, blocks: u32) -> bool {
    (0..8).any(|seed| !run(body, blocks, seed).0.findings.is_empty())
}

/// One warp writes and arrives, the other waits and reads.
const HAND_OVER: &str = "@%p1 bra first;\nbar.sync 3, 64; ld.shared.u32 %r1, [%own+-128]; bra over;\n\
                         first: add.u32 %r2, %t, 7; st.shared.u32 [%own], %r2; bar.arrive 3, 64;\nover:";

#[test]
fn who_arrives_is_seen_by_those_who_wait() {
    let expected: Vec<u32> = (0..64).map(|thread: u32| thread.checked_sub(32).map_or(0, |first| first + 7)).collect();
    assert_eq!(right(HAND_OVER, 1), expected);
    assert_eq!(right(&HAND_OVER.replace("bar.", "barrier.cta."), 1), expected);
    assert_eq!(right(&HAND_OVER.replace("bar.", "barrier.").replace("sync 3", "sync.aligned 3"), 1), expected);
    let late = HAND_OVER
        .replace("st.shared.u32 [%own], %r2; bar.arrive 3, 64;", "bar.arrive 3, 64; st.shared.u32 [%own], %r2;");
    assert!(is_found(&late, 1));
    // Who only arrives sees nothing of the others.
    let back = "st.shared.u32 [%own], 1; @%p1 bra first;\nbar.sync 3, 64; bra over;\n\
                first: bar.arrive 3, 64; ld.shared.u32 %r1, [%own+128];\nover:";
    assert!(is_found(back, 1));
}

#[test]
fn a_red_counts_those_that_come() {
    let each = "setp.lt.u32 %p2, %t, 40;\nbar.red.popc.u32 %r2, 1, %p2; bar.red.popc.u32 %r3, 2, 64, !%p2;\n\
                bar.red.and.pred %p3, 1, %p2; selp.u32 %r4, 1, 0, %p3; barrier.red.or.pred %p3, 4, 64, %p2; selp.u32 %r5, 1, 0, %p3;\n\
                add.u32 %r6, %w, 5; barrier.red.popc.u32 %r7, %r6, 32, %p2;\n\
                mad.lo.u32 %r1, %r2, 100, %r3; mad.lo.u32 %r1, %r1, 10, %r4; mad.lo.u32 %r1, %r1, 10, %r5; mad.lo.u32 %r1, %r1, 100, %r7;";
    let of_warp = |count: u32| (40 * 100 + 24) * 10_000 + 100 + count;
    assert_eq!(right(each, 1), [[of_warp(32); 32], [of_warp(8); 32]].concat());
}

#[test]
fn what_the_isa_leaves_open_is_wrong() {
    let says = |body: &str, blocks: u32, text: &str| {
        let stop = stops(body, blocks);
        assert!(stop.contains(text), "{body}: {stop}");
    };
    says("bar.sync 16;", 1, "there is no barrier 16");
    says("bar.sync 1, 48;", 1, "a multiple of 32");
    says("@%p1 bra f;\nbar.sync 1;\nbra over;\nf: bar.arrive 1, 64;\nover:", 1, "the whole block");
    says("@%p1 bra f;\nbar.sync 1;\nbra over;\nf: bar.red.or.pred %p2, 1, %p1;\nover:", 1, "a `.red` meets a `.sync`");
    says("barrier.cluster.wait;", 2, "has not arrived");
    says("barrier.cluster.arrive; barrier.cluster.arrive;", 2, "has not waited");
}

#[test]
fn a_count_is_one_of_whole_warps() {
    for seed in 0..8 {
        // The second warp has eight threads.
        let few = "bar.sync 1, 64; add.u32 %r1, %t, 1; bar.red.and.pred %p3, 2, 64, %p1; selp.u32 %r2, 100, 0, %p3; add.u32 %r1, %r1, %r2;";
        let (report, words) = run_threads(few, 1, 40, seed);
        assert_eq!((report.findings, report.stop), (vec![], None));
        assert_eq!(words[..40], (1..=40).collect::<Vec<u32>>()[..]);
        let lacks = "bar.sync 1, 96;";
        let (report, _) = run_threads(lacks, 1, 40, seed);
        assert!(report.findings[0].to_string().contains("64 of 96 threads have arrived"), "{}", report.findings[0]);
    }
}

/// Each block writes into the other one, and some threads end when they have arrived.
const EXCHANGE: &str = "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %own, %r3;\n\
                        mad.lo.u32 %r5, %b, 100, %t; barrier.cluster.arrive.relaxed; barrier.cluster.wait;
st.shared::cluster.u32 [%r4], %r5; barrier.cluster.arrive;\n\
                        setp.eq.u32 %p2, %t, 9; @%p2 bra done;\nbarrier.cluster.wait; ld.shared.u32 %r1, [%own];";

#[test]
fn a_cluster_meets_in_two_steps() {
    let own = |thread: u32| if thread == 9 { 0 } else { thread };
    let of_block = |other: u32| move |thread: u32| if thread == 9 { 0 } else { own(thread) + other };
    let expected: Vec<u32> = (0..64).map(of_block(100)).chain((0..64).map(of_block(0))).collect();
    assert_eq!(right(EXCHANGE, 2), expected);
    assert_eq!(
        right(&EXCHANGE.replace("arrive;", "arrive.release;").replace("wait;", "wait.acquire.aligned;"), 2),
        expected
    );
    let relaxed = EXCHANGE.replace("arrive;", "arrive.relaxed;");
    assert!(is_found(&relaxed, 2));
    let fenced = relaxed.replace("barrier.cluster.arrive", "fence.acq_rel.cluster; barrier.cluster.arrive");
    assert_eq!(right(&fenced, 2), expected);
}

/// A relaxed arrival and a relaxed wait order with fences: one before the arrival, and one after the wait.
#[test]
fn fences_order_around_relaxed_arrivals_and_waits() {
    let kinds = |before: &str, arrive: &str, wait: &str, after: &str| {
        let program = Program::parse(&format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
             .reg .b32 %r<4>;\n.reg .b64 %d;\n.reg .pred %p<3>;\n.shared .align 8 .b64 bar;\n.shared .b32 word;\n\
             mov.u32 %r0, %tid.x; setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r0, 32; ld.param.u64 %d, [out];\n\
             @%p1 bra BEGIN;\nmbarrier.init.shared.b64 [bar], 1;\nBEGIN: bar.sync 0;\n@%p1 bra WAITS;\n\
             st.shared.b32 [word], 5;\n{before}\nmbarrier.arrive.{arrive}.shared.b64 _, [bar];\nWAITS: @%p2 bra END;\n\
             AGAIN: mbarrier.try_wait.parity.{wait}.shared.b64 %p1, [bar], 0;\n@!%p1 bra AGAIN;\n{after}\n\
             ld.shared.b32 %r1, [word]; st.global.b32 [%d], %r1;\nEND: ret;\n}}\n"
        ));
        let mut trial = Trial::new(&program, "k");
        trial.block([64, 1, 1]).buffer(&[0; 4]).unwrap();
        trial.check().findings.iter().map(|finding| finding.kind.word()).collect::<Vec<_>>()
    };
    let (released, acquired) = ("fence.release.sync_restrict::shared::cta.cluster;", "fence.acq_rel.cta;");
    let restricted = "fence.acquire.sync_restrict::shared::cluster.cluster;";
    assert_eq!(kinds("", "release.cta", "acquire.cta", ""), [""; 0]);
    assert_eq!(kinds("", "release.cta", "relaxed.cta", acquired), [""; 0]);
    assert_eq!(kinds("", "release.cta", "relaxed.cluster", restricted), [""; 0]);
    assert_eq!(kinds(acquired, "relaxed.cta", "acquire.cta", ""), [""; 0]);
    assert_eq!(kinds(released, "relaxed.cluster", "relaxed.cluster", restricted), [""; 0]);
    assert_ne!(kinds("", "release.cta", "relaxed.cta", ""), [""; 0]);
    assert_ne!(kinds("", "relaxed.cta", "acquire.cta", ""), [""; 0]);
    assert_ne!(kinds("", "relaxed.cta", "relaxed.cta", acquired), [""; 0]);
}

/// A block waits for its own copy and tells the other block by an mbarrier of that one, which then reads what was copied.
#[test]
fn a_wait_of_too_narrow_a_scope_is_named_at_a_copy() {
    let report = |scope: &str| {
        let program = Program::parse(&format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) .explicitcluster .reqnctapercluster 2, 1, 1 {{\n\
             .reg .b32 %r<6>;\n.reg .b64 %d;\n.reg .pred %p<3>;\n.shared .align 16 .b32 room[4];\n.shared .align 8 .b64 full;\n.shared .align 8 .b64 told;\n\
             ld.param.u64 %d, [p]; mov.u32 %r0, %cluster_ctarank; setp.ne.u32 %p1, %r0, 0;\n\
             mbarrier.init.shared.b64 [full], 1; mbarrier.init.shared.b64 [told], 1; fence.mbarrier_init.release.cluster;\n\
             barrier.cluster.arrive; barrier.cluster.wait;\n@%p1 bra READS;\nmbarrier.arrive.expect_tx.shared.b64 _, [full], 16;\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%d], 16, [full];\n\
             COPIED: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;\n@!%p2 bra COPIED;\nmov.u32 %r1, told; mapa.shared::cluster.u32 %r1, %r1, 1;\n\
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];\nbra END;\n\
             READS: mbarrier.try_wait.parity.acquire.{scope}.shared.b64 %p2, [told], 0;\n@!%p2 bra READS;\nmov.u32 %r1, room; mapa.shared::cluster.u32 %r1, %r1, 0;\n\
             ld.shared::cluster.u32 %r2, [%r1]; st.global.u32 [%d+16], %r2;\nEND: barrier.cluster.arrive; barrier.cluster.wait;\n\
             mbarrier.inval.shared.b64 [full]; mbarrier.inval.shared.b64 [told]; ret;\n}}\n"
        ));
        let mut trial = Trial::new(&program, "k");
        trial.grid([2, 1, 1]).block([1, 1, 1]).buffer(&[7; 32]).unwrap();
        trial.check().findings
    };
    assert_eq!(report("cluster"), vec![]);
    let [finding] = &report("cta")[..] else { panic!("one finding") };
    assert_eq!(finding.kind, Kind::Async);
    assert_eq!(finding.help, "write `mbarrier.try_wait.acquire.cluster`");
    assert!(finding.places.iter().any(|place| place.what == "waits for the mbarrier"), "{finding}");
}

#[test]
fn a_stage_that_nobody_fills_may_be_left() {
    let expects = |copied: &str| {
        let body = format!(
            ".shared .align 8 .b64 bar; setp.ne.u32 %p2, %t, 0; @%p2 bra over;\n\
             mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n{copied}\nover:"
        );
        run(&body, 1, 0).0.findings.iter().map(ToString::to_string).collect::<String>()
    };
    assert_eq!(expects(""), "");
    let half = expects("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;");
    assert!(half.contains("a barrier expects more bytes than copies bring"), "{half}");
}

/// An author waits by the number of the threads, where the arrival has given a state.
#[test]
fn a_wait_is_for_the_state_that_an_arrival_gives() {
    let waits = |state: &str| {
        format!(
            ".shared .align 8 .b8 bar[8]; setp.eq.u32 %p2, %t, 0; @%p2 mbarrier.init.shared.b64 [bar], 64; bar.sync 0;\n\
             st.shared.u32 [%own], 7; mbarrier.arrive.shared.b64 %d2, [bar];\n\
             again: mbarrier.test_wait.shared.b64 %p3, [bar], {state}; @!%p3 bra again;\n\
             xor.b32 %r2, %t, 63; shl.b32 %r2, %r2, 2; mov.u32 %r3, words; add.u32 %r2, %r2, %r3; ld.shared.u32 %r1, [%r2];"
        )
    };
    assert_eq!(right(&waits("%d2"), 1), vec![7; 64]);
    let (report, words) = run(&waits("64"), 1, 0);
    let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(
        found.len() == 1 && found[0].contains("a wait for a barrier is given a state that no arrival gives"),
        "{found:?}"
    );
    assert!(found[0].contains("by the state 64") && report.findings[0].kind == Kind::Async, "{found:?}");
    // It goes on.
    assert_eq!(words[..64], [7; 64]);
}

#[test]
fn who_has_ended_came_to_no_barrier() {
    // The second warp stores and ends, and the first one waits at a barrier and reads.
    let ends = "st.shared.u32 [%own], %t; @!%p1 bra done; bar.sync 0; ld.shared.u32 %r1, [%own+128];";
    let note = "a barrier that it did not come to does not order what it did";
    let said: Vec<String> =
        (0..8).flat_map(|seed| run(ends, 1, seed).0.findings).map(|finding| finding.to_string()).collect();
    assert!(said.iter().any(|text| text.contains(&format!("= note: thread 32 has ended: {note}"))), "{said:?}");
    // It comes to the barrier and ends.
    let comes = "st.shared.u32 [%own], %t; bar.sync 0; @!%p1 bra done; ld.shared.u32 %r1, [%own+128];";
    assert_eq!(right(comes, 1)[..32], (32..64).collect::<Vec<u32>>());
    // Nobody has ended.
    let races = "ld.shared.u32 %r1, [%own+128]; @%p1 bra over; st.shared.u32 [%own], %t; over: bar.sync 0;";
    assert!(!stops(races, 1).contains(note));
}
