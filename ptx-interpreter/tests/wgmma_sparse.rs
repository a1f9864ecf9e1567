//! `wgmma` of a sparse matrix: its values.

mod formats;
mod images;
mod pattern;

use formats::{bits, byte, small, width};
use images::copies;
use pattern::Pattern;
use ptx_interpreter::{Program, Report, Trial};

const THREADS: usize = 128;
const ROWS: usize = 64;
const COLUMNS: usize = 8;
/// Bytes of A and B in shared memory, of the registers of A and the metadata of a thread, and of its sums.
const IMAGES: [usize; 2] = [2048, 1024];
const OWN: usize = 20;
const SUMS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Case {
    depth: usize,
    types: [&'static str; 3],
    /// What follows the last type: whether D is added, the signs, and how the matrices lie.
    after: &'static str,
    in_registers: bool,
    threads: usize,
}

impl Case {
    fn pattern(self) -> Pattern {
        Pattern { depth: self.depth, format: self.types[1], threads: self.threads, is_ordered: true }
    }

    fn number(self, is_a: bool, row: usize, along: usize) -> i32 {
        if is_a { small(self.types[1], row, along) } else { small(self.types[2], along + 1, row + 2) }
    }

    /// What is stored of a row of A, or of a column of B.
    fn raw(self, is_a: bool, row: usize, place: usize) -> u64 {
        let along = if is_a { self.pattern().along(row, place) } else { place };
        bits(self.types[if is_a { 1 } else { 2 }], self.number(is_a, row, along))
    }

    fn image(self, is_a: bool) -> Vec<u8> {
        let (rows, depth) = if is_a { (ROWS, self.depth / 2) } else { (COLUMNS, self.depth) };
        let bytes = width(self.types[1]) / 8;
        let mut image = vec![0; IMAGES[usize::from(!is_a)]];
        for (row, place) in (0..rows).flat_map(|row| (0..depth).map(move |place| (row, place))) {
            // Of B there are four core matrices along K.
            let beside = place * bytes;
            let at = if is_a { byte(16, false, 0, beside, row) } else { beside / 16 * 128 + row * 16 + beside % 16 };
            image[at..at + bytes].copy_from_slice(&self.raw(is_a, row, place).to_le_bytes()[..bytes]);
        }
        image
    }

    /// The registers of A and the metadata of a thread.
    fn own(self, thread: usize) -> Vec<u8> {
        let (lane, first) = (thread % 32, thread / 32 * 16 + thread % 32 / 4);
        let each = 32 / width(self.types[1]);
        let register = |number: usize| {
            let (row, place) = (first + number % 2 * 8, lane % 4 * each + number / 2 * 4 * each);
            let element = |at: usize| (self.raw(true, row, place + at) as u32) << (at * 32 / each);
            (0..each).fold(0, |all, at| all | element(at))
        };
        let words = (0..4).map(register).chain([self.pattern().word(lane, first)]);
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn kernel(self) -> String {
        let loads: String = (0..5).map(|i| format!("ld.global.b32 %x{i}, [%f+{}];\n", 4 * i)).collect();
        let fill = copies(IMAGES, THREADS);
        let descriptor = |name: &str| {
            let rest = 8u64 << 16 | 16 << 32;
            format!(
                "mov.u32 %w, {name}; shr.u32 %w, %w, 4; cvt.u64.u32 %d{name}, %w; or.b64 %d{name}, %d{name}, {rest};\n"
            )
        };
        let ([sum, a, b], depth) = (self.types, self.depth);
        let of_a = if self.in_registers { "{%x0,%x1,%x2,%x3}" } else { "%da" };
        // How A lies is said only where it is in shared memory.
        let after = if self.in_registers { self.after.replace("1, 1, 0, 0", "1, 1, 0") } else { self.after.to_owned() };
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n\
             .visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pf, .param .u64 pc) {{\n\
             .reg .b32 %w, %n, %sa, %sb, %x<5>, %d<4>; .reg .b64 %a, %b, %c, %f, %da, %db, %o; .reg .pred %p;\n\
             .shared .align 1024 .b8 a[{}]; .shared .align 1024 .b8 b[{}];\n\
             mov.u32 %n, %tid.x; shl.b32 %w, %n, 2; cvt.u64.u32 %o, %w;\n\
             ld.param.u64 %a, [pa]; add.u64 %a, %a, %o; ld.param.u64 %b, [pb]; add.u64 %b, %b, %o;\n\
             mov.u32 %sa, a; add.u32 %sa, %sa, %w; mov.u32 %sb, b; add.u32 %sb, %sb, %w;\n\
             ld.param.u64 %f, [pf]; mad.wide.u32 %f, %n, {OWN}, %f;\n\
             ld.param.u64 %c, [pc]; mad.wide.u32 %c, %n, {SUMS}, %c;\n{}{}{loads}{fill}\
             fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, 0, 0;\n\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sp.sync.aligned.m64n8k{depth}.{sum}.{a}.{b} {{%d0,%d1,%d2,%d3}}, {of_a}, %db, %x4, {}, %p{after};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
             st.global.b32 [%c], %d0; st.global.b32 [%c+4], %d1; st.global.b32 [%c+8], %d2; st.global.b32 [%c+12], %d3;\n\
             ret;\n}}\n",
            IMAGES[0],
            IMAGES[1],
            descriptor("a"),
            descriptor("b"),
            self.threads,
        )
    }

    fn run(self) -> (Vec<u8>, Report) {
        let program = Program::parse(&self.kernel());
        let mut trial = Trial::new(&program, "k");
        trial.block([THREADS as u32, 1, 1]);
        let own: Vec<u8> = (0..THREADS).flat_map(|thread| self.own(thread)).collect();
        for content in [self.image(true), self.image(false), own, vec![0; THREADS * SUMS]] {
            trial.buffer(&content).expect("memory");
        }
        let report = trial.check();
        (trial.content(3).to_vec(), report)
    }

    fn is_right(self) {
        let (found, report) = self.run();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{self:?}");
        for (at, word) in found.chunks_exact(4).enumerate() {
            let (thread, i) = (at / 4, at % 4);
            let (row, column) = (thread / 32 * 16 + thread % 32 / 4 + i / 2 * 8, thread % 4 * 2 + i % 2);
            let product = |stored: usize| {
                let k = self.pattern().along(row, stored);
                self.number(true, row, k) * self.number(false, column, k)
            };
            let sum: i32 = (0..self.depth / 2).map(product).sum();
            let expected = bits(self.types[0], sum) as u32;
            assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), expected, "{self:?}: row {row}, column {column}");
        }
    }
}

#[test]
fn half_of_the_elements_are_multiplied() {
    for (depth, types, after, threads) in [
        (32, ["f32", "f16", "f16"], ", 1, 1, 0, 0", 2),
        (32, ["f32", "bf16", "bf16"], ", 1, 1, 0, 0", 2),
        (16, ["f32", "tf32", "tf32"], ", 1, 1", 2),
        (64, ["s32", "s8", "u8"], "", 1),
        (64, ["f32", "e4m3", "e5m2"], ", 1, 1", 1),
    ] {
        for (in_registers, threads) in [false, true].into_iter().flat_map(|own| (0..threads).map(move |one| (own, one)))
        {
            Case { depth, types, after, in_registers, threads }.is_right();
        }
    }
}
