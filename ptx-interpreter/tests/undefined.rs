//! What is done by bytes that nobody has written, instruction by instruction.

use ptx_interpreter::{Kind, Program, Trial};

/// How a finding says what is done.
const STORES: &str = "stores it";
const DECIDES: &str = "decides by it what to do";
const ADDRESS: &str = "takes it as an address";
const CHANGES: &str = "changes memory by it";
const USES: &str = "uses it";
const PRINTS: &str = "prints it";

const READS_AND_STORES: &str = "reads a register to which nothing was written before, and stores it";
const READS_AND_DECIDES: &str = "reads a register to which nothing was written before, and decides by it what to do";
const READS_AND_TAKES: &str = "reads a register to which nothing was written before, and takes it as an address";
const READS_AND_USES: &str = "reads a register to which nothing was written before, and uses it";

/// Nothing is written to the upper rows of A. Their sums are in `%r10` and `%r11`, the others in `%r12` and `%r13`.
macro_rules! MMA {
    ($c:literal, $stored:literal) => {
        concat!(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r9, %r3, %r8, %r3}, {%r3, %r3}, {",
            $c, ", ", $c, ", ", $c, ", ", $c, "}; st.global.u32 [%d1], ", $stored, ";"
        )
    };
}

/// Eight lanes have an address.
macro_rules! LOADED {
    ($count:literal, $to:literal) => {
        concat!(
            "bar.sync 0; setp.lt.u32 %p2, %r1, 8; shl.b32 %r5, %r1, 4; mov.u32 %r6, room; add.u32 %r5, %r5, %r6; @%p2 mov.u32 %r9, %r5; \
             ldmatrix.sync.aligned.m8n8.",
            $count,
            ".shared.b16 ",
            $to,
            ", [%r9]; st.global.u32 [%d1], %r10;"
        )
    };
}

/// `%r9` is set in two lanes of four.
macro_rules! HALF_SET {
    ($which:literal, $number:literal) => {
        concat!("and.b32 %r5, %r1, 2; setp.eq.u32 %p2, %r5, ", $which, "; @%p2 mov.u32 %r9, ", $number, "; ")
    };
}

/// Lanes that have metadata, and those that are asked for it.
macro_rules! SPARSE {
    ($set:literal, $threads:literal) => {
        concat!(
            HALF_SET!($set, "0x44444444"),
            "mov.u32 %r7, 0; mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, \
             {%r7, %r7, %r7, %r7}, {%r3, %r3, %r3, %r3}, {%r3, %r3, %r3, %r3}, %r9, ",
            $threads,
            "; st.global.u32 [%d1], %r10;"
        )
    };
}

/// Lanes that have scales of A, and those that are asked for them.
macro_rules! SCALED {
    ($set:literal, $thread:literal) => {
        concat!(
            HALF_SET!($set, "0x7f7f7f7f"),
            "mov.u16 %h1, 0; mov.u16 %h2, ",
            $thread,
            "; mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 \
             {%r10, %r11, %r12, %r13}, {%r3, %r3, %r3, %r3}, {%r3, %r3}, {%r3, %r3, %r3, %r3}, %r9, {%h1, %h2}, %r3, {%h1, %h1}; \
             st.global.u32 [%d1], %r10;"
        )
    };
}

