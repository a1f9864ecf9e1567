//! `mma.sync`, `ldmatrix` and `stmatrix`: their values, with the places of elements as the PTX ISA lists them for each shape.

mod formats;

use formats::{bits, small, width};
use ptx_interpreter::{Program, Trial};

/// One instruction: its shape, how A and B lie, its words before and after the types, and the types of D, A, B and C.
struct Case {
    shape: &'static str,
    majors: &'static str,
    before: &'static str,
    types: [&'static str; 4],
    after: &'static str,
}

/// `m16n8k16 row.col s8 …`, by a line of the table below.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |shape, majors, before, types, after| cases.push(Case { shape, majors, before, types, after });
    for majors in ["row.row", "row.col", "col.row", "col.col"] {
        for (d, c) in [("f16", "f16"), ("f32", "f16"), ("f32", "f32")] {
            add("m8n8k4", majors, "", [d, "f16", "f16", c], "");
        }
    }
    for (shapes, types, before) in [
        (&["m16n8k8", "m16n8k16"][..], &["f16"][..], ""),
        (&["m16n8k16", "m16n8k32"], &["e4m3", "e5m2"], ""),
        // The ISA has `.kind` for m16n8k32 alone; ptxas takes it here too.
        (&["m16n8k16"], &["e4m3", "e5m2"], ".kind::f8f6f4"),
        (&["m16n8k32"], &["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"], ".kind::f8f6f4"),
    ] {
        for (shape, a, b) in each(shapes, types) {
            for sum in ["f16", "f32"] {
                add(shape, "row.col", before, [sum, a, b, sum], "");
            }
        }
    }
    for (shapes, ty, sum) in [
        (&["m16n8k8", "m16n8k16"][..], "bf16", "f32"),
        (&["m16n8k4", "m16n8k8"], "tf32", "f32"),
        (&["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"], "f64", "f64"),
    ] {
        shapes.iter().for_each(|shape| add(shape, "row.col", "", [sum, ty, ty, sum], ""));
    }
    for (shapes, types) in
        [(["m8n8k16", "m16n8k16", "m16n8k32"], ["s8", "u8"]), (["m8n8k32", "m16n8k32", "m16n8k64"], ["s4", "u4"])]
    {
        for (shape, a, b) in each(&shapes, &types) {
            for before in ["", ".satfinite"] {
                add(shape, "row.col", before, ["s32", a, b, "s32"], "");
            }
        }
    }
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for after in [".and.popc", ".xor.popc"] {
            add(shape, "row.col", "", ["s32", "b1", "b1", "s32"], after);
        }
    }
    cases
}

fn each(shapes: &[&'static str], types: &[&'static str]) -> Vec<(&'static str, &'static str, &'static str)> {
    let pairs = types.iter().flat_map(|a| types.iter().map(move |b| (*a, *b)));
    pairs.flat_map(|(a, b)| shapes.iter().map(move |shape| (*shape, a, b))).collect()
}

