//! `tcgen05.mma`: its values, in every format, swizzle and order of elements, with the places that the PTX ISA lists.

mod formats;
mod images;

use formats::{bits, byte, small, width};
use images::copies;
use ptx_interpreter::{Kind, Program, Report, Trial, Why};

const THREADS: usize = 128;
const COLUMNS: usize = 32;
/// Bytes of the image of A, and of B.
const IMAGES: [usize; 2] = [16384, 8192];

/// Some products of 32 columns, which follow each other along K.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: &'static str,
    /// Of D, A and B.
    types: [&'static str; 3],
    rows: usize,
    /// The lane in which D begins.
    from: usize,
    /// Bytes that the swizzle permutes; 16 without one.
    swizzle: usize,
    across: [bool; 2],
    /// Whether A is in tensor memory.
    in_tensor: bool,
    /// Whether A and B are negated.
    negates: [bool; 2],
    /// Whether D is added, and by which power of two it is divided.
    adds: bool,
    scale: Option<u32>,
    /// Lanes that are not written.
    disabled: u128,
}

const PLAIN: Case = Case {
    kind: "f16",
    types: ["f32", "bf16", "bf16"],
    rows: 128,
    from: 0,
    swizzle: 128,
    across: [false; 2],
    in_tensor: false,
    negates: [false; 2],
    adds: true,
    scale: None,
    disabled: 0,
};

/// The number of a format in the instruction descriptor.
fn number(format: &str) -> u32 {
    match format {
        "f16" | "e4m3" | "u8" => 0,
        "bf16" | "e5m2" | "s8" | "f32" => 1,
        _ => 2,
    }
}

impl Case {
    fn depth(self) -> usize {
        256 / width(self.types[1])
    }

    /// Instructions: a line of the swizzle along K is used whole.
    fn steps(self) -> usize {
        if self.in_tensor || self.across != [false; 2] { 1 } else { (self.swizzle / 32).max(1) }
    }

    fn all(self) -> usize {
        self.steps() * self.depth()
    }

    /// The bits of a descriptor, but for the address.
    fn descriptor(self, across: bool) -> u64 {
        let (leading, stride) = match (self.swizzle, across) {
            (16, _) => (128, 256),
            (swizzle, true) => (self.all() * swizzle, 8 * swizzle),
            (swizzle, false) => (16, 8 * swizzle),
        };
        let mode = match self.swizzle {
            128 => 2,
            64 => 4,
            32 => 6,
            _ => 0u64,
        };
        (leading as u64 / 16) << 16 | (stride as u64 / 16) << 32 | 1 << 46 | mode << 61
    }

    fn shape(self) -> u32 {
        let [d, a, b] = self.types.map(number);
        let flags = self.negates.into_iter().chain(self.across).enumerate();
        let flags = flags.fold(0, |all, (at, flag)| all | u32::from(flag) << (13 + at));
        d << 4 | a << 7 | b << 10 | flags | (COLUMNS as u32 / 8) << 17 | (self.rows as u32 / 16) << 24
    }

    fn image(self, factor: usize, rows: usize, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let (format, across) = (self.types[1 + factor], self.across[factor]);
        let mut image = vec![0; IMAGES[factor]];
        for (row, along) in (0..rows).flat_map(|row| (0..self.all()).map(move |along| (row, along))) {
            let (beside, line) = if across { (row, along) } else { (along, row) };
            let bytes = width(format) / 8;
            let at = match self.in_tensor && factor == 0 {
                true => self.lane(row) * self.all() * bytes + along * bytes,
                false => byte(self.swizzle, across, self.all(), beside * bytes, line),
            };
            image[at..at + bytes].copy_from_slice(&bits(format, value(row, along)).to_le_bytes()[..bytes]);
        }
        image
    }

