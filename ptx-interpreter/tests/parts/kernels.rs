//! Kernels whose blocks have nothing to do with each other, and kernels made so that they have.

use ptx_interpreter::Kind;

/// How a launch ends that may run in parts.
#[derive(Clone, Copy)]
pub(crate) enum Ends {
    /// It runs in parts.
    InParts,
    /// It runs as a whole, and nothing is found.
    Whole,
    /// It runs as a whole, and such a finding is there.
    Found(Kind),
}

/// A kernel with two buffers.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) threads: u32,
    pub(crate) cluster: u32,
    /// Bytes of each buffer, by the number of threads.
    pub(crate) bytes: fn(usize) -> usize,
    /// Where the first buffer begins, and where the second one, if it does not follow the first one.
    pub(crate) first: usize,
    pub(crate) second: Option<usize>,
    /// Whether the second one has no values.
    pub(crate) unwritten: bool,
    pub(crate) ends: Ends,
    /// Declarations before the kernel, and what it does: `%d1` and `%d2` are its buffers, `%r1` is the number of the thread in the
    /// grid, `%r2` that of the block, `%r3` that of the thread in the block, and `%d3` is four times `%r1`.
    pub(crate) around: &'static str,
    pub(crate) body: &'static str,
}

const PLAIN: Case = Case {
    name: "copy",
    threads: 32,
    cluster: 1,
    bytes: |threads| 4 * threads,
    first: 64,
    second: None,
    unwritten: false,
    ends: Ends::InParts,
    around: "",
    body: COPY,
};

const COPY: &str = "add.u64 %d4, %d1, %d3; ld.global.u32 %r4, [%d4]; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;";

/// A copy, and what the first thread of the last block does besides.
macro_rules! last {
    ($body:literal) => {
        concat!(
            "add.u64 %d4, %d1, %d3; ld.global.u32 %r4, [%d4]; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;
             mov.u32 %r5, %nctaid.x; sub.u32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, %r2; setp.eq.and.u32 %p1, %r3, 0, %p1;
             @!%p1 bra DONE; ",
            $body,
            " DONE: "
        )
    };
}

const FUNCTIONS: &str = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
    .global .align 1 .b8 format[4] = {104, 105, 10, 0};";