/// Row and column of element `i` of A in a lane, as the ISA lists them. Of `m8n8k4` and `f16`: of the lane's product.
fn of_a(shape: &str, format: &str, major: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane >> 2, lane % 4);
    let upper = if lane < 16 { 0 } else { 4 };
    let row = |first: bool| if first { group } else { group + 8 };
    match (shape, width(format)) {
        ("m8n8k4", 16) if major == "row" => (own + upper, i),
        ("m8n8k4", 16) => (i + upper, own),
        ("m8n8k4", _) => (group, own),
        ("m8n8k16", _) => (group, own * 4 + i),
        ("m8n8k32", _) => (group, own * 8 + i),
        ("m8n8k128", _) => (group, own * 32 + i),
        ("m16n8k4", _) => (row(i == 0), own),
        ("m16n8k8", 16) => (row(i < 2), own * 2 + (i & 1)),
        ("m16n8k8", _) => (row(i == 0 || i == 2), [own, own, own + 4, own + 4][i]),
        ("m16n8k16", 16) => (row(matches!(i, 0 | 1 | 4 | 5)), own * 2 + (i & 1) + if i < 4 { 0 } else { 8 }),
        ("m16n8k16", 64) => (row(i.is_multiple_of(2)), if i.is_multiple_of(2) { i * 2 + own } else { i * 2 - 2 + own }),
        ("m16n8k16", _) => (row(i < 4), own * 4 + (i & 3)),
        ("m16n8k32", 8) => (row(matches!(i, 0..4 | 8..12)), own * 4 + (i & 3) + if i < 8 { 0 } else { 16 }),
        ("m16n8k32", _) => (row(i < 8), own * 8 + (i & 7)),
        ("m16n8k64", _) => (row(matches!(i, 0..8 | 16..24)), own * 8 + (i & 7) + if i < 16 { 0 } else { 32 }),
        ("m16n8k128", _) => (row(i < 32), own * 32 + (i & 31)),
        ("m16n8k256", _) => (row(matches!(i, 0..32 | 64..96)), own * 32 + (i & 31) + if i < 64 { 0 } else { 128 }),
        _ => panic!("the ISA has no {shape} of {format}"),
    }
}

/// The same of B.
fn of_b(shape: &str, format: &str, major: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane >> 2, lane % 4);
    let upper = if lane < 16 { 0 } else { 4 };
    let row = match (shape, width(format)) {
        ("m8n8k4", 16) if major == "row" => return (own, i + upper),
        ("m8n8k4", 16) => return (i, own + upper),
        ("m8n8k4" | "m16n8k4", _) => own,
        ("m8n8k16", _) => own * 4 + i,
        ("m8n8k32", _) => own * 8 + i,
        ("m8n8k128", _) => own * 32 + i,
        ("m16n8k8", 16) => own * 2 + i,
        ("m16n8k8", _) => [own, own + 4][i],
        ("m16n8k16", 16) => own * 2 + (i & 1) + if i < 2 { 0 } else { 8 },
        ("m16n8k16", 64) => own + 4 * i,
        ("m16n8k16", _) => own * 4 + i,
        ("m16n8k32", 8) => own * 4 + (i & 3) + if i < 4 { 0 } else { 16 },
        ("m16n8k32", _) => own * 8 + i,
        ("m16n8k64", _) => own * 8 + (i & 7) + if i < 8 { 0 } else { 32 },
        ("m16n8k128", _) => own * 32 + i,
        ("m16n8k256", _) => own * 32 + (i & 31) + if i < 32 { 0 } else { 128 },
        _ => panic!("the ISA has no {shape} of {format}"),
    };
    (row, group)
}

/// The same of C and D.
fn of_c(case: &Case, format: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane >> 2, lane % 4);
    let upper = if lane < 16 { 0 } else { 4 };
    match (case.shape, case.types[1], format) {
        ("m8n8k4", "f16", "f16") => (own + upper, i),
        ("m8n8k4", "f16", _) => ((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)),
        _ => (if i < 2 { group } else { group + 8 }, own * 2 + (i & 1)),
    }
}

/// Which of the products of `m8n8k4` and `f16` a lane takes part in.
fn product(case: &Case, lane: usize) -> usize {
    if case.shape == "m8n8k4" && case.types[1] == "f16" { lane % 16 / 4 } else { 0 }
}

/// Rows, columns and depth.
fn sizes(shape: &str) -> [usize; 3] {
    let numbers: Vec<usize> = shape[1..].split(['n', 'k']).map(|number| number.parse().expect("a number")).collect();
    numbers.try_into().expect("three")
}

impl Case {
    fn spelling(&self) -> String {
        let Case { shape, majors, before, types, after } = self;
        format!("mma.sync.aligned.{shape}.{majors}{before}.{}{after}", types.join("."))
    }