    fn kernel(self) -> String {
        let list = |first: usize, count: usize| {
            let all: Vec<String> = (first..first + count).map(|i| format!("%x{i}")).collect();
            format!("{{{}}}", all.join(","))
        };
        let mut body = copies(IMAGES, THREADS);
        // The sums are added to those that are there; A may be beside them.
        for i in 0..COLUMNS {
            body += &format!("ld.global.b32 %x{i}, [%c+{}];\n", 4 * i);
        }
        body += &format!("tcgen05.st.sync.aligned.32x32b.x32.b32 [%own], {};\n", list(0, COLUMNS));
        if self.in_tensor {
            for i in 0..8 {
                body += &format!("ld.global.b32 %x{i}, [%f+{}];\n", 4 * i);
            }
            body += &format!("tcgen05.st.sync.aligned.32x32b.x8.b32 [%own+32], {};\n", list(0, 8));
        }
        body += "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nfence.proxy.async.shared::cta;\n\
                 bar.sync 0;\ntcgen05.fence::after_thread_sync;\nsetp.ne.u32 %p, %n, 0;\n@%p bra WAIT;\n";
        let words = (0..4).map(|word| format!("{}", (self.disabled >> (32 * word)) as u32)).collect::<Vec<_>>();
        let disabled = if self.disabled == 0 { String::new() } else { format!("{{{}}}, ", words.join(",")) };
        for step in 0..self.steps() {
            let adds = u32::from(self.adds || step > 0);
            let scale = self.scale.map(|scale| format!(", {}", if step == 0 { scale } else { 0 })).unwrap_or_default();
            let of_a = if self.in_tensor { format!("[%d+{}]", self.from << 16 | 32) } else { "%da".into() };
            // Attention has the numbers themselves in the place of the predicate.
            let flag = if step > 0 { "1" } else { "%p" };
            body += &format!(
                "setp.ne.u32 %p, {adds}, 0;\n\
                 tcgen05.mma.cta_group::1.kind::{} [%d+{}], {of_a}, %db, {}, {disabled}{flag}{scale};\n\
                 add.u64 %da, %da, 2; add.u64 %db, %db, 2;\n",
                self.kind,
                self.from << 16,
                self.shape()
            );
        }
        body += "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\nWAIT:\n\
                 mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;\n@!%p bra WAIT;\nbar.warp.sync 0xffffffff;\n\
                 tcgen05.fence::after_thread_sync;\n";
        body += &format!("tcgen05.ld.sync.aligned.32x32b.x32.b32 {}, [%own];\n", list(0, COLUMNS));
        body += "tcgen05.wait::ld.sync.aligned;\n";
        for i in 0..COLUMNS {
            body += &format!("st.global.b32 [%c+{}], %x{i};\n", 4 * i);
        }
        let descriptor = |name: &str, across: bool| {
            let rest = self.descriptor(across);
            format!(
                "mov.u32 %w, {name}; shr.u32 %w, %w, 4; cvt.u64.u32 %d{name}, %w; or.b64 %d{name}, %d{name}, {rest};\n"
            )
        };
        format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n\
             .visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc) {{\n\
             .reg .b32 %w, %n, %t, %d, %own, %sa, %sb, %x<32>; .reg .b64 %a, %b, %c, %f, %da, %db, %o; .reg .pred %p;\n\
             .shared .align 1024 .b8 a[{}]; .shared .align 1024 .b8 b[{}]; .shared .b64 bar; .shared .b32 at;\n\
             mov.u32 %n, %tid.x; mul.wide.u32 %o, %n, 4; shl.b32 %t, %n, 2;\n\
             ld.param.u64 %a, [pa]; mul.wide.u32 %f, %n, 32; add.u64 %f, %a, %f; add.u64 %a, %a, %o;\n\
             ld.param.u64 %b, [pb]; add.u64 %b, %b, %o;\n\
             ld.param.u64 %c, [pc]; mul.wide.u32 %o, %n, 128; add.u64 %c, %c, %o;\n\
             mov.u32 %sa, a; add.u32 %sa, %sa, %t; mov.u32 %sb, b; add.u32 %sb, %sb, %t;\n\
             setp.ne.u32 %p, %n, 0; @%p bra ROOM;\n\
             mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nROOM:\nbar.warp.sync 0xffffffff;\n\
             setp.ge.u32 %p, %n, 32; @%p bra BEGIN;\n\
             tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 64;\n\
             tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nBEGIN:\n\
             bar.sync 0; ld.shared.b32 %d, [at]; shr.u32 %own, %n, 5; shl.b32 %own, %own, 21; add.u32 %own, %own, %d;\n\
             {}{}{body}\
             tcgen05.fence::before_thread_sync;\nbar.sync 0;\nsetp.ge.u32 %p, %n, 32; @%p bra END;\n\
             tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 64;\nEND:\nret;\n}}\n",
            IMAGES[0],
            IMAGES[1],
            descriptor("a", self.across[0]),
            descriptor("b", self.across[1])
        )
    }

    /// The lane of a row.
    fn lane(self, row: usize) -> usize {
        if self.rows == 64 { row / 16 * 32 + row % 16 + self.from } else { row }
    }

    fn run(self) -> (Vec<u8>, Report) {
        self.run_kernel(&self.kernel())
    }

    fn run_kernel(self, kernel: &str) -> (Vec<u8>, Report) {
        let [_, a, b] = self.types;
        let of_a = self.image(0, self.rows, |row, along| small(a, row, along));
        let of_b = self.image(1, COLUMNS, |column, along| small(b, along + 1, column + 2));
        let program = Program::parse(kernel);
        let mut trial = Trial::new(&program, "k");
        trial.block([THREADS as u32, 1, 1]);
        for content in [of_a, of_b, self.sums(|lane, column| self.before(lane, column))] {
            trial.buffer(&content).expect("memory");
        }
        let report = trial.check();
        (trial.content(2).to_vec(), report)
    }

    /// What is in D before; half of it is a number of the format too.
    fn before(self, lane: usize, column: usize) -> i32 {
        small("s8", lane + 3, column) << self.scale.unwrap_or_default()
    }

    fn sums(self, value: impl Fn(usize, usize) -> i32) -> Vec<u8> {
        let all = (0..THREADS).flat_map(|lane| (0..COLUMNS).map(move |column| (lane, column)));
        all.flat_map(|(lane, column)| (bits(self.types[0], value(lane, column)) as u32).to_le_bytes()).collect()
    }

    fn is_right(self) {
        let (found, report) = self.run();
        assert_eq!((report.stop, report.findings), (None, vec![]), "{self:?}");
        let [_, a, b] = self.types;
        let sign = if self.negates[0] != self.negates[1] { -1 } else { 1 };
        let rows: Vec<usize> = (0..self.rows).map(|row| self.lane(row)).collect();
        let expected = self.sums(|lane, column| {
            let before = self.before(lane, column);
            let row = rows.iter().position(|own| *own == lane).filter(|_| self.disabled >> lane & 1 == 0);
            let Some(row) = row else { return before };
            let products: i32 = (0..self.all()).map(|k| small(a, row, k) * small(b, k + 1, column + 2)).sum();
            let before = before >> self.scale.unwrap_or_default();
            i32::from(self.adds) * before + sign * products
        });
        assert!(found == expected, "{self:?}");
    }
}

