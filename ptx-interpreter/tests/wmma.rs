//! `wmma`: a warp loads fragments, multiplies and stores them, of all shapes, types and layouts, from global and shared memory.

mod formats;

use formats::{bits, small, width};
use ptx_interpreter::{Program, Trial};

/// A shape, the type of A and B, the type of C and D, registers of A, B and C, and the words of the product behind `wmma.mma`.
struct Case {
    shape: [usize; 3],
    factor: &'static str,
    sum: &'static str,
    registers: [usize; 3],
    types: &'static str,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |shape, factor, sum, registers, types| cases.push(Case { shape, factor, sum, registers, types });
    for shape in [[16, 16, 16], [32, 8, 16], [8, 32, 16]] {
        add(shape, "f16", "f32", [8, 8, 8], "f32.f32");
        add(shape, "f16", "f16", [8, 8, 4], "f16.f16");
    }
    for (shape, [a, b]) in [([16, 16, 16], [4, 4]), ([32, 8, 16], [8, 2]), ([8, 32, 16], [2, 8])] {
        add(shape, "bf16", "f32", [a, b, 8], "f32.bf16.bf16.f32");
        add(shape, "s8", "s32", [a / 2, b / 2, 8], "s32.s8.s8.s32");
        add(shape, "u8", "s32", [a / 2, b / 2, 8], "s32.u8.u8.s32.satfinite");
    }
    add([16, 16, 8], "tf32", "f32", [4, 4, 8], "f32.tf32.tf32.f32");
    add([8, 8, 4], "f64", "f64", [1, 1, 2], "f64.f64.f64.f64");
    add([8, 8, 4], "f64", "f64", [1, 1, 2], "f64.f64.f64.f64.rn");
    add([8, 8, 32], "s4", "s32", [1, 1, 2], "s32.s4.s4.s32");
    add([8, 8, 32], "u4", "s32", [1, 1, 2], "s32.u4.u4.s32");
    add([8, 8, 128], "b1", "s32", [1, 1, 2], "s32.b1.b1.s32");
    cases
}

/// The registers of a fragment: how they are declared, and their list.
fn fragment(name: &str, ty: &str, count: usize) -> (String, String) {
    let declared = match ty {
        "f32" => ".f32",
        "f64" => ".f64",
        _ => ".b32",
    };
    let list: Vec<String> = (0..count).map(|number| format!("%{name}{number}")).collect();
    (format!(".reg {declared} %{name}<{count}>;\n"), format!("{{{}}}", list.join(", ")))
}

/// A matrix of small numbers, whose bits are laid out by rows or by columns with a stride.
struct Matrix {
    size: [usize; 2],
    stride: usize,
    by_rows: bool,
    ty: &'static str,
    numbers: Vec<i32>,
}

impl Matrix {
    fn new(size: [usize; 2], by_rows: bool, ty: &'static str, shift: usize) -> Matrix {
        let numbers = (0..size[0] * size[1]).map(|at| small(ty, at / size[1] + shift, at % size[1])).collect();
        let inner = if by_rows { size[1] } else { size[0] };
        // A row of padding, of 32 bits at least.
        let stride = inner + 128 / width(ty).max(1);
        Matrix { size, stride, by_rows, ty, numbers }
    }

    fn at(&self, row: usize, column: usize) -> i32 {
        self.numbers[row * self.size[1] + column]
    }

    fn index(&self, row: usize, column: usize) -> usize {
        if self.by_rows { row * self.stride + column } else { column * self.stride + row }
    }

    fn bytes(&self) -> Vec<u8> {
        let outer = if self.by_rows { self.size[0] } else { self.size[1] };
        let width = width(self.ty);
        let mut bytes = vec![0u8; outer * self.stride * width / 8];
        for row in 0..self.size[0] {
            for column in 0..self.size[1] {
                let (place, value) = (self.index(row, column) * width, bits(self.ty, self.at(row, column)));
                if width < 8 {
                    bytes[place / 8] |= ((value & ((1 << width) - 1)) << (place % 8)) as u8;
                } else {
                    bytes[place / 8..place / 8 + width / 8].copy_from_slice(&value.to_le_bytes()[..width / 8]);
                }
            }
        }
        bytes
    }
}

