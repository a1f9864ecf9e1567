//! Clusters in more than one dimension.

use ptx_interpreter::{Finding, Kind, Program, Trial};

/// Each block stores where it is: in its cluster, its rank, its cluster, and how many there are; and the number that a neighbour in its
/// cluster's shared memory has, by its rank.
const KERNEL: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry places(.param .u64 p) REQUIRED
{
    .reg .b32 %r<20>; .reg .b64 %d<3>;
    .shared .b32 own;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
    mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;
    st.shared.u32 [own], %r6;
    barrier.cluster.arrive; barrier.cluster.wait;
    mul.wide.u32 %d2, %r6, 48; add.u64 %d1, %d1, %d2;
    mov.u32 %r7, %cluster_ctaid.x; st.global.u32 [%d1], %r7;
    mov.u32 %r7, %cluster_ctaid.y; st.global.u32 [%d1+4], %r7;
    mov.u32 %r7, %cluster_ctaid.z; st.global.u32 [%d1+8], %r7;
    mov.u32 %r8, %cluster_ctarank; st.global.u32 [%d1+12], %r8;
    mov.u32 %r7, %clusterid.x; st.global.u32 [%d1+16], %r7;
    mov.u32 %r7, %clusterid.y; st.global.u32 [%d1+20], %r7;
    mov.u32 %r7, %clusterid.z; st.global.u32 [%d1+24], %r7;
    mov.u32 %r7, %cluster_nctaid.y; st.global.u32 [%d1+28], %r7;
    mov.u32 %r9, %cluster_nctarank; st.global.u32 [%d1+32], %r9;
    mov.u32 %r7, %nclusterid.x; st.global.u32 [%d1+36], %r7;
    mov.u32 %r7, %nclusterid.y; st.global.u32 [%d1+40], %r7;
    add.u32 %r8, %r8, 1; rem.u32 %r8, %r8, %r9;
    mov.u32 %r10, own; mapa.shared::cluster.u32 %r10, %r10, %r8;
    ld.shared::cluster.u32 %r11, [%r10]; st.global.u32 [%d1+44], %r11;
    barrier.cluster.arrive; barrier.cluster.wait;
    ret;
}";

fn check(required: &str, grid: [u32; 3], cluster: [u32; 3]) {
    let program = Program::parse(&KERNEL.replace("REQUIRED", required));
    let count = grid.iter().product::<u32>() as usize;
    let mut trial = Trial::new(&program, "places");
    trial.grid(grid).block([1, 1, 1]).unwritten(count * 48).expect("a little memory");
    if required.is_empty() {
        trial.cluster(cluster);
    }
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    let words: Vec<u32> = trial.content(0).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let number = |place: [u32; 3]| (place[2] * grid[1] + place[1]) * grid[0] + place[0];
    let [x, y, z] = cluster;
    for place in (0..count as u32).map(|at| [at % grid[0], at / grid[0] % grid[1], at / grid[0] / grid[1]]) {
        let own = [0, 1, 2].map(|axis| place[axis] % cluster[axis]);
        let of = [0, 1, 2].map(|axis| place[axis] / cluster[axis]);
        let rank = (own[2] * y + own[1]) * x + own[0];
        let next = (rank + 1) % (x * y * z);
        let beside = [next % x, next / x % y, next / x / y];
        let neighbour = number([0, 1, 2].map(|axis| of[axis] * cluster[axis] + beside[axis]));
        let [ox, oy, oz] = own;
        let expected = [ox, oy, oz, rank, of[0], of[1], of[2], y, x * y * z, grid[0] / x, grid[1] / y, neighbour];
        let found = &words[12 * number(place) as usize..][..12];
        assert_eq!(found, expected, "{place:?} in clusters of {cluster:?}");
    }
}

#[test]
fn a_block_has_its_place_in_its_cluster() {
    check("", [4, 4, 1], [2, 2, 1]);
    check("", [4, 4, 2], [4, 2, 1]);
    check("", [2, 6, 4], [1, 3, 2]);
    check("", [8, 2, 1], [2, 1, 1]);
    check("", [3, 2, 1], [1, 1, 1]);
    check(".reqnctapercluster 2, 2", [4, 4, 1], [2, 2, 1]);
    check(".reqnctapercluster 1, 2, 2", [2, 2, 4], [1, 2, 2]);
}