const ALL: [(&str, [&str; 3]); 12] = [
    ("f16", ["f32", "f16", "f16"]),
    ("f16", ["f16", "f16", "f16"]),
    ("f8f6f4", ["f16", "e5m2", "e4m3"]),
    ("f16", ["f32", "bf16", "bf16"]),
    ("tf32", ["f32", "tf32", "tf32"]),
    ("f8f6f4", ["f32", "e4m3", "e4m3"]),
    ("f8f6f4", ["f32", "e4m3", "e5m2"]),
    ("f8f6f4", ["f32", "e5m2", "e5m2"]),
    ("i8", ["s32", "s8", "s8"]),
    ("i8", ["s32", "u8", "s8"]),
    ("i8", ["s32", "s8", "u8"]),
    ("i8", ["s32", "u8", "u8"]),
];

#[test]
fn products_are_right_in_every_format_and_swizzle() {
    for (kind, types) in ALL {
        for (swizzle, rows) in [(16, 64), (32, 128), (64, 64), (128, 128)] {
            Case { kind, types, swizzle, rows, ..PLAIN }.is_right();
        }
    }
}

#[test]
fn elements_may_lie_across() {
    for swizzle in [16, 32, 64, 128] {
        for across in [[true, false], [false, true], [true, true]] {
            Case { swizzle, across, ..PLAIN }.is_right();
        }
    }
}

#[test]
fn a_factor_may_be_in_tensor_memory() {
    for (kind, types) in ALL {
        Case { kind, types, in_tensor: true, ..PLAIN }.is_right();
    }
}

