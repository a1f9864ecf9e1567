//! `mma.sync`, `ldmatrix` and `stmatrix`: their values, with the places of elements as the PTX ISA lists them.

use ptx_interpreter::{Program, Trial};

/// A kernel that loads each lane's registers, multiplies, and stores the results.
fn kernel(shape: &str, types: &str, [a, b, c]: [usize; 3], kind: &str) -> String {
    let list = |name: &str, count: usize| (0..count).map(|at| format!("%{name}{at}")).collect::<Vec<_>>().join(",");
    let mut body = String::new();
    for (name, pointer, count) in [("a", 1, a), ("b", 2, b), ("c", 3, c)] {
        for at in 0..count {
            let ty = if name == "c" { kind } else { "b32" };
            body += &format!("ld.global.{ty} %{name}{at}, [%p{pointer}+{}];\n", 128 * at);
        }
    }
    body += &format!(
        "mma.sync.aligned.{shape}.row.col.{types} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n",
        list("c", c),
        list("a", a),
        list("b", b),
        list("c", c)
    );
    for at in 0..c {
        body += &format!("st.global.{kind} [%p3+{}], %c{at};\n", 128 * at);
    }
    let pointers: String =
        (1..4).map(|at| format!("ld.param.u64 %p{at}, [p{at}]; add.u64 %p{at}, %p{at}, %p0;\n")).collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p1, .param .u64 p2, .param .u64 p3) {{\n\
         .reg .b32 %t, %a<8>, %b<8>; .reg .{kind} %c<8>; .reg .b64 %p<4>;\n\
         mov.u32 %t, %tid.x; mul.wide.u32 %p0, %t, 4;\n{pointers}{body}ret;\n}}\n"
    )
}

/// Small numbers, so that every sum is exact.
fn small(row: usize, column: usize) -> i32 {
    (row * 7 + column * 3) as i32 % 9 - 4
}

