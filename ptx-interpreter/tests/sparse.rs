//! `mma.sp`: its values.

mod formats;
mod pattern;
mod warp;

use formats::{bits, small, width};
use pattern::Pattern;
use ptx_interpreter::Report;

/// An instruction: the depth, the words before and after the types, the types of D, A and B, and which threads have the metadata.
#[derive(Clone, Copy, Debug)]
struct Case {
    sp: &'static str,
    depth: usize,
    before: &'static str,
    types: [&'static str; 3],
    after: &'static str,
    threads: usize,
}

impl Case {
    fn pattern(self) -> Pattern {
        Pattern { depth: self.depth, format: self.types[1], threads: self.threads, is_ordered: self.sp != "sp" }
    }

    /// The row and the place of element `i` of A (of B: the column).
    fn place(self, is_a: bool, lane: usize, i: usize) -> (usize, usize) {
        let each = 32 / width(self.types[1]);
        let (register, at) = (i / each, i % each);
        let (row, far) = if is_a { (lane / 4 + register % 2 * 8, register / 2) } else { (lane / 4, register) };
        (row, lane % 4 * each + at + far * 4 * each)
    }

    fn number(self, is_a: bool, row: usize, along: usize) -> i32 {
        if is_a { small(self.types[1], row, along) } else { small(self.types[2], along + 1, row + 2) }
    }

    fn registers(self, is_a: bool, lane: usize) -> Vec<u32> {
        let format = self.types[if is_a { 1 } else { 2 }];
        let each = 32 / width(format);
        let element = |i: usize| {
            let (row, place) = self.place(is_a, lane, i);
            let along = if is_a { self.pattern().along(row, place) } else { place };
            bits(format, self.number(is_a, row, along)) as u32
        };
        let register =
            |number: usize| (0..each).fold(0, |all, at| all | element(number * each + at) << (at * 32 / each));
        (0..4).map(register).collect()
    }

    fn kernel(self) -> String {
        let loads: String = (0..9).map(|i| format!("ld.global.b32 %x{i}, [%a+{}];\n", 4 * i)).collect();
        let [sum, a, b] = self.types;
        let registers = if sum == "f16" { 2 } else { 4 };
        let d: Vec<String> = (0..registers).map(|i| format!("%d{i}")).collect();
        let stores: String = (0..registers).map(|i| format!("st.global.b32 [%c+{}], %d{i};\n", 4 * i)).collect();
        let zeros: String = (0..4).map(|i| format!("mov.b32 %d{i}, 0;\n")).collect();
        let (sp, depth, before, after, d) = (self.sp, self.depth, self.before, self.after, d.join(","));
        format!(
            ".version 9.0\n.target sm_120a\n.address_size 64\n\
             .visible .entry k(.param .u64 pa, .param .u64 pc) {{\n\
             .reg .b32 %n, %x<9>, %d<4>; .reg .b64 %a, %c;\n\
             mov.u32 %n, %tid.x; ld.param.u64 %a, [pa]; mad.wide.u32 %a, %n, 36, %a;\n\
             ld.param.u64 %c, [pc]; mad.wide.u32 %c, %n, 16, %c;\n{loads}{zeros}\
             mma.{sp}.sync.aligned{before}.m16n8k{depth}.row.col.{sum}.{a}.{b}.{sum}{after} {{{d}}}, {{%x0,%x1,%x2,%x3}},\
             {{%x4,%x5,%x6,%x7}}, {{{d}}}, %x8, {};\n{stores}ret;\n}}\n",
            self.threads
        )
    }

    fn run(self, spoilt: u32) -> (Vec<u8>, Report) {
        let words = (0..32).flat_map(|lane| {
            let factors = [true, false].into_iter().flat_map(move |is_a| self.registers(is_a, lane));
            factors.chain([self.pattern().word(lane, lane / 4) & !spoilt])
        });
        warp::run(&self.kernel(), words)
    }

    fn is_right(self) {
        let (found, report) = self.run(0);
        assert_eq!((report.stop, report.findings), (None, vec![]), "{self:?}");
        let half = self.types[0] == "f16";
        for (lane, i) in (0..32).flat_map(|lane| (0..4).map(move |i| (lane, i))) {
            let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
            let product = |stored: usize| {
                let k = self.pattern().along(row, stored);
                self.number(true, row, k) * self.number(false, column, k)
            };
            let sum: i32 = (0..self.depth / 2).map(product).sum();
            let expected = bits(self.types[0], sum).to_le_bytes();
            let (at, count) = if half { (16 * lane + 2 * i, 2) } else { (16 * lane + 4 * i, 4) };
            assert_eq!(found[at..at + count], expected[..count], "{self:?}: row {row}, column {column}");
        }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |depth, before: &'static str, types, after| {
        let threads = if matches!(depth, 16 | 32) { 2 } else { 1 };
        for (sp, threads) in
            ["sp", "sp::ordered_metadata"].into_iter().flat_map(|sp| (0..threads).map(move |one| (sp, one)))
        {
            if sp == "sp" && !before.is_empty() {
                continue;
            }
            cases.push(Case { sp, depth, before, types, after, threads });
        }
    };
    add(32, "", ["f16", "f16", "f16"], "");
    add(32, "", ["f32", "f16", "f16"], "");
    add(32, "", ["f32", "bf16", "bf16"], "");
    add(16, "", ["f32", "tf32", "tf32"], "");
    for (a, b) in [("s8", "u8"), ("u8", "s8"), ("s8", "s8"), ("u8", "u8")] {
        add(64, "", ["s32", a, b], "");
        add(64, "", ["s32", a, b], ".satfinite");
    }
    for (a, b) in [("s4", "u4"), ("u4", "s4"), ("s4", "s4"), ("u4", "u4")] {
        add(128, "", ["s32", a, b], "");
    }
    for (a, b) in [("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e4m3", "e4m3")] {
        add(64, "", ["f32", a, b], "");
    }
    for (a, b) in [("e2m1", "e3m2"), ("e3m2", "e4m3"), ("e2m3", "e2m1")] {
        add(64, ".kind::f8f6f4", ["f32", a, b], "");
        add(64, ".kind::f8f6f4", ["f16", a, b], "");
    }
    cases
}

#[test]
fn half_of_the_elements_are_multiplied() {
    let cases = cases();
    assert_eq!(cases.len(), 16 + 2 * (8 + 4 + 3) + 6);
    cases.into_iter().for_each(Case::is_right);
}

/// A tile that goes beyond the end of a matrix has zeros there, in the matrix and in its metadata.
#[test]
fn zeros_need_no_metadata() {
    for case in cases() {
        let words = (0..32).flat_map(|lane| [0; 4].into_iter().chain(case.registers(false, lane)).chain([0]));
        let (found, report) = warp::run(&case.kernel(), words);
        assert_eq!((report.stop, report.findings), (None, vec![]), "{case:?}");
        assert!(found.iter().all(|byte| *byte == 0), "{case:?}");
    }
}

/// Both elements of a group at the same place, or a place twice.
#[test]
fn metadata_that_say_nothing_are_told() {
    for case in cases() {
        let (_, report) = case.run(0xf);
        let text = report.findings.first().map(ToString::to_string).unwrap_or_default();
        assert!(text.contains("metadata of a sparse matrix say nothing"), "{case:?}: {report}");
        assert!(text.contains("they have 0b0000"), "{case:?}: {report}");
        assert_eq!(report.stop, None, "{case:?}");
    }
}