/// Of 64 rows it is in the lanes of the result.
#[test]
fn a_factor_of_64_rows_begins_where_the_result_does() {
    for from in [0, 16] {
        let case = Case { in_tensor: true, rows: 64, from, ..PLAIN };
        case.is_right();
        let (own, other) = (format!("[%d+{}]", from << 16 | 32), format!("[%d+{}]", (16 - from) << 16 | 32));
        let report = report_of(&case.kernel().replace(&own, &other));
        let found = &report.findings[0];
        let text = format!("A does not begin in lane {from}, as the result does");
        assert!(found.kind == Kind::Launch && found.to_string().contains(&text), "{report}");
    }
}

#[test]
fn factors_are_negated_sums_begin_anew_and_lanes_are_left_alone() {
    for negates in [[true, false], [false, true], [true, true]] {
        Case { negates, adds: false, ..PLAIN }.is_right();
        Case { negates, kind: "tf32", types: ["f32", "tf32", "tf32"], ..PLAIN }.is_right();
    }
    Case { scale: Some(1), ..PLAIN }.is_right();
    Case { disabled: 0xffff_0000_0000_0000_0000_0000_dead_beef, ..PLAIN }.is_right();
}

/// A descriptor without a number that PTX says is always there is a finding, and multiplies.
#[test]
fn a_descriptor_has_its_number() {
    let kernel = PLAIN.kernel();
    let marked = PLAIN.descriptor(false).to_string();
    let without = (PLAIN.descriptor(false) & !(1 << 46)).to_string();
    let (found, report) = PLAIN.run_kernel(&kernel.replace(&marked, &without));
    assert!(!report.findings.is_empty() && report.stop.is_none(), "{report}");
    let goes_on = |finding: &ptx_interpreter::Finding| finding.kind == Kind::Launch && finding.went_on();
    assert!(report.findings.iter().all(goes_on) && found == PLAIN.run().0, "{report}");
}

/// The wait orders no accesses, but the products are over: with the fence behind it, it is enough for `tcgen05`.
#[test]
fn a_product_may_be_waited_for_by_a_relaxed_wait() {
    let kernel = PLAIN.kernel();
    assert!(kernel.contains("try_wait.parity.shared"));
    for scope in ["cta", "cluster"] {
        let report =
            report_of(&kernel.replace("try_wait.parity.shared", &format!("try_wait.parity.relaxed.{scope}.shared")));
        assert!(report.is_clean(), "{report}");
    }
    let relaxed = kernel.replace("try_wait.parity.shared", "try_wait.parity.relaxed.cta.shared");
    let (before, after) = relaxed.rsplit_once("tcgen05.commit").expect("it is told");
    let unfenced = after.replacen("tcgen05.fence::after_thread_sync;\n", "", 1);
    let report = report_of(&format!("{before}tcgen05.commit{unfenced}"));
    assert!(report.findings.iter().any(|finding| finding.kind == Kind::Order), "{report}");
}

fn report_of(kernel: &str) -> Report {
    let program = Program::parse(kernel);
    let mut trial = Trial::new(&program, "k");
    trial.block([THREADS as u32, 1, 1]);
    for bytes in [IMAGES[0], IMAGES[1], 4 * COLUMNS * THREADS] {
        trial.buffer(&vec![0; bytes]).expect("memory");
    }
    trial.check()
}

/// The name of a register need not begin with `%`.
#[test]
fn a_load_is_waited_for_whatever_its_registers_are_called() {
    let kernel = PLAIN.kernel().replace("%x", "sum");
    assert!(report_of(&kernel).is_clean());
    let report = report_of(&kernel.replace("tcgen05.wait::ld.sync.aligned;\n", ""));
    let first = report.findings.first().map(|finding| finding.title.as_str());
    assert_eq!(first, Some("a register is used before `tcgen05.ld` is known to have filled it"), "{report}");
}

/// As a kernel of cuDNN has it: two results of 64 rows share the columns.
#[test]
fn sixty_four_rows_may_begin_in_lane_16() {
    let case = Case { rows: 64, from: 16, ..PLAIN };
    case.is_right();
    Case { disabled: 1 << 17 | 1 << 48, ..case }.is_right();
    for case in [Case { from: 32, ..case }, Case { rows: 128, ..case }] {
        let report = report_of(&case.kernel());
        let found = &report.findings[0];
        assert!(found.kind == Kind::Launch && found.to_string().contains("does not begin in lane 0"), "{report}");
    }
}