/// The bits of a small number in a format.
fn bits(format: &str, number: i32) -> u32 {
    let float = number as f32;
    match format {
        "f16" => {
            let bits = float.to_bits();
            if number == 0 { 0 } else { (bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff }
        }
        "bf16" => float.to_bits() >> 16,
        "tf32" => float.to_bits(),
        _ => u32::from(number as i8 as u8),
    }
}

/// The registers of all lanes, one register after the other. `at` gives the row and the column of a lane's element.
fn registers(format: &str, elements: usize, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
    let of_register = match format {
        "f16" | "bf16" => 2,
        "tf32" => 1,
        _ => 4,
    };
    let width = 32 / of_register;
    let word = |register: usize, lane: usize| {
        let element = |at: usize| bits(format, value(lane, register * of_register + at)) << (width * at);
        (0..of_register).fold(0, |word, at| word | element(at))
    };
    let words = (0..elements / of_register).flat_map(|register| (0..32).map(move |lane| (register, lane)));
    words.flat_map(|(register, lane)| word(register, lane).to_le_bytes()).collect()
}

/// Row and column of element `i` of A in a lane, by the ISA's lists for m16n8k16 and f16, m16n8k8 and tf32, m16n8k32 and s8.
fn of_a(format: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane >> 2, lane % 4);
    match format {
        "tf32" => ([group, group + 8, group, group + 8][i], [own, own, own + 4, own + 4][i]),
        "s8" => {
            let row = if matches!(i, 0..4 | 8..12) { group } else { group + 8 };
            (row, own * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
        }
        _ => {
            let row = if matches!(i, 0 | 1 | 4 | 5) { group } else { group + 8 };
            (row, own * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
        }
    }
}

/// The same of B.
fn of_b(format: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane >> 2, lane % 4);
    match format {
        "tf32" => (own + 4 * i, group),
        "s8" => (own * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, group),
        _ => (own * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, group),
    }
}

#[test]
fn products_of_matrices_are_right() {
    for (format, depth, types, kind) in [
        ("f16", 16, "f32.f16.f16.f32", "f32"),
        ("bf16", 16, "f32.bf16.bf16.f32", "f32"),
        ("tf32", 8, "f32.tf32.tf32.f32", "f32"),
        ("s8", 32, "s32.s8.s8.s32", "b32"),
    ] {
        let (in_a, in_b) = (16 * depth / 32, 8 * depth / 32);
        let a = registers(format, in_a, |lane, i| {
            let (row, column) = of_a(format, lane, i);
            small(row, column)
        });
        let b = registers(format, in_b, |lane, i| {
            let (row, column) = of_b(format, lane, i);
            small(row + 1, column + 2)
        });
        let shape = format!("m16n8k{depth}");
        let program = Program::parse(&kernel(&shape, types, [a.len() / 128, b.len() / 128, 4], kind));
        let mut trial = Trial::new(&program, "k");
        trial.buffer(&a).and_then(|trial| trial.buffer(&b)).and_then(|trial| trial.buffer(&[0; 512])).expect("memory");
        let report = trial.check();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{format}");
        for lane in 0..32 {
            for i in 0..4 {
                let (row, column) = ((lane >> 2) + if i < 2 { 0 } else { 8 }, lane % 4 * 2 + (i & 1));
                let expected: i32 = (0..depth).map(|k| small(row, k) * small(k + 1, column + 2)).sum();
                let at = 128 * i + 4 * lane;
                let word: [u8; 4] = trial.content(2)[at..at + 4].try_into().expect("four bytes");
                let found = if kind == "f32" { f32::from_le_bytes(word) as i32 } else { i32::from_le_bytes(word) };
                assert_eq!(found, expected, "{format}: row {row}, column {column}");
            }
        }
    }
}

/// Each lane writes a row of 16 bytes, and a matrix is loaded as it is or transposed, and stored again.
#[test]
fn matrices_are_moved_as_the_isa_says() {
    for transposed in [false, true] {
        let trans = if transposed { ".trans" } else { "" };
        let program = Program::parse(&format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {{\n\
             .reg .b32 %r<8>; .reg .b64 %d<4>; .shared .align 16 .b8 tile[512]; .shared .align 16 .b8 back[512];\n\
             mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mul.wide.u32 %d3, %r0, 16; ld.param.u64 %d1, [p]; \
             add.u64 %d1, %d1, %d3;\n\
             ld.global.v4.u32 {{%r2,%r3,%r4,%r5}}, [%d1]; mov.u32 %r6, tile; add.u32 %r6, %r6, %r1;\n\
             st.shared.v4.u32 [%r6], {{%r2,%r3,%r4,%r5}}; bar.warp.sync -1;\n\
             ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r2,%r3,%r4,%r5}}, [%r6];\n\
             st.global.v4.u32 [%d1], {{%r2,%r3,%r4,%r5}};\n\
             mov.u32 %r7, back; add.u32 %r7, %r7, %r1;\n\
             stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%r7], {{%r2,%r3,%r4,%r5}}; bar.warp.sync -1;\n\
             ld.shared.v4.u32 {{%r2,%r3,%r4,%r5}}, [%r7]; ld.param.u64 %d2, [q]; add.u64 %d2, %d2, %d3;\n\
             st.global.v4.u32 [%d2], {{%r2,%r3,%r4,%r5}}; ret;\n}}\n"
        ));
        // Half `column` of row `row` of matrix `m` is 64 m + 8 row + column.
        let content: Vec<u8> = (0..256u16).flat_map(u16::to_le_bytes).collect();
        let mut trial = Trial::new(&program, "k");
        trial.buffer(&content).and_then(|trial| trial.buffer(&[0; 512])).expect("memory");
        let report = trial.check();
        assert_eq!((report.stop, report.findings), (None, vec![]));
        let halves = |argument: usize| -> Vec<u16> {
            trial.content(argument).chunks(2).map(|half| u16::from_le_bytes(half.try_into().expect("two"))).collect()
        };
        for lane in 0..32usize {
            for matrix in 0..4 {
                let (row, column) = (lane / 4, lane % 4 * 2);
                let own = |row: usize, column: usize| (64 * matrix + 8 * row + column) as u16;
                let expected = match transposed {
                    false => [own(row, column), own(row, column + 1)],
                    true => [own(column, row), own(column + 1, row)],
                };
                let at = 8 * lane + 2 * matrix;
                assert_eq!(halves(0)[at..at + 2], expected, "lane {lane}, matrix {matrix}, {transposed}");
            }
        }
        assert_eq!(halves(1), (0..256).collect::<Vec<u16>>());
    }
}
