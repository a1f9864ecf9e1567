//! `mma.sync` with scales of blocks: its values, with the places of elements and scales as the PTX ISA lists them.

mod formats;
mod warp;

use formats::{bits, small};
use ptx_interpreter::Report;

/// An instruction, the depth, the types of A and B, and that of the scales with how many elements have one.
#[derive(Clone, Copy, Debug)]
struct Case {
    words: &'static str,
    depth: usize,
    types: [&'static str; 2],
    scale: &'static str,
    of_scale: usize,
    /// Which byte and which threads of four have the scales of A, and of B.
    selected: [[usize; 2]; 2],
}

/// A power of two, from a half to two.
fn power(row: usize, at: usize) -> i32 {
    ((row * 5 + at * 3 + row / 4) % 3) as i32 - 1
}

impl Case {
    /// The row and the place along the depth of element `i` of A (of B: the column).
    fn place(self, is_a: bool, lane: usize, i: usize) -> (usize, usize) {
        let (group, own) = (lane >> 2, lane % 4);
        let each = self.depth / 8;
        let (register, at) = (i / each, i % each);
        let (lower, far) = if is_a { (register % 2 == 1, register / 2) } else { (false, register) };
        (if lower { group + 8 } else { group }, own * each + at + far * self.depth / 2)
    }

    fn number(self, is_a: bool, row: usize, along: usize) -> i32 {
        if is_a { small(self.types[0], row, along) } else { small(self.types[1], along + 1, row + 2) }
    }

    fn registers(self, is_a: bool, lane: usize) -> Vec<u32> {
        let format = self.types[usize::from(!is_a)];
        let (count, each) = (if is_a { 4 } else { 2 }, self.depth / 8);
        let element = |i: usize| {
            let (row, along) = self.place(is_a, lane, i);
            let bits = bits(format, self.number(is_a, row, along)) as u32;
            if self.depth == 64 { bits >> 2 } else { bits }
        };
        let register =
            |number: usize| (0..each).fold(0, |all, at| all | element(number * each + at) << (at * 32 / each));
        (0..count).map(register).collect()
    }

    /// The scales that a lane has: of what does not count, something else.
    fn scales(self, is_a: bool, lane: usize) -> u32 {
        let [byte, thread] = self.selected[usize::from(!is_a)];
        let (group, own) = (lane >> 2, lane % 4);
        let row = match is_a {
            true if own / 2 == thread => group + own % 2 * 8,
            false if own == thread => group,
            _ => return 0x5555_5555,
        };
        let mut bytes = [0x55u8; 4];
        for at in 0..self.depth / self.of_scale {
            let power = power(row + 3 * usize::from(is_a), at);
            bytes[byte + at] = if self.scale == "ue8m0" { 127 + power } else { (7 + power) << 3 } as u8;
        }
        u32::from_le_bytes(bytes)
    }

    fn kernel(self) -> String {
        let [[byte_a, thread_a], [byte_b, thread_b]] = self.selected;
        let loads: String = (0..8).map(|i| format!("ld.global.b32 %x{i}, [%a+{}];\n", 4 * i)).collect();
        let stores: String = (0..4).map(|i| format!("st.global.f32 [%c+{}], %d{i};\n", 4 * i)).collect();
        let (shape, [a, b]) = (self.depth, self.types);
        format!(
            ".version 9.1\n.target sm_120a\n.address_size 64\n\
             .visible .entry k(.param .u64 pa, .param .u64 pc) {{\n\
             .reg .b32 %n, %x<8>; .reg .f32 %d<4>; .reg .b64 %a, %c;\n\
             mov.u32 %n, %tid.x; ld.param.u64 %a, [pa]; mad.wide.u32 %a, %n, 32, %a;\n\
             ld.param.u64 %c, [pc]; mad.wide.u32 %c, %n, 16, %c;\n{loads}\
             mov.f32 %d0, 0f3F800000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;\n\
             mma.sync.aligned.{}.m16n8k{shape}.row.col.f32.{a}.{b}.f32.{} {{%d0,%d1,%d2,%d3}}, {{%x0,%x1,%x2,%x3}},\
             {{%x4,%x5}}, {{%d0,%d1,%d2,%d3}}, {{%x6}}, {{{byte_a},{thread_a}}}, {{%x7}}, {{{byte_b},{thread_b}}};\n\
             {stores}ret;\n}}\n",
            self.words, self.scale
        )
    }

    fn run(self) -> (Vec<u8>, Report) {
        let words = (0..32).flat_map(|lane| {
            let factors = [true, false].into_iter().flat_map(move |is_a| self.registers(is_a, lane));
            factors.chain([self.scales(true, lane), self.scales(false, lane)])
        });
        warp::run(&self.kernel(), words)
    }

    fn is_right(self) {
        let (found, report) = self.run();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{self:?}");
        for (at, word) in found.chunks_exact(4).enumerate() {
            let (lane, i) = (at / 4, at % 4);
            let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
            let product = |k: usize| {
                let scale = power(row + 3, k / self.of_scale) + power(column, k / self.of_scale);
                f64::from(self.number(true, row, k) * self.number(false, column, k)) * 2f64.powi(scale)
            };
            let sum = 1.0 + (0..self.depth).map(product).sum::<f64>();
            let found = f32::from_le_bytes(word.try_into().unwrap());
            assert_eq!(found, sum as f32, "{self:?}: row {row}, column {column}");
        }
    }
}

const SMALL: [&str; 5] = ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"];
const FOUR: [&str; 2] = ["e2m1"; 2];

#[test]
fn elements_have_scales() {
    let mut count = 0;
    let mut is_right = |words, depth, types, scale, of_scale, selected| {
        Case { words, depth, types, scale, of_scale, selected }.is_right();
        count += 1;
    };
    for (at, a) in SMALL.into_iter().enumerate() {
        for b in SMALL {
            let words = ["kind::mxf8f6f4.block_scale", "kind::mxf8f6f4.block_scale.scale_vec::1X"][at % 2];
            is_right(words, 32, [a, b], "ue8m0", 32, [[at % 4, at % 2], [3 - at % 4, at % 4]]);
        }
    }
    for words in ["kind::mxf4.block_scale", "kind::mxf4nvf4.block_scale.scale_vec::2X"] {
        for selected in [[[0, 0], [2, 3]], [[2, 1], [0, 1]]] {
            is_right(words, 64, FOUR, "ue8m0", 32, selected);
        }
    }
    for scale in ["ue4m3", "ue8m0"] {
        is_right("kind::mxf4nvf4.block_scale.scale_vec::4X", 64, FOUR, scale, 16, [[0, 1], [0, 2]]);
    }
    assert_eq!(count, 31);
}

#[test]
fn what_cannot_be_selected_is_told() {
    let case = Case {
        words: "kind::mxf4.block_scale",
        depth: 64,
        types: FOUR,
        scale: "ue8m0",
        of_scale: 32,
        selected: [[0, 2], [0, 0]],
    };
    let (_, report) = case.run();
    let text = report.findings.first().map(ToString::to_string).unwrap_or_default();
    assert!(text.contains("there are no scales of A at byte 0 of thread 2 of four"), "{report}");
}