pub(crate) const CASES: &[Case] = &[
    PLAIN,
    Case { name: "a page for each", first: 0, second: Some(1 << 16), ..PLAIN },
    Case { name: "in place", second: Some(64), body: "add.u64 %d4, %d1, %d3; ld.global.u32 %r4, [%d4]; add.u32 %r4, %r4, 3; st.global.u32 [%d4], %r4;", ..PLAIN },
    Case { name: "unwritten", unwritten: true, ..PLAIN },
    Case {
        name: "bytes",
        threads: 33,
        first: 61,
        bytes: |threads| threads + 1,
        body: "cvt.u64.u32 %d3, %r1; add.u64 %d4, %d1, %d3; ld.global.u8 %r4, [%d4]; add.u32 %r4, %r4, 1; add.u64 %d5, %d2, %d3; st.global.u8 [%d5], %r4;",
        ..PLAIN
    },
    Case {
        name: "all read the same",
        body: "ld.global.nc.u32 %r5, [%d1]; add.u64 %d4, %d1, %d3; ld.global.nc.u32 %r4, [%d4]; add.u32 %r4, %r4, %r5; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;",
        ..PLAIN
    },
    Case {
        name: "a page for each thread, twice",
        bytes: |threads| 3072 * threads,
        body: "mul.wide.u32 %d3, %r1, 3072; add.u64 %d4, %d2, %d3; add.u64 %d5, %d1, %d3; mov.u32 %r5, 0;
               AGAIN: ld.global.u32 %r4, [%d4]; ld.global.u32 %r6, [%d5+8]; add.u32 %r4, %r4, %r6; st.global.u32 [%d4], %r4;
               st.global.u32 [%d4+3068], %r4; ld.global.u32 %r6, [%d4+4]; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2; @%p1 bra AGAIN;",
        ..PLAIN
    },
    Case {
        name: "clusters",
        threads: 32,
        cluster: 2,
        around: ".shared .align 4 .b8 room[128];",
        body: "mul.wide.u32 %d6, %r3, 4; mov.u64 %d7, room; add.u64 %d6, %d6, %d7; mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1;
               mapa.shared::cluster.u64 %d6, %d6, %r5; barrier.cluster.arrive; barrier.cluster.wait; st.shared::cluster.u32 [%d6], %r1;
               barrier.cluster.arrive; barrier.cluster.wait;
               mul.wide.u32 %d6, %r3, 4; add.u64 %d6, %d6, %d7; ld.shared.u32 %r4, [%d6]; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;",
        ..PLAIN
    },
    Case {
        name: "a variable of the module",
        around: ".global .align 4 .b8 table[65536];",
        body: "mov.u64 %d6, table; add.u64 %d6, %d6, %d3; ld.global.u32 %r4, [%d6]; add.u32 %r4, %r4, %r1; st.global.u32 [%d6], %r4;
               add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;",
        ..PLAIN
    },
    Case {
        name: "bulk copies",
        first: 48,
        bytes: |threads| threads / 32 * 6144,
        around: ".shared .align 128 .b8 room[6144]; .shared .align 8 .b8 bar[8];",
        body: "mul.wide.u32 %d3, %r2, 6144; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
               setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE;
               mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;
               mbarrier.arrive.expect_tx.shared::cta.b64 %d7, [bar], 6144;
               cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%d4], 6144, [bar];
               WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra WAIT;
               cp.async.bulk.global.shared::cta.bulk_group [%d5], [room], 6144;
               cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
               DONE:",
        ..PLAIN
    },
    Case {
        name: "shared atomics and fences",
        around: ".shared .align 4 .b8 sum[4];",
        body: "setp.ne.u32 %p1, %r3, 0; @!%p1 st.shared.u32 [sum], 0; bar.sync 0; atom.shared.add.u32 %r4, [sum], 1; bar.sync 0;
               ld.shared.u32 %r4, [sum]; fence.acq_rel.gpu; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;",
        ..PLAIN
    },
    Case {
        name: "a counter for each block",
        body: "mul.wide.u32 %d4, %r2, 128; add.u64 %d4, %d4, %d2; red.relaxed.cta.global.add.u32 [%d4], 1; ld.volatile.shared.u32 %r4, [word]; add.u64 %d5, %d1, %d3; st.global.u32 [%d5], %r4;",
        around: ".shared .align 4 .b8 word[4];",
        ends: Ends::Found(Kind::Uninitialised),
        ..PLAIN
    },
    Case {
        name: "a counter for each block alone",
        body: "mul.wide.u32 %d4, %r2, 128; add.u64 %d4, %d4, %d2; red.relaxed.cta.global.add.u32 [%d4], 1;",
        ..PLAIN
    },
    Case {
        name: "long",
        body: "mov.u32 %r4, 0; AGAIN: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3000; @%p1 bra AGAIN; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;",
        ..PLAIN
    },
    Case { name: "a called function", around: ".func (.param .b32 to) more (.param .b32 from) {\n.reg .b32 %q<2>;\nld.param.u32 %q1, [from];\nadd.u32 %q1, %q1, 5;\nst.param.u32 [to], %q1;\nret;\n}", body: "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), more, (x); ld.param.b32 %r4, [y]; } add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;", ..PLAIN },
    // Blocks that have to do with each other.
    Case { name: "the same place is written", body: last!("st.global.u32 [%d2], %r1;"), ends: Ends::Found(Kind::Race), ..PLAIN },
    Case { name: "it is written, and read", body: last!("ld.global.u32 %r4, [%d2];"), ends: Ends::Found(Kind::Race), ..PLAIN },
    Case { name: "it is read, and written", body: last!("st.global.u8 [%d1+3], %r1;"), ends: Ends::Found(Kind::Race), ..PLAIN },
    Case { name: "buffers overlap", second: Some(68), ends: Ends::Found(Kind::Race), ..PLAIN },
    Case {
        name: "nobody has written it yet",
        unwritten: true,
        body: "xor.b32 %r5, %r1, 32; mul.wide.u32 %d4, %r5, 4; add.u64 %d4, %d4, %d2; ld.global.u32 %r4, [%d4]; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;",
        ends: Ends::Found(Kind::Race),
        ..PLAIN
    },
    Case {
        name: "the first block reads what nobody writes",
        unwritten: true,
        body: "setp.eq.u32 %p1, %r2, 0; add.u64 %d5, %d2, %d3; @%p1 ld.global.u32 %r4, [%d5]; @!%p1 st.global.u32 [%d5], %r1;
               add.u64 %d4, %d1, %d3; @%p1 st.global.u32 [%d4], %r4;",
        ends: Ends::Found(Kind::Uninitialised),
        ..PLAIN
    },
    Case {
        name: "another byte of a cell is read by nc",
        body: "add.u64 %d5, %d2, %d3; setp.ne.u32 %p1, %r2, 1; @%p1 st.global.u8 [%d5], %r1; @!%p1 ld.global.nc.u8 %r4, [%d5+-127];",
        ends: Ends::Found(Kind::Nc),
        ..PLAIN
    },
    Case { name: "beyond the end", body: last!("st.global.u32 [%d5+128], %r1;"), ends: Ends::Found(Kind::Bounds), ..PLAIN },
    Case { name: "misaligned", body: last!("st.global.u32 [%d5+2], %r1;"), ends: Ends::Found(Kind::Misaligned), ..PLAIN },
    Case { name: "a trap", body: last!("trap;"), ends: Ends::Found(Kind::Launch), ..PLAIN },
    Case {
        name: "a variable that all blocks write",
        around: ".global .align 4 .b8 table[128];",
        body: "mov.u64 %d6, table; mul.wide.u32 %d3, %r3, 4; add.u64 %d6, %d6, %d3; st.global.u32 [%d6], %r1;",
        ends: Ends::Found(Kind::Race),
        ..PLAIN
    },
    Case { name: "the shared memory of another block", body: last!("mov.u64 %d6, 0x1000000000000000; ld.u32 %r4, [%d6];"), around: ".shared .align 4 .b8 room[64];", ends: Ends::Found(Kind::Bounds), ..PLAIN },
    Case { name: "atomics", body: last!("red.global.add.u32 [%d1], 0;"), ends: Ends::Found(Kind::Race), ..PLAIN },
    Case { name: "one counter", body: "red.global.add.u32 [%d2], 1;", ..PLAIN },
    Case {
        name: "counters, and nobody uses what was there",
        around: ".global .align 8 .u64 count;",
        body: "mul.wide.u32 %d4, %r3, 4; add.u64 %d4, %d4, %d2; atom.global.add.u32 %r7, [%d4], %r1; mov.u64 %d6, count; red.max.u64 [%d6], %d3;
               ld.global.u32 %r4, [%d1]; cvt.rn.f32.u32 %r5, %r3; red.relaxed.sys.global.add.f32 [%d2+256], %r5; fence.acq_rel.gpu;",
        ..PLAIN
    },
    Case {
        name: "numbers of 128 bits",
        first: 64,
        body: "and.b32 %r4, %r2, 3; mul.wide.u32 %d4, %r4, 16; add.u64 %d4, %d4, %d2; cvt.rn.f32.u32 %r5, %r3; red.global.add.v4.f32 [%d4], {%r5, %r5, %r5, %r5};",
        ..PLAIN
    },
    Case {
        name: "bulk reductions",
        around: ".shared .align 128 .b8 room[128];",
        body: "mul.wide.u32 %d4, %r3, 4; mov.u64 %d6, room; add.u64 %d4, %d4, %d6; st.shared.u32 [%d4], %r1; fence.proxy.async; bar.sync 0;
               setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [room], 128;
               cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:",
        ..PLAIN
    },
    Case {
        name: "bulk reductions and atomics",
        around: ".shared .align 128 .b8 room[128];",
        body: "mul.wide.u32 %d4, %r3, 4; mov.u64 %d6, room; add.u64 %d4, %d4, %d6; st.shared.u32 [%d4], %r1; fence.proxy.async; bar.sync 0;
               setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE; and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0; @!%p1 red.global.add.u32 [%d2], 1; @!%p1 bra DONE;
               cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [room], 128;
               cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:",
        ..PLAIN
    },
    Case { name: "a counter, and what was there", body: "atom.global.add.u32 %r4, [%d2], 1; add.u64 %d5, %d1, %d3; st.global.u32 [%d5], %r4;", ends: Ends::Whole, ..PLAIN },
    Case {
        name: "a counter that its block reads",
        body: "mul.wide.u32 %d4, %r2, 128; add.u64 %d4, %d4, %d2; red.global.add.u32 [%d4], 1; bar.sync 0; ld.global.u32 %r4, [%d4]; add.u64 %d5, %d1, %d3; st.global.u32 [%d5], %r4;",
        ends: Ends::Whole,
        ..PLAIN
    },
    Case {
        name: "a counter that its block sets before",
        body: "mul.wide.u32 %d4, %r2, 128; add.u64 %d4, %d4, %d2; setp.ne.u32 %p1, %r3, 0; @!%p1 st.global.u32 [%d4], 5; bar.sync 0; red.global.add.u32 [%d4], 1;",
        ends: Ends::Whole,
        ..PLAIN
    },
    Case {
        name: "a counter that its block sets after",
        body: "mul.wide.u32 %d4, %r2, 128; add.u64 %d4, %d4, %d2; setp.ne.u32 %p1, %r3, 0; red.global.add.u32 [%d4], 1; bar.sync 0; @!%p1 st.global.u32 [%d4], 5;",
        ends: Ends::Whole,
        ..PLAIN
    },
    Case {
        name: "a counter that all blocks set before",
        body: "setp.ne.u32 %p1, %r3, 0; @!%p1 st.global.u32 [%d2], 0; bar.sync 0; red.global.add.u32 [%d2], 1;",
        ends: Ends::Found(Kind::Race),
        ..PLAIN
    },
    Case {
        name: "a counter that one block reads",
        body: "setp.eq.u32 %p1, %r2, 3; @%p1 ld.global.u32 %r4, [%d2]; @!%p1 red.global.add.u32 [%d2], 1;",
        ends: Ends::Found(Kind::Race),
        ..PLAIN
    },
    Case {
        name: "a counter of two sizes",
        body: "and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0; @%p1 red.global.add.u32 [%d2], 1; @!%p1 red.global.add.u64 [%d2], 1;",
        ends: Ends::Found(Kind::Race),
        ..PLAIN
    },
    Case { name: "a flag", body: "st.volatile.global.u32 [%d2], 1; ld.volatile.global.u32 %r4, [%d2];", ends: Ends::Whole, ..PLAIN },
    Case { name: "a clock", body: "mov.u32 %r4, %clock; add.u64 %d5, %d2, %d3; st.global.u32 [%d5], %r4;", ends: Ends::Whole, ..PLAIN },
    Case {
        name: "it prints",
        around: FUNCTIONS,
        body: last!("{ .param .b64 f; .param .b64 v; .param .b32 r; mov.u64 %d6, format; st.param.b64 [f], %d6; mov.u64 %d7, 0; st.param.b64 [v], %d7; call.uni (r), vprintf, (f, v); }"),
        ends: Ends::Whole,
        ..PLAIN
    },
];

/// The whole module.
pub(crate) fn text(case: &Case) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n{}\n.visible .entry kernel(.param .u64 from, .param .u64 to) {{\n\
         .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .pred %p<2>;\n\
         ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to];\n\
         mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r1, %r2, %r4, %r3; mul.wide.u32 %d3, %r1, 4;\n\
         {}\nret;\n}}\n",
        case.around,
        case.body.replace("; ", ";\n").replace(": ", ":\n")
    )
}
