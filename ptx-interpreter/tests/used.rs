//! Which memory a launch says that it has used.

use ptx_interpreter::{Gaps, Launch, Outside, Piece, Program, Use, Used};

/// 64 threads read words of `from`, and write bytes, words and flags of `to`.
const TEXT: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry uses(.param .u64 from, .param .u64 to) {
    .reg .b64 %d<8>;
    .reg .b32 %r<4>;
    .reg .b16 %h<2>;
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d4, %d1, %d3;
    ld.global.u32 %r2, [%d4];
    add.u64 %d5, %d2, %d3;
    st.global.u32 [%d5], %r2;
    cvt.u64.u32 %d6, %r1;
    add.u64 %d6, %d2, %d6;
    cvt.u16.u32 %h1, %r1;
    st.global.u8 [%d6+1025], %h1;
    atom.global.add.u32 %r3, [%d2+512], 1;
    atom.cta.global.add.u32 %r3, [%d2+516], 1;
    ld.acquire.gpu.global.u32 %r3, [%d2+520];
    ret;
}";

fn used(program: &Program, buffers: &[&mut [u8]], tells_used: bool) -> Used {
    let begins: Vec<u64> = buffers.iter().map(|buffer| buffer.as_ptr() as u64).collect();
    let holds = |address: u64, bytes: usize| {
        let within = |buffer: &&mut [u8]| {
            let begin = buffer.as_ptr() as u64;
            begin <= address && address + bytes as u64 <= begin + buffer.len() as u64
        };
        buffers.iter().any(within)
    };
    let arguments: Vec<*const u8> = begins.iter().map(|begin| std::ptr::from_ref(begin).cast()).collect();
    let launch = Launch { threads: [64, 1, 1], tells_used, ..Launch::new("uses", &arguments) };
    let outside = Outside { holds: &holds, variable: &|_| None };
    let piece = |buffer: &&mut [u8]| Piece {
        name: "a buffer".into(),
        begin: buffer.as_ptr() as u64,
        bytes: buffer.len() as u64,
        unwritten: Gaps::default(),
        undefined: Gaps::default(),
        shared_with_grid_before: false,
    };
    // SAFETY: both arguments are addresses, and the buffers are this launch's own.
    let report = unsafe { program.check(&outside, &launch, buffers.iter().map(piece).collect()) };
    assert!(report.is_clean(), "{report}");
    report.used
}

/// A buffer that begins at a multiple of a page of the checks.
fn buffer() -> &'static mut [u8] {
    let room = Vec::leak(vec![0u8; 8192]);
    let begin = room.as_ptr().align_offset(1024);
    &mut room[begin..begin + 2048]
}

#[test]
fn ranges_are_told_with_their_uses() {
    let buffers = [buffer(), buffer()];
    let used = used(&Program::parse(TEXT), &buffers, true);
    let begins = [buffers[0].as_ptr() as u64, buffers[1].as_ptr() as u64];
    let mut ranges: Vec<(usize, u64, u64, String)> = used
        .ranges
        .iter()
        .map(|range| {
            let of = usize::from((begins[1]..begins[1] + 2048).contains(&range.begin));
            (of, range.begin - begins[of], range.end - begins[of], format!("{:?}", range.how))
        })
        .collect();
    ranges.sort();
    let expected = |of: usize, begin: u64, end: u64, how: Use| (of, begin, end, format!("{how:?}"));
    let expected = [
        expected(0, 0, 256, Use::Reads),
        expected(1, 0, 256, Use::Writes),
        expected(1, 512, 516, Use::WritesStrongly),
        // What only the block agrees on is as a plain access to others.
        expected(1, 516, 520, Use::Writes),
        expected(1, 520, 524, Use::ReadsStrongly),
        expected(1, 1025, 1089, Use::Writes),
    ];
    assert_eq!(ranges, expected);
    assert!(used.acquires && !used.releases);
}

#[test]
fn nothing_is_told_if_nobody_asks() {
    let buffers = [buffer(), buffer()];
    assert!(used(&Program::parse(TEXT), &buffers, false).ranges.is_empty());
}

/// The threads of each warp call a function that writes, and the second warp calls it elsewhere.
const CALLS: &str = "
.version 8.0
.target sm_80
.address_size 64
.func write(.param .b64 to) {
    .reg .b64 %d<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %d1, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r1;
    ret;
}
.visible .entry uses(.param .u64 from, .param .u64 to) {
    .reg .b64 %d<2>;
    .reg .b32 %r<2>;
    .reg .pred %p;
    ld.param.u64 %d1, [to];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p, %r1, 32;
    @%p bra first;
    { .param .b64 x; st.param.b64 [x], %d1; call.uni write, (x); }
    ret;
first:
    { .param .b64 x; st.param.b64 [x], %d1; call.uni write, (x); }
    ret;
}";

#[test]
fn a_use_in_a_function_tells_its_calls() {
    let (program, buffers) = (Program::parse(CALLS), [buffer(), buffer()]);
    for _ in 0..2 {
        let used = used(&program, &buffers, true);
        let places: Vec<_> = used.ranges.iter().map(|range| program.place_of(range, "writes".into())).collect();
        let calls: Vec<Vec<u32>> =
            places.iter().map(|place| place.callers.iter().map(|call| call.ptx_line).collect()).collect();
        assert_eq!(calls, [[26], [23]]);
        assert!(places.iter().all(|place| (place.ptx_line, &*place.callers[0].function) == (12, "uses")), "{places:?}");
    }
}