#[test]
fn clusters_fit_into_the_grid_along_each_axis() {
    let program = Program::parse(&KERNEL.replace("REQUIRED", ""));
    let mut trial = Trial::new(&program, "places");
    trial.grid([4, 3, 1]).cluster([2, 2, 1]).unwritten(1024).expect("a little memory");
    let text = trial.check().to_string();
    assert!(text.contains("[4, 3, 1] blocks are no clusters of [2, 2, 1]"), "{text}");
}

/// As CUTLASS's pipelines begin and end: each block initialises a barrier, the cluster meets by relaxed arrivals, each block arrives at the
/// barrier of the other one for its own block's scope, and waits for its own.
const PIPELINE: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry pipeline() .reqnctapercluster 2
{
    .reg .b32 %r<9>; .reg .pred %p<3>;
    .shared .b64 bar;
    mov.u32 %r1, bar; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1;
    mov.u32 %r4, %tid.x; setp.ne.u32 %p1, %r4, 0;
    @%p1 bra MEET;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    fence.mbarrier_init.release.cluster;
MEET:
    barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    setp.ne.u32 %p1, %r4, 32;
    @%p1 bra END;
    mapa.shared::cluster.u32 %r5, %r1, %r3;
    mbarrier.arrive.shared::cluster.b64 _, [%r5];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra WAIT;
END:
    ret;
}";

#[test]
fn a_fence_tells_the_cluster_of_barriers() {
    let findings = |text: &str| -> Vec<Finding> {
        let program = Program::parse(text);
        let reports = (0..8).map(|seed| {
            let mut trial = Trial::new(&program, "pipeline");
            trial.grid([4, 1, 1]).block([64, 1, 1]).seed(seed).limits(100_000, None);
            trial.check()
        });
        reports.flat_map(|report| report.findings).collect()
    };
    let kinds = |text: &str| {
        let mut kinds: Vec<&str> = findings(text).iter().map(|finding| finding.kind.word()).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(PIPELINE), [""; 0]);
    assert_eq!(kinds(&PIPELINE.replace("arrive.relaxed", "arrive")), [""; 0]);
    let without = PIPELINE.replace("    fence.mbarrier_init.release.cluster;\n", "");
    assert!(kinds(&without).contains(&"order"), "{:?}", kinds(&without));
    // The other block arrives, and nobody waits for that.
    let without = PIPELINE.replace("    @!%p2 bra WAIT;\n", "");
    assert!(kinds(&without).contains(&"bounds"), "{:?}", kinds(&without));
    // That ends no launch.
    assert!(findings(&without).iter().all(|finding| finding.kind != Kind::Bounds || finding.went_on()));
}

/// What a thread sends to its own block's barrier may come after the block has ended.
#[test]
fn an_arrival_may_come_after_the_end_of_the_block() {
    let program = Program::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n\
         .reg .b32 %r;\n.shared .align 8 .b64 bar;\n\
         mov.u32 %r, bar; mapa.shared::cluster.u32 %r, %r, 0;\n\
         mbarrier.init.shared.b64 [bar], 2;\n\
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r];\nret;\n}\n",
    );
    for seed in 0..16 {
        let mut trial = Trial::new(&program, "k");
        let report = trial.grid([4, 1, 1]).block([1, 1, 1]).seed(seed).check();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{seed}");
    }
}

/// Compilers compute the address in a block that the cluster does not have, and use it only in other lanes.
#[test]
fn an_address_of_no_block_may_be_computed() {
    let run = |of: &str| {
        let program = Program::parse(&format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<4>;\n.reg .pred %p;\n.shared .align 4 .b32 own;\n\
             mov.u32 %r0, own; mov.u32 %r1, %tid.x; mapa.shared::cluster.u32 %r2, %r0, %r1;\n\
             setp.eq.u32 %p, %r1, {of};\n@%p st.shared::cluster.u32 [%r2], 7;\n\
             barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}}\n"
        ));
        let mut trial = Trial::new(&program, "k");
        trial.grid([2, 1, 1]).block([32, 1, 1]).cluster([2, 1, 1]);
        trial.check()
    };
    assert!(run("64").is_clean());
    let report = run("5");
    assert!(!report.findings[0].went_on());
    let text = report.findings[0].to_string();
    assert!(text.contains("byte 0 of the shared memory of a block that the cluster does not have"), "{text}");
}

