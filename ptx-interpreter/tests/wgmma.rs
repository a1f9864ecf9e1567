//! `wgmma`: its values, in every format, swizzle and order of elements, with the places that the PTX ISA lists.

mod formats;

use formats::{bits, byte, small, width};
use ptx_interpreter::{Program, Report, Trial};

const THREADS: usize = 128;
const ROWS: usize = 64;

/// One product.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Of D, A and B.
    types: [&'static str; 3],
    columns: usize,
    /// Bytes that the swizzle permutes; 16 without one.
    swizzle: usize,
    /// Whether the elements of A and B lie side by side across K.
    across: [bool; 2],
    /// Whether A is in registers.
    registers: bool,
    /// The line of 128 bytes, of eight, at which B begins, and the pattern of its swizzle.
    base: usize,
    /// The factors of D, A and B: 0 or 1, 1 or -1, 1 or -1.
    scales: [i32; 3],
}

impl Case {
    /// Elements along K of one instruction.
    fn depth(self) -> usize {
        256 / width(self.types[1])
    }

    /// Instructions: a line of the swizzle along K is used whole.
    fn steps(self) -> usize {
        if self.registers || self.across != [false; 2] { 1 } else { (self.swizzle / 32).max(1) }
    }

    fn all(self) -> usize {
        self.steps() * self.depth()
    }

    /// Where an element is in an image of a matrix with `all` elements along K, and at which bit of a byte: as a copy of a tensor
    /// map leaves it.
    fn place(self, across: bool, row: usize, along: usize) -> (usize, usize) {
        let (beside, line) = if across { (row, along) } else { (along, row) };
        let bit = beside * width(self.types[1]);
        (byte(self.swizzle, across, self.all(), bit / 8, line), bit % 8)
    }

    /// The bits of a descriptor, but for the address.
    fn descriptor(self, across: bool) -> u64 {
        let (leading, stride) = match (self.swizzle, across) {
            (16, false) | (16, true) => (128, 256),
            (swizzle, true) => (self.all() * swizzle, 8 * swizzle),
            (swizzle, false) => (16, 8 * swizzle),
        };
        let mode = match self.swizzle {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0u64,
        };
        (leading as u64 / 16) << 16 | (stride as u64 / 16) << 32 | mode << 62
    }

    fn image(self, across: bool, rows: usize, format: &str, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let mut image = vec![0; 8192];
        for (row, along) in (0..rows).flat_map(|row| (0..self.all()).map(move |along| (row, along))) {
            let (at, bit) = self.place(across, row, along);
            let element = bits(format, value(row, along)) << bit;
            let bytes = image[at..].iter_mut().zip(element.to_le_bytes()).take(width(format).div_ceil(8));
            bytes.for_each(|(byte, part)| *byte |= part);
        }
        image
    }

    /// The registers of A of all threads.
    fn fragments(self, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let of_register = 32 / width(self.types[1]);
        let word = |thread: usize, register: usize| {
            let element = |at: usize| {
                let row = thread / 32 * 16 + thread % 32 / 4 + 8 * (register % 2);
                let along = thread % 4 * of_register + at + 4 * of_register * (register / 2);
                (bits(self.types[1], value(row, along)) as u32) << (at * width(self.types[1]))
            };
            (0..of_register).fold(0, |word, at| word | element(at))
        };
        let words = (0..4).flat_map(|register| (0..THREADS).map(move |thread| (register, thread)));
        let mut all: Vec<u8> = words.flat_map(|(register, thread)| word(thread, register).to_le_bytes()).collect();
        all.resize(8192, 0);
        all
    }

    fn count(self) -> usize {
        self.columns / 2 * width(self.types[0]) / 32
    }