    /// How many elements of D, A, B and C a lane has.
    fn elements(&self) -> [usize; 4] {
        let [m, n, k] = sizes(self.shape);
        let products = if self.shape == "m8n8k4" && self.types[1] == "f16" { 4 } else { 1 };
        [m * n, m * k, k * n, m * n].map(|all| all * products / 32)
    }

    /// A kernel that loads each lane's registers, multiplies, and stores the results.
    fn kernel(&self) -> String {
        let wide = if self.types[1] == "f64" { 64 } else { 32 };
        let counts: Vec<usize> =
            self.elements().iter().zip(self.types).map(|(elements, ty)| elements * width(ty) / wide).collect();
        let list = |at: usize| {
            let registers: Vec<String> = (0..counts[at]).map(|i| format!("%m{at}_{i}")).collect();
            format!("{{{}}}", registers.join(","))
        };
        let mut body = String::new();
        for (at, count) in counts.iter().enumerate() {
            body += &format!("ld.param.u64 %p, [p{at}]; add.u64 %p{at}, %p, %p4;\n");
            for i in 0..*count {
                body += &format!(".reg .b{wide} %m{at}_{i};\n");
                if at > 0 {
                    body += &format!("ld.global.b{wide} %m{at}_{i}, [%p{at}+{}];\n", 4 * wide * i);
                }
            }
        }
        body += &format!("{} {}, {}, {}, {};\n", self.spelling(), list(0), list(1), list(2), list(3));
        for i in 0..counts[0] {
            body += &format!("st.global.b{wide} [%p0+{}], %m0_{i};\n", 4 * wide * i);
        }
        format!(
            ".version 8.7\n.target sm_120a\n.address_size 64\n\
             .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{\n\
             .reg .b32 %t; .reg .b64 %p, %p0, %p1, %p2, %p3, %p4;\n\
             mov.u32 %t, %tid.x; mul.wide.u32 %p4, %t, {};\n{body}ret;\n}}\n",
            wide / 8
        )
    }

    /// The registers of all lanes of an operand, one register after the other.
    fn registers(&self, operand: usize, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let (format, elements) = (self.types[operand], self.elements()[operand]);
        let wide = if self.types[1] == "f64" { 64 } else { 32 };
        let per = wide / width(format);
        let word = |register: usize, lane: usize| {
            let element = |at: usize| bits(format, value(lane, register * per + at)) << (width(format) * at);
            (0..per).fold(0, |word, at| word | element(at))
        };
        let words = (0..elements / per).flat_map(|register| (0..32).map(move |lane| (register, lane)));
        words.flat_map(|(register, lane)| word(register, lane).to_le_bytes()[..wide / 8].to_vec()).collect()
    }

    /// What the kernel stores in place of D.
    fn run(&self, [a, b, c]: [Vec<u8>; 3]) -> Vec<u8> {
        let program = Program::parse(&self.kernel());
        let mut trial = Trial::new(&program, "k");
        let room = vec![0; self.elements()[0] * width(self.types[0]) * 4];
        for content in [&room, &a, &b, &c] {
            trial.buffer(content).expect("memory");
        }
        let report = trial.check();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{}", self.spelling());
        trial.content(0).to_vec()
    }
}