/// Eight columns are the least, whatever the rows.
#[test]
fn eight_columns_are_enough() {
    for rows in [64, 128] {
        let case = Case { rows, ..PLAIN };
        let [own, less] = [case.shape(), case.shape() & !(0x3f << 17) | 1 << 17].map(|shape| format!(", {shape}, "));
        let report = report_of(&case.kernel().replace(&own, &less));
        assert!(report.is_clean(), "{rows}: {report}");
    }
}

/// A value that is not known ends the launch: it is never a wrong one.
#[test]
fn what_is_not_known_is_named() {
    let shaped = |shape: u32| PLAIN.kernel().replace(&format!(", {}, ", PLAIN.shape()), &format!(", {shape}, "));
    let sparse = shaped(PLAIN.shape() | 4);
    let cases = [
        (sparse, "does not know tcgen05.mma of sparse matrices"),
        (
            PLAIN.kernel().replace("mma.cta_group::1", "mma.sp.cta_group::1"),
            "does not know tcgen05.mma.sp.cta_group::1",
        ),
    ];
    for (kernel, text) in cases {
        let report = report_of(&kernel);
        let stop = report.stop.expect("it is not known");
        assert!(stop.why == Why::Gap && stop.text.contains(text), "{stop}");
    }
}

/// Warps that all name lane 0 have their own lanes all the same, as on a GPU.
#[test]
fn warps_keep_to_their_own_lanes() {
    let kernel = PLAIN.kernel().replace("shl.b32 %own, %own, 21;", "mov.b32 %own, 0;");
    let (sums, report) = PLAIN.run_kernel(&kernel);
    assert!(report.stop.is_none() && sums == PLAIN.run().0, "{report}");
    let [store, load] = &report.findings[..] else { panic!("{report}") };
    for (found, instruction) in [(store, "tcgen05.st"), (load, "tcgen05.ld")] {
        let text = found.to_string();
        assert!(found.kind == Kind::Bounds && found.went_on() && text.contains(instruction), "{text}");
        assert!(text.contains("a warp names lanes of tensor memory that belong to another warp"), "{text}");
        assert!(text.contains(", and not those from lane 0 on") && text.contains("found 3 times"), "{text}");
    }
}

/// A commit without `.shared::cluster` that has an offset tells the barrier there all the same, as on a GPU.
#[test]
fn a_commit_to_an_offset_goes_on() {
    let commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];";
    let with = |address: &str, register: &str| {
        let instead = format!("{address}\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [{register}];");
        assert!(PLAIN.kernel().contains(commit));
        PLAIN.run_kernel(&PLAIN.kernel().replace(commit, &instead))
    };
    let (sums, report) = with("mov.b32 %w, bar;", "%w");
    assert!(report.stop.is_none() && sums == PLAIN.run().0, "{report}");
    let [found] = &report.findings[..] else { panic!("{report}") };
    assert!(found.kind == Kind::Bounds && found.went_on(), "{found}");
    let title = "error[bounds]: the barrier of `tcgen05.commit` is named by an offset in shared memory, and a generic address belongs there";
    assert_eq!(found.to_string().lines().next(), Some(title));
    // A generic address is what PTX asks for.
    let (sums, report) = with("mov.b64 %o, bar; cvta.shared.u64 %o, %o;", "%o");
    assert!(report.is_clean() && sums == PLAIN.run().0, "{report}");
}

/// Columns that are not the block's to free, and an allocation that no block can have.
#[test]
fn allocations_are_checked() {
    let cases = [
        (
            "b32 %d, 64",
            "b32 %d, 32",
            Kind::Bounds,
            "no allocation of tensor memory has 32 columns and begins at column 0",
        ),
        ("[at], 64", "[at], 48", Kind::Launch, "48 columns are no power of two"),
        (
            "relinquish_alloc_permit.cta_group::1.sync.aligned;",
            "relinquish_alloc_permit.cta_group::1.sync.aligned;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 64;",
            Kind::Launch,
            "has given up its right",
        ),
    ];
    for (from, to, kind, text) in cases {
        let report = report_of(&PLAIN.kernel().replace(from, to));
        let found = &report.findings[0];
        assert!(found.kind == kind && found.to_string().contains(text), "{report}");
    }
}