    fn kernel(self, wait: &str) -> String {
        let Case { types, columns, across, registers, scales, .. } = self;
        let depth = self.depth();
        let after = if types[1] == "b1" { ".and.popc" } else { "" };
        let list = |name: &str, count: usize| {
            let all: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
            format!("{{{}}}", all.join(","))
        };
        let mut body = String::new();
        for word in (0..8192 / 4).step_by(THREADS) {
            for (name, from) in [("a", "%a"), ("b", "%b")] {
                body +=
                    &format!("ld.global.b32 %w, [{from}+{}]; st.shared.b32 [%s{name}+{}], %w;\n", 4 * word, 4 * word);
            }
        }
        for i in 0..4 {
            body += &format!("ld.global.b32 %x{i}, [%a+{}];\n", 4 * THREADS * i);
        }
        for i in 0..self.count() {
            body += &format!("ld.global.b32 %d{i}, [%c+{}];\n", 4 * THREADS * i);
        }
        body += "fence.proxy.async.shared::cta;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n";
        for step in 0..self.steps() {
            let of_a = if registers { list("x", 4) } else { "%da".into() };
            let immediates = match width(types[1]) {
                16 if registers => format!(", {}, {}, {}", scales[1], scales[2], i32::from(across[1])),
                16 => format!(", {}, {}, {}, {}", scales[1], scales[2], i32::from(across[0]), i32::from(across[1])),
                _ if types[0] == "s32" => String::new(),
                _ => format!(", {}, {}", scales[1], scales[2]),
            };
            body += &format!(
                "setp.ne.u32 %adds, {}, 0;\nwgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{}{after} {}, {of_a}, %db, %adds{immediates};\n\
                 add.u64 %da, %da, 2; add.u64 %db, %db, 2;\n",
                if step == 0 { scales[0] } else { 1 },
                types.join("."),
                list("d", self.count()),
            );
        }
        body += &format!("wgmma.commit_group.sync.aligned;\n{wait}\n");
        for i in 0..self.count() {
            body += &format!("st.global.b32 [%c+{}], %d{i};\n", 4 * THREADS * i);
        }
        let descriptor = |name: &str, at: usize| {
            let base = if at == 1 { self.base } else { 0 };
            let rest = self.descriptor(across[at]) | (base as u64) << 49;
            format!(
                "mov.u32 %w, {name}; add.u32 %w, %w, {}; shr.u32 %w, %w, 4; cvt.u64.u32 %d{name}, %w; or.b64 %d{name}, %d{name}, {rest};\n",
                128 * base
            )
        };
        format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n\
             .visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc) {{\n\
             .reg .b32 %w, %t, %sa, %sb, %x<4>, %d<128>; .reg .b64 %a, %b, %c, %da, %db, %o; .reg .pred %adds;\n\
             .shared .align 1024 .b8 a[8192]; .shared .align 1024 .b8 b[8192];\n\
             mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; shl.b32 %t, %t, 2;\n\
             ld.param.u64 %a, [pa]; add.u64 %a, %a, %o; ld.param.u64 %b, [pb]; add.u64 %b, %b, %o;\n\
             ld.param.u64 %c, [pc]; add.u64 %c, %c, %o;\n\
             mov.u32 %sa, a; add.u32 %sa, %sa, %t; mov.u32 %sb, b; add.u32 %sb, %sb, %t;\n\
             {}{}{body}ret;\n}}\n",
            descriptor("a", 0),
            descriptor("b", 1)
        )
    }

    /// The words of D of all threads.
    fn sums(self, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let of_register = 32 / width(self.types[0]);
        let word = |register: usize, thread: usize| {
            let element = |at: usize| {
                let i = register * of_register + at;
                let row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
                let column = i / 4 * 8 + thread % 4 * 2 + i % 2;
                (bits(self.types[0], value(row, column)) as u32) << (at * width(self.types[0]))
            };
            (0..of_register).fold(0, |word, at| word | element(at))
        };
        let all = (0..self.count()).flat_map(|register| (0..THREADS).map(move |thread| (register, thread)));
        all.flat_map(|(register, thread)| word(register, thread).to_le_bytes()).collect()
    }

    fn run(self, threads: usize, wait: &str) -> (Vec<u8>, Report) {
        let [_, a, b] = self.types;
        let image_of_a = match self.registers {
            true => self.fragments(|row, along| small(a, row, along)),
            false => self.image(self.across[0], ROWS, a, |row, along| small(a, row, along)),
        };
        let mut image_of_b =
            self.image(self.across[1], self.columns, b, |column, along| small(b, along + 1, column + 2));
        image_of_b.rotate_right(128 * self.base);
        let program = Program::parse(&self.kernel(wait));
        let mut trial = Trial::new(&program, "k");
        trial.block([threads as u32, 1, 1]);
        for content in [image_of_a, image_of_b, self.sums(|row, column| small("s8", row + 3, column))] {
            trial.buffer(&content).expect("memory");
        }
        let report = trial.check();
        (trial.content(2).to_vec(), report)
    }

    fn is_right(self) {
        let (found, report) = self.run(THREADS, "wgmma.wait_group.sync.aligned 0;");
        assert_eq!((report.stop, report.findings), (None, vec![]), "{self:?}");
        let [_, a, b] = self.types;
        let [of_d, of_a, of_b] = self.scales;
        let expected = self.sums(|row, column| {
            let products = (0..self.all()).map(|k| of_a * small(a, row, k) * of_b * small(b, k + 1, column + 2));
            of_d * small("s8", row + 3, column) + products.sum::<i32>()
        });
        assert!(found == expected, "{self:?}");
    }
}