#[test]
fn products_of_matrices_are_right() {
    let cases = cases();
    assert_eq!(cases.len(), 152, "what ptxas 13.5 takes, without the roundings of f64");
    for case in &cases {
        let Case { shape, majors, types: [_, a, b, c], after, .. } = *case;
        let (a_major, b_major) = majors.split_once('.').expect("two");
        let in_a = |product: usize, row: usize, column: usize| small(a, row + 2 * product, column);
        let in_b = |product: usize, row: usize, column: usize| small(b, row + 1, column + 2 + product);
        let in_c = |product: usize, row: usize, column: usize| small("s8", row + 3, column + 5 * product);
        let found = case.run([
            case.registers(1, |lane, i| {
                let (row, column) = of_a(shape, a, a_major, lane, i);
                in_a(product(case, lane), row, column)
            }),
            case.registers(2, |lane, i| {
                let (row, column) = of_b(shape, b, b_major, lane, i);
                in_b(product(case, lane), row, column)
            }),
            case.registers(3, |lane, i| {
                let (row, column) = of_c(case, c, lane, i);
                in_c(product(case, lane), row, column)
            }),
        ]);
        let expected = case.registers(0, |lane, i| {
            let ((row, column), product) = (of_c(case, case.types[0], lane, i), product(case, lane));
            let one = |k: usize| match (in_a(product, row, k), in_b(product, k, column)) {
                (a, b) if after.contains("xor") => a ^ b,
                (a, b) => a * b,
            };
            in_c(product, row, column) + (0..sizes(shape)[2]).map(one).sum::<i32>()
        });
        assert!(found == expected, "{}: {found:?} is not {expected:?}", case.spelling());
    }
}

/// Sums that do not fit: wrapped, saturated, rounded as the instruction says, and without a number.
#[test]
fn ends_of_ranges_are_right() {
    let all = |bytes: &[u8], registers: usize| bytes.repeat(32 * registers);
    let case = |shape, before, types| Case { shape, majors: "row.col", before, types, after: "" };
    let first =
        |case: Case, content: [Vec<u8>; 3]| case.run(content)[..4].try_into().map(u32::from_le_bytes).expect("4");
    let bytes = |before| {
        let most = i32::MAX.to_le_bytes();
        let case = case("m16n8k16", before, ["s32", "s8", "s8", "s32"]);
        first(case, [all(&[1; 4], 2), all(&[1; 4], 1), all(&most, 4)])
    };
    assert_eq!(bytes(".satfinite"), i32::MAX as u32);
    assert_eq!(bytes(""), i32::MAX.wrapping_add(16) as u32);
    // 448 is the greatest of e4m3, whose 0x7f is no number; 0x7c of e5m2 is infinite.
    let floats =
        |types, a: u8, b: u8| first(case("m16n8k16", "", types), [all(&[a; 4], 2), all(&[b; 4], 1), all(&[0; 4], 4)]);
    assert_eq!(f32::from_bits(floats(["f32", "e4m3", "e4m3", "f32"], 0x7e, 0x7e)), 16.0 * 448.0 * 448.0);
    assert_eq!(floats(["f32", "e4m3", "e4m3", "f32"], 0x7f, 0x38), 0x7fff_ffff);
    assert_eq!(f32::from_bits(floats(["f32", "e5m2", "e4m3", "f32"], 0xfc, 0x38)), f32::NEG_INFINITY);
    // 1 + 2^-53 four times over: a chain of additions rounds each to even or up.
    let doubles = |before| {
        let case = case("m8n8k4", before, ["f64"; 4]);
        let (one, little) = (1f64.to_le_bytes(), 2f64.powi(-53).to_le_bytes());
        f64::from_le_bytes(case.run([all(&one, 1), all(&little, 1), all(&one, 2)])[..8].try_into().expect("8"))
    };
    assert_eq!(doubles(""), 1.0);
    assert_eq!(doubles(".rp"), 1.0 + 4.0 * f64::EPSILON);
}