/// A copy overwrites what another block has read, and the wait for that block has no scope.
#[test]
fn a_wait_for_another_block_says_its_scope() {
    let run = |scope: &str| {
        let program = Program::parse(&format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from) {{\n\
             .reg .b32 %r<6>;\n.reg .b64 %d;\n.reg .pred %p<2>;\n.shared .align 16 .b8 data[16];\n.shared .b64 empty;\n\
             .shared .b64 full;\nld.param.u64 %d, [from]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, data; mov.u32 %r2, empty;\n\
             mbarrier.init.shared.b64 [empty], 1; mbarrier.init.shared.b64 [full], 1; fence.mbarrier_init.release.cluster;\n\
             st.shared.b32 [data], 1; fence.proxy.async;\nbarrier.cluster.arrive; barrier.cluster.wait;\n\
             setp.eq.u32 %p0, %r0, 0; @%p0 bra OWNER;\nmapa.shared::cluster.u32 %r3, %r1, 0; mapa.shared::cluster.u32 %r4, %r2, 0;\n\
             ld.shared::cluster.b32 %r5, [%r3]; fence.proxy.async;\n\
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];\nbra END;\n\
             OWNER: mbarrier.try_wait.parity{scope}.shared.b64 %p1, [empty], 0; @!%p1 bra OWNER;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [full], 16;\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%d], 16, [full];\n\
             FULL: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra FULL;\n\
             END: barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}}\n"
        ));
        let mut trial = Trial::new(&program, "k");
        trial.grid([2, 1, 1]).block([1, 1, 1]).cluster([2, 1, 1]).buffer(&[0; 16]).unwrap();
        trial.check().findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(run(".acquire.cluster"), [""; 0]);
    let findings = run("");
    assert!(findings.iter().any(|text| text.contains("write `mbarrier.try_wait.acquire.cluster`")), "{findings:?}");
}

/// Two threads of a block store in another one, and arrive at its barrier without a scope, by one instruction. Each is named.
#[test]
fn each_thread_that_arrives_without_a_scope_is_named() {
    let program = Program::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() .reqnctapercluster 2 {\n\
         .reg .b32 %r<6>;\n.reg .pred %p<2>;\n.shared .align 8 .b8 data[8];\n.shared .b64 bar; .shared .b32 sum;\n\
         mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, data; mov.u32 %r2, bar; mov.u32 %r3, %tid.x;\n\
         setp.ne.u32 %p0, %r3, 0; @%p0 bra MEET;\n\
         mbarrier.init.shared.b64 [bar], 2; fence.mbarrier_init.release.cluster;\n\
         MEET: barrier.cluster.arrive; barrier.cluster.wait;\n\
         setp.eq.u32 %p1, %r0, 0; @%p1 bra OWNER;\n\
         mapa.shared::cluster.u32 %r4, %r1, 0; mapa.shared::cluster.u32 %r5, %r2, 0; mad.lo.u32 %r4, %r3, 4, %r4;\n\
         st.shared::cluster.b32 [%r4], 7; mbarrier.arrive.shared::cluster.b64 _, [%r5]; bra END;\n\
         OWNER: @%p0 bra END;\n\
         WAIT: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;\n\
         ld.shared.b32 %r4, [data];\nld.shared.b32 %r5, [data+4];\nadd.u32 %r4, %r4, %r5; st.shared.b32 [sum], %r4;\n\
         END: barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n",
    );
    for seed in 0..8 {
        let mut trial = Trial::new(&program, "k");
        let report = trial.grid([2, 1, 1]).block([2, 1, 1]).seed(seed).check();
        let told = |finding: &Finding| {
            let arrives = finding.places.iter().find(|place| place.what.contains("arrives at the mbarrier"));
            (finding.kind, finding.places[0].thread, arrives.map(|place| (place.block, place.thread)))
        };
        let [one] = &report.findings[..] else { panic!("{seed}: {report}") };
        let mut found: Vec<_> = one.and_further().map(told).collect();
        found.sort();
        let expected = [0, 1].map(|thread| (Kind::Order, thread, Some((1, thread))));
        assert_eq!(found, expected, "{seed}: {report}");
    }
}