fn kernel(case: &Case, layouts: [bool; 3], strides: [usize; 4], shared: usize) -> String {
    let [m, n, k] = case.shape;
    let shape = format!("m{m}n{n}k{k}");
    let layout = layouts.map(|by_rows| if by_rows { "row" } else { "col" });
    let [a, b, c] = [("a", case.factor, 0), ("b", case.factor, 1), ("c", case.sum, 2)]
        .map(|(name, ty, at)| fragment(name, ty, case.registers[at]));
    let d = fragment("d", case.sum, case.registers[2]);
    let bits = if case.factor == "b1" { "xor.popc." } else { "" };
    let (space, copies) = match shared {
        0 => ("global", String::new()),
        bytes => {
            let copy = |at: usize| format!("ld.global.u8 %r1, [%p0+{at}];\nst.shared.u8 [tile+{at}], %r1;\n");
            ("shared", (0..bytes).map(copy).collect())
        }
    };
    let first = if shared == 0 { "%p0" } else { "tile" };
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{\n\
         {}{}{}{}.reg .u64 %p<4>;\n.reg .u32 %r<2>;\n.shared .align 32 .b8 tile[8192];\n\
         ld.param.u64 %p0, [a];\nld.param.u64 %p1, [b];\nld.param.u64 %p2, [c];\nld.param.u64 %p3, [d];\n{copies}bar.warp.sync -1;\n\
         wmma.load.a.sync.aligned.{}.{shape}.{space}.{f} {}, [{first}], {};\n\
         wmma.load.b.sync.aligned.{}.{shape}.global.{f} {}, [%p1], {};\n\
         wmma.load.c.sync.aligned.{}.{shape}.{s} {}, [%p2], {};\n\
         wmma.mma.{bits}sync.aligned.{}.{}.{shape}.{} {}, {}, {}, {};\n\
         wmma.store.d.sync.aligned.row.{shape}.global.{s} [%p3], {}, {};\nret;\n}}\n",
        a.0,
        b.0,
        c.0,
        d.0,
        layout[0],
        a.1,
        strides[0],
        layout[1],
        b.1,
        strides[1],
        layout[2],
        c.1,
        strides[2],
        layout[0],
        layout[1],
        case.types,
        d.1,
        a.1,
        b.1,
        c.1,
        d.1,
        strides[3],
        f = case.factor,
        s = case.sum,
    )
}

fn product(case: &Case, a: &Matrix, b: &Matrix, c: &Matrix) -> Matrix {
    let [m, n, k] = case.shape;
    let mut d = Matrix::new([m, n], true, case.sum, 0);
    for row in 0..m {
        for column in 0..n {
            let terms = (0..k).map(|at| match case.factor {
                "b1" => a.at(row, at) ^ b.at(at, column),
                _ => a.at(row, at) * b.at(at, column),
            });
            d.numbers[row * n + column] = c.at(row, column) + terms.sum::<i32>();
        }
    }
    d
}

#[test]
fn products_of_fragments_have_the_values_of_products_of_matrices() {
    let mut tried = 0;
    for case in &cases() {
        let [m, n, k] = case.shape;
        let small = width(case.factor) < 8;
        for layouts in 0..8 {
            let by_rows = [0, 1, 2].map(|bit| layouts >> bit & 1 == 0);
            // Of less than 8 bits, A lies by rows and B by columns.
            let by_rows = if small { [true, false, by_rows[2]] } else { by_rows };
            let a = Matrix::new([m, k], by_rows[0], case.factor, 1);
            let b = Matrix::new([k, n], by_rows[1], case.factor, 2);
            let c = Matrix::new([m, n], by_rows[2], case.sum, 3);
            let d = product(case, &a, &b, &c);
            let strides = [a.stride, b.stride, c.stride, d.stride];
            for shared in [0, a.bytes().len()] {
                let program = Program::parse(&kernel(case, by_rows, strides, shared));
                let mut trial = Trial::new(&program, "k");
                for matrix in [&a, &b, &c] {
                    trial.buffer(&matrix.bytes()).unwrap();
                }
                let want = d.bytes();
                trial.buffer(&vec![0; want.len()]).unwrap();
                let report = trial.check();
                let what = format!("{:?} {} {} {by_rows:?}", case.shape, case.types, shared);
                assert!(report.stop.is_none(), "{what}: {:?}", report.stop);
                assert_eq!(report.findings, [], "{what}");
                assert!(trial.content(3) == want, "{what}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 21 * 16);
}

/// A fragment of shared memory that another lane has stored, without a barrier of the warp; and one that is not all there.
#[test]
fn what_a_fragment_reads_is_checked() {
    let case = &cases()[0];
    let text = kernel(case, [true; 3], [16; 4], 512).replace("bar.warp.sync -1;\n", "");
    let run = |text: &str, bytes: usize| {
        let program = Program::parse(text);
        let mut trial = Trial::new(&program, "k");
        trial.block([32, 1, 1]);
        for _ in 0..2 {
            trial.buffer(&vec![0; bytes]).unwrap();
        }
        for _ in 0..2 {
            trial.buffer(&vec![0; 1024]).unwrap();
        }
        trial.check().findings.iter().map(|finding| finding.kind.word()).collect::<Vec<_>>()
    };
    let apart = text.replace("st.shared.u8 [tile+0], %r1;", "mov.u32 %r1, %laneid;\nst.shared.u8 [tile+0], %r1;");
    assert_eq!(run(&apart, 512)[0], "race");
    assert_eq!(run(&kernel(case, [true; 3], [16; 4], 0), 512), Vec::<&str>::new());
    assert_eq!(run(&kernel(case, [true; 3], [16; 4], 0), 500), ["bounds"]);
    assert_eq!(run(&kernel(case, [true; 3], [16; 4], 0).replace("[%p0]", "[%p0+1]"), 514), ["misaligned"]);
}