/// Rows of bytes, whose number is the byte: loaded transposed, unpacked, stored transposed.
#[test]
fn matrices_of_bytes_are_moved() {
    let program = |instruction: &str, loads: bool| {
        let moved = if loads { format!("{instruction} %v, [%r6];") } else { String::new() };
        let stored = if loads { String::new() } else { format!("{instruction} [%r6], %v;") };
        let count = if instruction.contains("x4") || instruction.contains("m16n16.x2") { 4 } else { 2 };
        let list = ["{%r2,%r3,%r4,%r5}", "{%r2,%r3}"][usize::from(count == 2)];
        let (moved, stored) = (moved.replace("%v", list), stored.replace("%v", list));
        Program::parse(&format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {{\n\
             .reg .b32 %r<8>; .reg .b64 %d<4>; .shared .align 16 .b8 tile[512];\n\
             mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mul.wide.u32 %d3, %r0, 16; ld.param.u64 %d1, [p]; \
             add.u64 %d1, %d1, %d3; ld.param.u64 %d2, [q]; add.u64 %d2, %d2, %d3; \
             mov.u32 %r6, tile; add.u32 %r6, %r6, %r1;\n\
             ld.global.v4.u32 {{%r2,%r3,%r4,%r5}}, [%d1]; st.shared.v4.u32 [%r6], {{%r2,%r3,%r4,%r5}};\n\
             bar.warp.sync -1; {moved} {stored} bar.warp.sync -1;\n\
             st.global.v4.u32 [%d1], {{%r2,%r3,%r4,%r5}};\n\
             ld.shared.v4.u32 {{%r2,%r3,%r4,%r5}}, [%r6]; st.global.v4.u32 [%d2], {{%r2,%r3,%r4,%r5}}; ret;\n}}\n"
        ))
    };
    let run = |instruction: &str, content: &[u8]| {
        let program = program(instruction, instruction.starts_with("ld"));
        let mut trial = Trial::new(&program, "k");
        trial.buffer(content).and_then(|trial| trial.buffer(&[0; 512])).expect("memory");
        let report = trial.check();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{instruction}");
        [trial.content(0).to_vec(), trial.content(1).to_vec()]
    };
    // Byte `column` of row `row` of the 32 rows.
    let of = |row: usize, column: usize| (row * 37 + column * 11) as u8;
    let rows: Vec<u8> = (0..32).flat_map(|row| (0..16).map(move |column| of(row, column))).collect();
    for (instruction, matrices) in [
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", 1),
        ("ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8", 2),
    ] {
        let [registers, _] = run(instruction, &rows);
        for (lane, matrix, half, at) in places(matrices, 2) {
            let found = registers[16 * lane + 8 * matrix + 4 * half + at];
            // Transposed, a lane has four neighbours of a row, and of the row eight below.
            let (row, column) = (lane / 4 + 8 * half, lane % 4 * 4 + at);
            assert_eq!(found, of(16 * matrix + column, row), "{instruction}: lane {lane}, {matrix}, {half}, {at}");
        }
    }
    for (packed, bits) in [("b6x16_p32", 6), ("b4x16_p64", 4)] {
        let element = |row: usize, at: usize| {
            let row: [u8; 16] = rows[16 * row..16 * row + 16].try_into().expect("16");
            (0..bits).fold(0, |value, bit| {
                let place = at * bits + bit;
                value | (row[place / 8] >> (place % 8) & 1) << bit
            })
        };
        let instruction = format!("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.{packed}");
        let [registers, _] = run(&instruction, &rows);
        for (lane, matrix, _, at) in places(4, 1) {
            let found = registers[16 * lane + 4 * matrix + at];
            assert_eq!(
                found,
                element(8 * matrix + lane / 4, lane % 4 * 4 + at),
                "{instruction}: {lane}, {matrix}, {at}"
            );
        }
        let instruction = format!("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.{packed}");
        let [registers, _] = run(&instruction, &rows);
        for (lane, matrix, half, at) in places(2, 2) {
            let found = registers[16 * lane + 8 * matrix + 4 * half + at];
            let expected = element(16 * matrix + lane % 4 * 4 + at, lane / 4 + 8 * half);
            assert_eq!(found, expected, "{instruction}: {lane}, {matrix}, {half}, {at}");
        }
    }
    // What `mma` leaves of a product of 16 rows and 8 columns, as bytes: two of a row, two of the row eight below.
    let instruction = "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8";
    let [registers, stored] = run(instruction, &rows);
    for (lane, matrix, _, at) in places(4, 1) {
        let (row, column) = (lane / 4 + at / 2 * 8, lane % 4 * 2 + at % 2);
        let found = stored[128 * matrix + 16 * column + row];
        assert_eq!(found, registers[16 * lane + 4 * matrix + at], "{instruction}: {lane}, {matrix}, {at}");
    }
}