/// As `MMA!`.
macro_rules! WMMA {
    ($stored:literal) => {
        concat!(
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, \
             {%r9, %r3, %r3, %r3, %r9, %r3, %r3, %r3}, {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, \
             {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}; st.global.u32 [%d1], ",
            $stored,
            ";"
        )
    };
}

/// Of the rows of A the first four are written. Half of the lanes have those in `%r10`.
macro_rules! FRAGMENT {
    ($guard:literal) => {
        concat!(
            "mov.u64 %d4, room; bar.sync 0; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 \
             {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%d4], 16; add.u32 %r5, %r10, 1; setp.lt.u32 %p2, %r1, 16; ",
            $guard,
            " st.global.u32 [%d1], %r5;"
        )
    };
}

/// The first eight columns of the upper rows are undefined, and half of the lanes read those behind them.
macro_rules! FRAGMENT_STORED {
    ($guard:literal) => {
        concat!(
            "mov.u64 %d4, room; bar.sync 0; wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%d4], {%r9, %r3, %r3, %r3}, 16; \
             bar.sync 0; ld.shared.u32 %r5, [%d2]; and.b32 %r6, %r1, 4; setp.ne.u32 %p2, %r6, 0; ",
            $guard,
            " st.global.u32 [%d1], %r5;"
        )
    };
}

/// The first row is written, and becomes the first column: one lane of four has a number of it in its lower half.
macro_rules! TRANSPOSED {
    ($guard:literal) => {
        concat!(
            "setp.lt.u32 %p2, %r1, 4; @%p2 mov.u32 %r9, 3; movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r9; \
             and.b32 %r5, %r5, 0xffff; add.u32 %r5, %r5, 1; and.b32 %r6, %r1, 3; setp.eq.u32 %p2, %r6, 0; ",
            $guard,
            " st.global.u32 [%d1], %r5;"
        )
    };
}

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
    (
        "st.local.u32 [%d3], %r2; mov.u64 %d4, text; cvta.global.u64 %d4, %d4; cvta.local.u64 %d5, %d3; { .param .b64 f; .param .b64 v; .param .b32 r; \
         st.param.b64 [f], %d4; st.param.b64 [v], %d5; call.uni (r), vprintf, (f, v); }",
        Some(PRINTS),
    ),
    (
        "st.local.v2.u32 [%d3], {%r3, %r2}; mov.u64 %d4, text; cvta.global.u64 %d4, %d4; cvta.local.u64 %d5, %d3; { .param .b64 f; .param .b64 v; .param .b32 r; \
         st.param.b64 [f], %d4; st.param.b64 [v], %d5; call.uni (r), vprintf, (f, v); }",
        None,
    ),
    // A sum less one of its terms.
    ("add.s32 %r5, %r2, %r3; sub.s32 %r5, %r5, %r2; st.global.u32 [%d1], %r5;", None),
    ("sub.s32 %r5, %r3, %r2; st.global.u32 [%d1], %r5;", Some(STORES)),
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
    // What the known bits decide: `%r5` is below 16.
    ("and.b32 %r5, %r2, 15; setp.lt.u32 %p2, %r5, 16; @%p2 bra DONE; st.shared.u32 [%d2], 1;", None),
    ("and.b32 %r5, %r2, 15; setp.lt.u32 %p2, %r5, 15; @%p2 bra DONE; st.shared.u32 [%d2], 1;", Some(DECIDES)),
    ("mul.lo.u32 %r5, %r2, 0; st.global.u32 [%d1], %r5;", None),
    ("and.b32 %r5, %r2, 15; min.u32 %r5, %r5, 16; shr.u32 %r5, %r5, 4; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;", None),
    ("and.b32 %r5, %r2, 15; or.b32 %r5, %r5, 16; clz.b32 %r5, %r5; st.global.u32 [%d1], %r5;", None),
    // Registers to which nothing was written.
    ("st.global.u32 [%d1], %r9;", Some(READS_AND_STORES)),
    ("mov.u32 %r5, %r9; mov.u32 %r6, %r5; st.global.u32 [%d1], %r6;", Some(READS_AND_STORES)),
    ("add.u32 %r5, %r9, 1; st.global.u32 [%d1], %r3;", None),
    ("add.u32 %r5, %r9, 1; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("add.u32 %r9, %r9, 1; mov.u32 %r9, 1; st.global.u32 [%d1], %r9;", None),
    ("st.shared.u32 [%d2], %r9; ld.shared.u32 %r5, [%d2]; st.global.u32 [%d1], %r5;", Some(STORES)),
    ("mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d1, %d4; st.global.v2.u32 [%d4], {%r3, %r9};", None),
    (
        "mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d1, %d4; st.global.v2.u32 [%d4], {%r8, %r9};",
        Some(READS_AND_STORES),
    ),
    ("and.b32 %r5, %r9, 0; st.global.u32 [%d1], %r5;", None),
    ("xor.b32 %r5, %r9, %r9; st.global.u32 [%d1], %r5;", None),
    ("sub.u32 %r5, %r9, %r9; st.global.u32 [%d1], %r5;", None),
    ("sub.u32 %r5, %r9, %r8; st.global.u32 [%d1], %r5;", None),
    ("sub.f32 %r5, %r9, %r8; st.global.u32 [%d1], %r5;", Some(STORES)),
    // Eight lanes name the rows of a matrix.
    (LOADED!("x1", "{%r10}"), None),
    (LOADED!("x2", "{%r10, %r11}"), Some(READS_AND_TAKES)),
    ("setp.eq.u32 %p2, %r9, 0; @%p2 bra DONE; st.shared.u32 [%d2], 1;", Some(DECIDES)),
    ("@%p3 bra DONE; st.shared.u32 [%d2], 1;", Some(READS_AND_DECIDES)),
    ("nanosleep.u32 %r9;", Some(READS_AND_USES)),
    ("and.b64 %d4, %d5, 4; add.u64 %d4, %d1, %d4; ld.global.u32 %r5, [%d4];", Some(ADDRESS)),
    // What a predicate sets, and what reads it by the same one.
    ("setp.lt.u32 %p2, %r1, 8; @%p2 mov.u32 %r9, 3; @%p2 st.global.u32 [%d1], %r9;", None),
    ("setp.lt.u32 %p2, %r1, 8; @%p2 mov.u32 %r9, 3; st.global.u32 [%d1], %r9;", Some(READS_AND_STORES)),
    ("setp.lt.u32 %p2, %r1, 8; @%p2 mov.u32 %r9, 3; selp.u32 %r5, %r9, 7, %p2; st.global.u32 [%d1], %r5;", None),
    (
        "setp.lt.u32 %p2, %r1, 8; @!%p2 bra SKIP; mov.u32 %r9, 3; SKIP: @!%p2 bra DONE; st.global.u32 [%d1], %r9;",
        None,
    ),
    (
        "mov.u32 %r5, 0; LOOP: add.u32 %r6, %r9, %r5; mov.u32 %r9, 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra LOOP; st.global.u32 [%d1], %r6;",
        None,
    ),
    ("{ .param .b32 y; call.uni (y), unset, (); ld.param.b32 %r5, [y]; } st.global.u32 [%d1], %r3;", None),
    ("{ .param .b32 y; call.uni (y), unset, (); ld.param.b32 %r5, [y]; } st.global.u32 [%d1], %r5;", Some(STORES)),
    // Products: a row depends on that of A.
    (MMA!("%r3", "%r12"), None),
    (MMA!("%r3", "%r10"), Some(STORES)),
    (SPARSE!("0", "0"), None),
    (SPARSE!("2", "0"), Some(STORES)),
    (SPARSE!("2", "1"), None),
    (SCALED!("0", "0"), None),
    (SCALED!("2", "0"), Some(STORES)),
    (SCALED!("2", "1"), None),
    (WMMA!("%r12"), None),
    (WMMA!("%r10"), Some(STORES)),
    // Rows that are written, and the others.
    (FRAGMENT!("@%p2"), None),
    (FRAGMENT!("@!%p2"), Some(STORES)),
    (FRAGMENT_STORED!("@%p2"), None),
    (FRAGMENT_STORED!("@!%p2"), Some(STORES)),
    (
        "add.u32 %r9, %r9, 1; ld.param.u64 %d4, [p]; wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%d4], {%r9, %r3, %r3, %r3}, 16;",
        Some(STORES),
    ),
    (TRANSPOSED!("@%p2"), None),
    (TRANSPOSED!("@!%p2"), Some(STORES)),
    ("ld.shared.u32 %r2, [%d2]; st.global.u32 [%d1], %r2;", None),
];

fn run(body: &str, seed: u64) -> Vec<(Kind, String)> {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 to) vprintf (.param .b64 f, .param .b64 v);\n\
         .global .b8 text[4] = {{37, 100, 10, 0}};\n.func (.param .b32 to) more (.param .b32 from) {{ .reg .b32 %q<2>; ld.param.u32 %q1, [from]; add.u32 %q1, %q1, 5;\n\
         st.param.u32 [to], %q1; ret; }}\n\
         .func (.param .b32 to) unset {{ .reg .b32 %q<3>; add.u32 %q1, %q2, 1; st.param.u32 [to], %q1; ret; }}\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<18>; .reg .b64 %d<6>; .reg .b16 %h<4>; .reg .pred %p<4>; .shared .align 16 .b8 room[512]; .local .align 8 .b8 own[8];\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4; add.u64 %d1, %d1, %d4; mov.u64 %d2, room; add.u64 %d2, %d2, %d4;\n\
         mov.u64 %d3, own; st.shared.u32 [%d2], %r1; st.shared.u16 [%d2+258], 3; setp.gt.u32 %p1, %r1, 99;\n\
         ld.shared.u32 %r2, [%d2+128]; ld.shared.u32 %r3, [%d2]; ld.shared.u32 %r4, [%d2+256];\n\
         {body}\nDONE: ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.seed(seed).unwritten(512).expect("a little memory");
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
    assert!(CASES.len() >= 115, "fewer texts than there were");
}

