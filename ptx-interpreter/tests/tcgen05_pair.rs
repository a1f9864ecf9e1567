//! `tcgen05.mma` of a pair of blocks, of elements of four and six bits, and with scales: its values, with the places that the PTX ISA and
//! CUTLASS's layouts have.

mod formats;
mod images;

use formats::{bits, byte, small};
use images::copies;
use ptx_interpreter::{Program, Report, Trial, Why};

const THREADS: usize = 128;
const LANES: usize = 128;
/// Columns of the result.
const COLUMNS: usize = 64;
/// Bytes of what a block has of A and of B, words that each lane gets, and bytes of the sums of a block.
const IMAGES: [usize; 2] = [4096, 2048];
const WORDS: usize = 16;
const SUMS: usize = 4 * LANES * COLUMNS;
/// Where the lanes' words are: scales of A, scales of B, and A.
const OF_A: usize = 64;
const OF_B: usize = 68;
const A: usize = 72;
/// After it the other block of the pair has begun.
const BEGUN: &str = "barrier.cluster.arrive; barrier.cluster.wait;\n";

/// A product, and what an element takes of it in shared memory.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// `.ws`, or nothing.
    ws: &'static str,
    words: &'static str,
    /// Of A and B, with their numbers in the instruction descriptor.
    types: [Type; 2],
    /// What an element takes.
    container: usize,
    blocks: usize,
    rows: usize,
    scales: Option<Scales>,
    in_tensor: bool,
}

#[derive(Clone, Copy, Debug)]
struct Scales {
    /// `ue8m0`, and not `ue4m3`.
    is_power: bool,
    of_scale: usize,
    /// The first byte: of A, and of B.
    first: [usize; 2],
}

/// The bits of an element in shared memory.
fn narrow(format: &str) -> usize {
    match format {
        "e2m1" => 4,
        "e2m3" | "e3m2" => 6,
        other => formats::width(other),
    }
}

/// A power of two, from a half to two.
fn power(row: usize, at: usize) -> i32 {
    ((row * 5 + at * 3 + row / 9) % 3) as i32 - 1
}

impl Case {
    fn depth(self) -> usize {
        256 / self.container
    }

    /// Parts of the lanes that have the same rows, each with some of the columns.
    fn parts(self) -> usize {
        LANES * self.blocks / self.rows
    }

    fn is_folded(self) -> bool {
        self.parts() > 1
    }

    /// The row and the column of the result that a lane of a block has in a column of tensor memory.
    fn place(self, block: usize, lane: usize, column: usize) -> Option<(usize, usize)> {
        let (rows, columns) = (LANES / self.parts(), COLUMNS / self.parts());
        (column < columns).then_some((block * rows + lane % rows, lane / rows * columns + column))
    }

    /// What of a factor a block has in shared memory, from a row on.
    fn image(self, factor: usize, first: usize, rows: usize) -> Vec<u8> {
        let (format, mut image) = (self.types[factor].0, vec![0x77; IMAGES[factor]]);
        let of_unit = 128 / self.container;
        for (row, unit) in (0..rows).flat_map(|row| (0..self.depth() / of_unit).map(move |unit| (row, unit))) {
            let element = |at: usize| u128::from(self.raw(factor, first + row, unit * of_unit + at));
            let whole = (0..of_unit).map(|at| element(at) << (at * narrow(format))).fold(0, |all, one| all | one);
            let at = byte(16, false, 0, 16 * unit, row);
            image[at..at + 16].copy_from_slice(&whole.to_le_bytes());
        }
        image
    }

    /// The bits of an element of A, or of B.
    fn raw(self, factor: usize, row: usize, along: usize) -> u64 {
        let format = self.types[factor].0;
        let bits = bits(format, self.number(factor, row, along));
        if format == "e2m1" { bits >> 2 } else { bits }
    }

    fn number(self, factor: usize, row: usize, along: usize) -> i32 {
        let format = self.types[factor].0;
        if factor == 0 { small(format, row, along) } else { small(format, along + 1, row + 2) }
    }