/// Each byte of each register of each lane.
fn places(matrices: usize, registers: usize) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..32 * matrices * registers * 4).map(move |all| {
        let (at, rest) = (all % 4, all / 4);
        (rest / registers / matrices, rest / registers % matrices, rest % registers, at)
    })
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

#[test]
fn a_matrix_is_transposed_in_registers() {
    let program = Program::parse(
        ".version 7.8\n.target sm_75\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u64 q) {\n\
         .reg .b64 %d<9>; .reg .b32 %r<9>;\n\
         mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;\n\
         ld.param.u64 %d0, [p]; ld.param.u64 %d1, [q]; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;\n\
         ld.global.u32 %r1, [%d0]; movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.u32 [%d1], %r2; ret;\n}\n",
    );
    let halves = |of: fn(u16) -> u16| -> Vec<u8> { (0..64).flat_map(|at| of(at).to_le_bytes()).collect() };
    let mut trial = Trial::new(&program, "k");
    trial.buffer(&halves(|at| at)).and_then(|trial| trial.buffer(&[0; 128])).expect("memory");
    let report = trial.check();
    assert_eq!((report.stop, report.findings), (None, vec![]));
    assert_eq!(trial.content(1), halves(|at| at % 8 * 8 + at / 8));
}

/// CUTLASS writes the words in another order, which assemblers take.
#[test]
fn words_of_matrices_may_stand_in_another_order() {
    let of = |line: &str| {
        let text = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<8>; .reg .b64 %d<3>; .shared .align 16 .b8 rows[512];\n\
             ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, rows; add.u32 %r2, %r2, %r3;\n\
             mov.u32 %r4, %r1; st.shared.v4.u32 [%r2], {{%r1, %r4, %r1, %r4}}; bar.sync 0;\n{line}\n\
             mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; xor.b32 %r4, %r4, %r7; st.global.u32 [%d1], %r4;\nret; }}"
        );
        let program = Program::parse(&text);
        assert!(program.gaps().is_empty(), "{line}: {:?}", program.gaps());
        let mut trial = Trial::new(&program, "k");
        trial.unwritten(128).expect("a little memory");
        assert!(trial.check().is_clean(), "{line}");
        trial.content(0).to_vec()
    };
    let [usual, other] = ["m8n8.x4.trans", "x4.trans.m8n8"]
        .map(|words| of(&format!("ldmatrix.sync.aligned.{words}.shared.b16 {{%r4, %r5, %r6, %r7}}, [%r2];")));
    assert_eq!(usual, other);
    assert!(usual.iter().any(|byte| *byte != 0));
}

/// What is added may be a number, and what comes out need not be kept.
#[test]
fn numbers_are_added_without_registers() {
    let program = Program::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
         .reg .b32 %zero; .reg .f32 %d<2>; .reg .b64 %to;\n\
         ld.param.u64 %to, [p]; mov.b32 %zero, 0;\n\
         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, _, %d1, _}, {%zero, %zero, %zero, %zero},\
         {%zero, %zero}, {1.5, 0., -.25, 0.};\n\
         st.global.v2.f32 [%to], {%d0, %d1};\nret; }\n",
    );
    let mut trial = Trial::new(&program, "k");
    trial.block([32, 1, 1]).buffer(&[0; 8]).expect("memory");
    let report = trial.check();
    assert_eq!(report.stop, None);
    assert_eq!(trial.content(0), [1.5f32.to_le_bytes(), (-0.25f32).to_le_bytes()].concat());
}