/// One lane of each of eight warps stores a word. Then all threads load a word, late, and one of them stores what it has.
fn loaded_late(user: u32, seed: u64) -> Vec<String> {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<3>;\n\
         .shared .align 4 .b8 room[1024]; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, room; and.b32 %r3, %r1, 31;\n\
         setp.eq.u32 %p1, %r3, 0; shr.u32 %r4, %r1, 3; add.u32 %r4, %r4, %r2; @%p1 st.volatile.shared.u32 [%r4], %r1; bar.sync 0;\n\
         mad.lo.u32 %r4, %r1, 4, %r2; ld.volatile.shared.u32 %r5, [%r4]; bar.sync 0;\n\
         setp.eq.u32 %p2, %r1, {user}; @%p2 st.global.u32 [%d1], %r5; ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([256, 1, 1]).seed(seed).weak(true).unwritten(512).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    report.findings.iter().flat_map(|finding| &finding.places).map(|place| place.what.clone()).collect()
}

#[test]
fn what_is_loaded_late_and_has_no_value() {
    const READS: &str = "reads 4 bytes, among them byte 512 of `room` in the shared memory of block 0";
    for seed in 0..8 {
        assert_eq!(loaded_late(0, seed), [""; 0], "seed {seed}");
        assert_eq!(loaded_late(128, seed), [READS, STORES], "seed {seed}");
    }
}