    fn scale(self, factor: usize, row: usize, along: usize) -> i32 {
        self.scales.map_or(0, |scales| power(row + 7 * factor, along / scales.of_scale))
    }

    /// The words that the lanes of a block have in tensor memory.
    fn words(self, block: usize) -> Vec<u8> {
        let mut all = vec![0x5555_5555u32; LANES * WORDS];
        for lane in 0..LANES {
            let own = &mut all[lane * WORDS..(lane + 1) * WORDS];
            for column in 0..4 {
                let index = lane % 32 + 32 * column;
                let (row, of_b) = match self.is_folded() {
                    true => (block * 64 + index % 64, lane / 64 * COLUMNS / 2 + index % 32),
                    false => (block * 128 + index, index % COLUMNS),
                };
                own[OF_A - 64 + column] = self.scale_word(0, row);
                own[OF_B - 64 + column] = self.scale_word(1, of_b);
            }
            let row = block * self.rows / self.blocks + lane % (self.rows / self.blocks);
            let of_word = 32 / self.container;
            for (at, word) in own[A - 64..].iter_mut().enumerate() {
                // Four bits are in the middle of their byte.
                let shift = if narrow(self.types[0].0) == 4 && self.container == 8 { 2 } else { 0 };
                let element =
                    |i: usize| (self.raw(0, row, at * of_word + i) as u32) << (shift + i * self.container % 32);
                *word = (0..of_word).map(element).fold(0, |all, one| all | one);
            }
        }
        all.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    fn scale_word(self, factor: usize, row: usize) -> u32 {
        let Some(scales) = self.scales else { return 0 };
        let mut bytes = [0x55u8; 4];
        for at in 0..self.depth() / scales.of_scale {
            let power = power(row + 7 * factor, at);
            bytes[scales.first[factor] + at] = if scales.is_power { 127 + power } else { (7 + power) << 3 } as u8;
        }
        u32::from_le_bytes(bytes)
    }

    fn shape(self) -> u32 {
        let [a, b] = self.types.map(|(_, number)| number);
        let sizes = a << 7 | b << 10 | (COLUMNS as u32 / 8) << 17 | (self.rows as u32 / 16) << 24;
        match self.scales {
            Some(Scales { is_power, first: [a, b], .. }) => {
                sizes | (b as u32) << 4 | u32::from(is_power) << 23 | (a as u32) << 29
            }
            None if self.words.contains("i8") => sizes | 2 << 4,
            None => sizes | 1 << 4,
        }
    }

    fn kernel(self) -> String {
        let list = |count: usize| (0..count).map(|i| format!("%x{i}")).collect::<Vec<_>>().join(",");
        let group = format!("cta_group::{}", self.blocks);
        let mut fill = copies(IMAGES, THREADS);
        for i in 0..WORDS {
            fill += &format!("ld.global.b32 %x{i}, [%f+{}];\n", 4 * i);
        }
        let scales = self.scales.map(|_| format!("[%d+{OF_A}], [%d+{OF_B}], ")).unwrap_or_default();
        let of_a = if self.in_tensor { format!("[%d+{A}]") } else { "%da".into() };
        let stores: String =
            (0..COLUMNS / self.parts()).map(|i| format!("st.global.b32 [%c+{}], %x{i};\n", 4 * i)).collect();
        let both = if self.blocks == 2 { (".multicast::cluster", ", 3") } else { ("", "") };
        let descriptor = |name: &str| {
            let rest = 8u64 << 16 | 16 << 32 | 1 << 46;
            format!(
                "mov.u32 %w, {name}; and.b32 %w, %w, 0x3ffff; shr.u32 %w, %w, 4; cvt.u64.u32 %d{name}, %w; or.b64 %d{name}, %d{name}, {rest};\n"
            )
        };
        format!(
            ".version 9.0\n.target sm_100a\n.address_size 64\n\
             .visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pf, .param .u64 pc)\n.explicitcluster\n\
             .reqnctapercluster {blocks}, 1, 1 {{\n\
             .reg .b32 %w, %n, %r, %d, %own, %sa, %sb, %x<64>; .reg .b64 %a, %b, %c, %f, %da, %db, %o; .reg .pred %p;\n\
             .shared .align 1024 .b8 a[{a_bytes}]; .shared .align 1024 .b8 b[{b_bytes}]; .shared .b64 bar; .shared .b32 at;\n\
             mov.u32 %n, %tid.x; mov.u32 %r, %ctaid.x; shl.b32 %w, %n, 2; cvt.u64.u32 %o, %w;\n\
             ld.param.u64 %a, [pa]; mad.wide.u32 %a, %r, {a_bytes}, %a; add.u64 %a, %a, %o;\n\
             ld.param.u64 %b, [pb]; mad.wide.u32 %b, %r, {b_bytes}, %b; add.u64 %b, %b, %o;\n\
             mad.lo.u32 %r, %r, {LANES}, %n;\n\
             ld.param.u64 %f, [pf]; mad.wide.u32 %f, %r, {of_lane}, %f;\n\
             ld.param.u64 %c, [pc]; mad.wide.u32 %c, %r, {sums}, %c;\n\
             mov.u32 %sa, a; add.u32 %sa, %sa, %w; mov.u32 %sb, b; add.u32 %sb, %sb, %w;\n\
             {da}{db}\
             setp.ne.u32 %p, %n, 0; @%p bra ROOM;\n\
             mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nROOM:\nbar.warp.sync 0xffffffff;\n\
             {BEGUN}setp.ge.u32 %p, %n, 32; @%p bra BEGIN;\n\
             tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [at], 128;\n\
             tcgen05.relinquish_alloc_permit.{group}.sync.aligned;\nBEGIN:\n\
             bar.sync 0; ld.shared.b32 %d, [at]; shr.u32 %own, %n, 5; shl.b32 %own, %own, 21; add.u32 %own, %own, %d;\n\
             {fill}tcgen05.st.sync.aligned.32x32b.x16.b32 [%own+64], {{{words}}};\n\
             tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nfence.proxy.async.shared::cta;\n\
             barrier.cluster.arrive; barrier.cluster.wait;\ntcgen05.fence::after_thread_sync;\n\
             setp.ne.u32 %p, %r, 0;\n@%p bra WAIT;\n\
             tcgen05.mma{ws}.{group}.{kind} [%d], {of_a}, %db, {shape}, {scales}%p;\n\
             tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster{to}.b64 [bar]{mask};\nWAIT:\n\
             mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;\n@!%p bra WAIT;\nbar.warp.sync 0xffffffff;\n\
             tcgen05.fence::after_thread_sync;\n\
             tcgen05.ld.sync.aligned.32x32b.x{columns}.b32 {{{result}}}, [%own];\n\
             tcgen05.wait::ld.sync.aligned;\n{stores}\
             tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive; barrier.cluster.wait;\n\
             setp.ge.u32 %p, %n, 32; @%p bra END;\n\
             tcgen05.dealloc.{group}.sync.aligned.b32 %d, 128;\nEND:\nret;\n}}\n",
            blocks = self.blocks,
            a_bytes = IMAGES[0],
            b_bytes = IMAGES[1],
            of_lane = 4 * WORDS,
            sums = 4 * COLUMNS,
            da = descriptor("a"),
            db = descriptor("b"),
            words = list(WORDS),
            ws = self.ws,
            kind = self.words,
            shape = self.shape(),
            to = both.0,
            mask = both.1,
            columns = COLUMNS / self.parts(),
            result = list(COLUMNS / self.parts()),
        )
    }

    fn run(self, kernel: &str) -> (Vec<u8>, Report) {
        self.run_in_order(kernel, 0)
    }

    fn run_in_order(self, kernel: &str, seed: u64) -> (Vec<u8>, Report) {
        let program = Program::parse(kernel);
        let mut trial = Trial::new(&program, "k");
        trial.grid([self.blocks as u32, 1, 1]).block([THREADS as u32, 1, 1]).seed(seed);
        let (rows, columns) = (self.rows / self.blocks, COLUMNS / self.blocks);
        let of_a = |block: usize| self.image(0, block * rows, rows);
        let of_b = |block: usize| self.image(1, block * columns, columns);
        let all = |of: &dyn Fn(usize) -> Vec<u8>| (0..self.blocks).flat_map(of).collect::<Vec<u8>>();
        for content in [all(&of_a), all(&of_b), all(&|block| self.words(block)), vec![0; self.blocks * SUMS]] {
            trial.buffer(&content).expect("memory");
        }
        let report = trial.check();
        (trial.content(3).to_vec(), report)
    }

    fn is_right(self) {
        let (found, report) = self.run(&self.kernel());
        assert_eq!((report.stop, report.findings), (None, vec![]), "{self:?}");
        let words: Vec<u32> = found.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let mut count = 0;
        for (at, word) in words.iter().enumerate() {
            let (block, lane, column) = (at / COLUMNS / LANES, at / COLUMNS % LANES, at % COLUMNS);
            let Some((row, of_b)) = self.place(block, lane, column) else { continue };
            let product = |k: usize| {
                let scale = self.scale(0, row, k) + self.scale(1, of_b, k);
                f64::from(self.number(0, row, k) * self.number(1, of_b, k)) * 2f64.powi(scale)
            };
            let sum: f64 = (0..self.depth()).map(product).sum();
            let expected = if self.words.contains("i8") { sum as i32 as u32 } else { (sum as f32).to_bits() };
            assert_eq!(*word, expected, "{self:?}: row {row}, column {of_b}");
            count += 1;
        }
        assert_eq!(count, self.rows * COLUMNS, "every element is compared");
    }
}

const PLAIN: Case = Case {
    ws: "",
    words: "kind::f16",
    types: [("bf16", 1), ("bf16", 1)],
    container: 16,
    blocks: 2,
    rows: 256,
    scales: None,
    in_tensor: false,
};

/// A type, and its number in the instruction descriptor.
type Type = (&'static str, u32);

const KINDS: [(&str, [Type; 2], usize); 5] = [
    ("kind::f16", [("f16", 0), ("f16", 0)], 16),
    ("kind::tf32", [("tf32", 2), ("tf32", 2)], 32),
    ("kind::f8f6f4", [("e4m3", 0), ("e5m2", 1)], 8),
    ("kind::i8", [("s8", 1), ("u8", 0)], 8),
    ("kind::f16", [("bf16", 1), ("bf16", 1)], 16),
];

#[test]
fn a_pair_of_blocks_multiplies() {
    for (words, types, container) in KINDS {
        for (rows, in_tensor) in [(128, false), (256, false), (128, true), (256, true)] {
            Case { words, types, container, rows, in_tensor, ..PLAIN }.is_right();
        }
    }
}

const SMALL: [Type; 5] = [("e4m3", 0), ("e5m2", 1), ("e2m3", 3), ("e3m2", 4), ("e2m1", 5)];

#[test]
fn elements_have_four_or_six_bits() {
    for a in SMALL {
        for b in SMALL {
            for (blocks, in_tensor) in [(1, false), (2, false), (1, true)] {
                let types = [a, b];
                Case { words: "kind::f8f6f4", types, container: 8, rows: 128, blocks, in_tensor, ..PLAIN }.is_right();
            }
        }
    }
}

#[test]
fn elements_have_scales() {
    let bytes = ["kind::mxf8f6f4.block_scale", "kind::mxf8f6f4.block_scale.scale_vec::1X"];
    let four = [("e2m1", 1); 2];
    let pairs =
        ["kind::mxf4.block_scale", "kind::mxf4nvf4.block_scale.scale_vec::2X", "kind::mxf4.block_scale.block32"];
    let fours = ["kind::mxf4nvf4.block_scale.scale_vec::4X", "kind::mxf4nvf4.block_scale.block16"];
    for (blocks, rows) in [(1, 128), (2, 128), (2, 256)] {
        let of = |words, types, container, is_power, of_scale, first| {
            let scales = Some(Scales { is_power, of_scale, first });
            Case { words, types, container, blocks, rows, scales, ..PLAIN }.is_right();
        };
        for (at, words) in bytes.into_iter().enumerate() {
            of(words, [SMALL[at], SMALL[4 - at]], 8, true, 32, [at, 3 - at]);
        }
        for (at, words) in pairs.into_iter().enumerate() {
            of(words, four, 4, true, 32, [at % 2 * 2, 2 - at % 2 * 2]);
        }
        for (is_power, words) in [false, true].into_iter().zip(fours) {
            // CUTLASS sets a bit behind the type of B, which says something of sparse matrices alone.
            of(words, [("e2m1", 1), ("e2m1", 1 | 4)], 4, is_power, 16, [0, 0]);
        }
    }
}

#[test]
fn parts_of_a_block_have_columns_of_their_own() {
    for (words, types, container) in KINDS {
        for (rows, in_tensor) in [(32, false), (64, false), (128, false), (128, true)] {
            Case { ws: ".ws", words, types, container, blocks: 1, rows, in_tensor, ..PLAIN }.is_right();
        }
    }
}

/// Who allocates for a pair has to know that the other block has begun.
#[test]
fn the_other_block_has_begun() {
    let (_, report) = PLAIN.run(&PLAIN.kernel().replacen(BEGUN, "", 1));
    let [found] = &*report.findings else { panic!("{report}") };
    assert!(found.title.contains("nothing tells that the other block has begun"), "{report}");
    assert!(found.places[0].instruction.starts_with("tcgen05.alloc") && report.stop.is_none(), "{report}");
    assert_eq!(found.times, 2, "one for each block: {report}");
}

/// Who frees for a pair has to know that the other block is done, whichever comes first.
#[test]
fn the_other_block_is_done() {
    let met = "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive; barrier.cluster.wait;\nsetp.ge.u32";
    let kernel = PLAIN.kernel();
    assert!(kernel.contains(met));
    let kernel = kernel.replace(met, "tcgen05.fence::before_thread_sync;\nbar.sync 0;\nsetp.ge.u32");
    for seed in 0..8 {
        let (_, report) = PLAIN.run_in_order(&kernel, seed);
        let [found] = &*report.findings else { panic!("{report}") };
        assert!(found.title.contains("nothing tells that the other block is done with it"), "{report}");
        let [user, freer] = &*found.places else { panic!("{report}") };
        assert!(
            user.instruction.starts_with("tcgen05.ld") && freer.instruction.starts_with("tcgen05.dealloc"),
            "{report}"
        );
        assert!(report.stop.is_none(), "{report}");
    }
}

/// What is wrong, or not known, is never a wrong value.
#[test]
fn what_cannot_be_is_told() {
    let alone = PLAIN.kernel().replace(".reqnctapercluster 2, 1, 1", ".reqnctapercluster 1, 1, 1");
    let odd = PLAIN.kernel().replace("setp.ne.u32 %p, %r, 0;", "setp.ne.u32 %p, %r, 128;");
    let other = PLAIN.kernel().replace("dealloc.cta_group::2", "dealloc.cta_group::1");
    for (kernel, why, text) in [
        (alone, None, "the cluster has an odd number of blocks"),
        (odd, Some(Why::Gap), "that the odd block of a pair begins"),
        (other, None, "freed by another .cta_group"),
    ] {
        let (_, report) = PLAIN.run(&kernel);
        match why {
            Some(why) => assert!(
                report.stop.as_ref().is_some_and(|stop| stop.why == why && stop.text.contains(text)),
                "{report}"
            ),
            None => assert!(report.findings.iter().any(|finding| finding.to_string().contains(text)), "{report}"),
        }
    }
}