fn plain(types: [&'static str; 3]) -> Case {
    Case { types, columns: 24, swizzle: 128, across: [false; 2], registers: false, base: 0, scales: [1; 3] }
}

const ALL: [[&str; 3]; 15] = [
    ["f32", "f16", "f16"],
    ["f16", "f16", "f16"],
    ["f32", "bf16", "bf16"],
    ["f32", "tf32", "tf32"],
    ["f32", "e4m3", "e4m3"],
    ["f32", "e4m3", "e5m2"],
    ["f16", "e5m2", "e4m3"],
    ["f32", "e5m2", "e5m2"],
    ["f16", "e4m3", "e4m3"],
    ["f16", "e5m2", "e5m2"],
    ["s32", "s8", "s8"],
    ["s32", "u8", "s8"],
    ["s32", "s8", "u8"],
    ["s32", "u8", "u8"],
    ["s32", "b1", "b1"],
];

#[test]
fn products_are_right_in_every_format_and_swizzle() {
    let mut count = 0;
    for types in ALL {
        for (swizzle, registers) in
            [16, 32, 64, 128].into_iter().flat_map(|swizzle| [(swizzle, false), (swizzle, true)])
        {
            Case { swizzle, registers, ..plain(types) }.is_right();
            count += 1;
        }
    }
    assert_eq!(count, 120);
}

/// Only elements of 16 bits may lie across K.
#[test]
fn elements_may_lie_across() {
    for swizzle in [16, 32, 64, 128] {
        for across in [[true, false], [false, true], [true, true]] {
            // A copy of 64 rows, and of 64 columns, is whole panels.
            Case { swizzle, across, columns: 64, ..plain(["f32", "bf16", "bf16"]) }.is_right();
        }
    }
    Case { across: [false, true], columns: 64, registers: true, ..plain(["f32", "f16", "f16"]) }.is_right();
}

#[test]
fn a_pattern_may_begin_at_any_line() {
    for (base, swizzle) in (0..8).flat_map(|base| [32, 64, 128].map(|swizzle| (base, swizzle))) {
        Case { base, swizzle, registers: true, ..plain(["f32", "f16", "f16"]) }.is_right();
        Case { base, swizzle, across: [false, true], columns: 64, registers: true, ..plain(["f32", "f16", "f16"]) }
            .is_right();
    }
}

#[test]
fn factors_are_negated_and_sums_begin_anew() {
    for scales in [[0, 1, 1], [1, -1, 1], [1, 1, -1], [0, -1, -1]] {
        for registers in [false, true] {
            Case { scales, registers, ..plain(["f32", "bf16", "bf16"]) }.is_right();
            Case { scales, registers, ..plain(["f32", "tf32", "tf32"]) }.is_right();
            Case { scales, registers, ..plain(["f32", "e5m2", "e5m2"]) }.is_right();
        }
    }
}

/// What a kernel may not do.
#[test]
fn a_product_needs_four_warps_and_a_wait() {
    let (_, report) = plain(ALL[0]).run(96, "wgmma.wait_group.sync.aligned 0;");
    assert!(report.findings[0].to_string().contains("four whole warps"), "{report}");
    let (_, report) = plain(ALL[0]).run(THREADS, "");
    let title = "a block ends before a product of matrices in its shared memory is known to be done";
    assert_eq!(report.findings[0].title, title, "{report}");
}