/// A product of `wgmma` to registers, to which nothing was written, and one that is added to that.
fn sums_of_four_warps(adds: bool, stored: &str) -> Vec<String> {
    let module = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .b32 %r<10>; .reg .b64 %d<4>; .reg .pred %p<2>;\n\
         .shared .align 128 .b8 room[256]; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n\
         mov.u64 %d3, room; mul.wide.u32 %d2, %r1, 2; add.u64 %d2, %d3, %d2; st.shared.u16 [%d2], 0; fence.proxy.async; bar.sync 0;\n\
         cvta.to.shared.u64 %d3, %d3; shr.u64 %d3, %d3, 4; or.b64 %d3, %d3, 0x1000080000;\n\
         setp.eq.u32 %p1, 1, {}; wgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%r2, %r3, %r4, %r5}}, {{%r6, %r1, %r1, %r1}}, %d3, %p1, 1, 1, 0;\n\
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.u32 [%d1], {stored}; ret; }}\n",
        u8::from(adds)
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([128, 1, 1]).unwritten(512).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    report
        .findings
        .iter()
        .map(|finding| finding.places.last().map_or(String::new(), |place| place.what.clone()))
        .collect()
}

#[test]
fn what_a_product_of_four_warps_is_added_to() {
    assert_eq!(sums_of_four_warps(false, "%r4"), [""; 0]);
    assert_eq!(sums_of_four_warps(false, "%r2"), [STORES]);
    assert_eq!(sums_of_four_warps(true, "%r4"), [STORES]);
}
