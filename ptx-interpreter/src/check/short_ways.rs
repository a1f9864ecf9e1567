//! Most accesses have a short way through the checks. Drawn kernels have the findings that they have when each access is looked at
//! closely.

use std::cell::Cell;

use crate::{Finding, Program, Trial};

thread_local! {
    /// Whether no access has a short way.
    static IS_CLOSED: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn are_closed() -> bool {
    IS_CLOSED.get()
}

/// Drawn kernels.
const KERNELS: u64 = 400;
/// Of each so many orders.
const ORDERS: u64 = 3;
/// Bytes of a block's rows, and where the last word of them is.
const ROWS: usize = 64 * 2048 + 64;
const LAST: usize = ROWS - 4;

/// What is drawn.
struct Drawn {
    /// Lines of a kernel beside two, at most.
    lines: usize,
    /// Bytes of its buffer.
    bytes: usize,
    /// Whether what to write instead does not depend on which load is told.
    helps: bool,
}

const DRAWN: Drawn = Drawn { lines: 6, bytes: 16 + 8 * 128, helps: true };

struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A line of a kernel with atomics, for numbers of the type `T`.
fn change(draw: &mut Draw) -> String {
    let who = draw.of(&["", "@%p1 ", "@%p2 ", "@!%p2 "]);
    let place = draw.of(&["[s]", "[s+8]", "[%d1]", "[%d1+8]"]);
    let space = if place.starts_with("[s") { "shared" } else { "global" };
    let scope = draw.of(&["cta", "gpu"]);
    match draw.below(16) {
        0 => "bar.sync 0;".into(),
        1 => "bar.warp.sync -1;".into(),
        2 => format!("{who}fence.{}.{scope};", draw.of(&["acq_rel", "sc"])),
        3 => format!("{who}st.{space}.T {place}, 0;"),
        4 => format!("{who}ld.{space}.T %x1, {place};"),
        5 => format!("{who}ld.relaxed.{scope}.{space}.T %x1, {place};"),
        6 => format!("{who}st.relaxed.{scope}.{space}.T {place}, 1;"),
        7 => format!("{who}atom.acq_rel.{scope}.{space}.exch.b? %x2, {place}, 1;"),
        8 => format!("{who}red.relaxed.{scope}.{space}.add.T {place}, 1;"),
        9 => format!("{who}atom.relaxed.{scope}.{space}.cas.b? %x2, {place}, 1, 2;"),
        _ => format!("{who}atom.relaxed.{scope}.{space}.add.T %x2, {place}, 1; add.T %x3, %x2, %x3;"),
    }
}

fn changes(lines: &[String], bits: &str) -> String {
    let body = lines.join("\n").replace(".T", &format!(".u{bits}")).replace(".b?", &format!(".b{bits}"));
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.shared .align 8 .b8 s[16];\n\
         .reg .b64 %d<4>; .reg .b32 %r<5>; .reg .b{bits} %x<5>; .reg .pred %p<4>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %d2, %r3, 8; add.u64 %d2, %d1, %d2;\n\
         setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32;\n\
         mov.b{bits} %x3, 0; @%p1 st.shared.v2.u64 [s], {{0, 0}}; bar.sync 0;\n{body}\nst.global.u{bits} [%d2+16], %x3;\nret;\n}}\n"
    )
}

/// A line of a kernel whose lanes access elements of the type `T` in no order, and partly the same ones.
fn access(draw: &mut Draw) -> String {
    let who = draw.of(&["", "", "@%p1 ", "@%p2 ", "@%p3 "]);
    let space = draw.of(&["shared", "shared", "global"]);
    let order = draw.of(&["a", "a", "b", "c", "d", "e", "f", if space == "shared" { "g" } else { "a" }]);
    match draw.below(12) {
        0 => "bar.sync 0;".into(),
        1..4 => "bar.warp.sync -1;".into(),
        4 => format!("{who}st.relaxed.cta.{space}.u? [%{space}_{order}], 1;"),
        5 => format!("{who}ld.relaxed.cta.{space}.u? %x1, [%{space}_{order}];"),
        6..9 => format!("{who}ld.{space}.u? %x1, [%{space}_{order}];"),
        _ => format!("{who}st.{space}.u? [%{space}_{order}], %x2;"),
    }
}

/// Elements begin with a number that their threads have written, but for those of `f` that nobody writes, and those of `g`, which are on a
/// page of their own.
fn accesses(lines: &[String], bits: &str) -> String {
    let body = lines.join("\n").replace("u?", &format!("u{bits}"));
    let places: String = ["shared", "global"]
        .iter()
        .flat_map(|space| ["a", "b", "c", "d", "e", "f", "g"].map(|order| (space, order)))
        .map(|(space, order)| {
            let base = if *space == "shared" { "%d2" } else { "%d1" };
            format!(".reg .b64 %{space}_{order}; mad.wide.u32 %{space}_{order}, %{order}, 4, {base};\n")
        })
        .collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.shared .align 8 .b8 s[2048];\n\
         .reg .b64 %d<4>; .reg .b32 %r<9>, %a, %b, %c, %d, %e, %f, %g; .reg .b{bits} %x<5>; .reg .pred %p<4>;\n\
         ld.param.u64 %d1, [p]; mov.u64 %d2, s; mov.u32 %r1, %tid.x;\n\
         brev.b32 %a, %r1; shr.u32 %a, %a, 26;\n\
         shr.u32 %b, %r1, 1; xor.b32 %b, %b, %r1;\n\
         mad.lo.u32 %c, %r1, %r1, %r1; shr.u32 %c, %c, 1; and.b32 %c, %c, 63;\n\
         shr.u32 %d, %a, 1;\n\
         mov.u32 %e, %r1;\n\
         add.u32 %f, %c, 20;\n\
         add.u32 %g, %b, 300;\n\
         setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32; and.b32 %r2, %r1, 1; setp.eq.u32 %p3, %r2, 0;\n{places}\
         cvt.u{bits}.u32 %x2, %r1; cvt.u{bits}.u32 %x1, %r1; st.shared.u{bits} [%shared_e], %x2; bar.sync 0;\n\
         mov.u32 %r3, %ctaid.x; mad.lo.u32 %r3, %r3, 64, %r1; mad.wide.u32 %d3, %r3, 4, %d1;\n\
         {body}\nsetp.ne.u{bits} %p2, %x1, 7; @%p2 st.global.u32 [%d3+512], 1; ret;\n}}\n"
    )
}

/// A loop whose lanes access rows: their own, which are on pages of their own, all of them the same one, or the same element. Some lanes are
/// turns behind the others.
fn row(draw: &mut Draw) -> String {
    let who = draw.of(&["", "", "@%p1 ", "@%p2 ", "@%p3 "]);
    let what = draw.of(&["ld.global.u? %x1, [%d3];", "ld.global.u? %x1, [%d3];", "st.global.u? [%d3], %x2;"]);
    let few = "and.b32 %k, %r1, 3; setp.eq.u32 %p4, %k, 3; selp.u32 %k, 1, 0, %p4;";
    let first = draw.of(&["mov.u32 %k, 0;", "mov.u32 %k, 4;", "and.b32 %k, %r1, 3;", few, few]);
    let stride = draw.of(&[1024, 1028, 2048]);
    let place = match draw.below(8) {
        0 => return "bar.sync 0;".into(),
        1..3 => return "bar.warp.sync -1;".into(),
        3..6 => format!("mul.lo.u32 %a, %r1, {stride}; mad.lo.u32 %a, %k, 4, %a;"),
        6 => format!("mul.lo.u32 %a, %k, {stride}; mad.lo.u32 %a, %r1, 4, %a;"),
        _ => "mul.lo.u32 %a, %k, 4;".into(),
    };
    let label = format!("L{}", draw.below(1 << 30));
    format!(
        "{first} {label}: {place} cvt.u64.u32 %d3, %a; add.u64 %d3, %d3, %d2;\n{who}{what}\n\
         add.u32 %k, %k, 1; setp.lt.u32 %p4, %k, 5; @%p4 bra {label};"
    )
}

/// Mostly each block has its own rows.
fn rows(lines: &[String], bits: &str) -> String {
    let body = lines.join("\n").replace("u?", &format!("u{bits}"));
    let apart = if lines.len() > 2 { ROWS } else { 0 };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b64 %d<4>; .reg .b32 %r<9>, %a, %k; .reg .b{bits} %x<5>; .reg .pred %p<5>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.wide.u32 %d2, %r2, {apart}; add.u64 %d2, %d1, %d2;\n\
         setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32; and.b32 %r3, %r1, 1; setp.eq.u32 %p3, %r3, 0;\n\
         cvt.u{bits}.u32 %x2, %r1; mov.u{bits} %x1, 0;\n\
         {body}\nsetp.ne.u{bits} %p2, %x1, 7; @%p2 st.global.u{bits} [%d2+{LAST}], 1; ret;\n}}\n"
    )
}

/// What is found, and where. Which threads are the first to do so differs, and which one of several loads is told.
fn found(text: &str, drawn: &Drawn, seed: u64) -> Vec<String> {
    let program = Program::parse(text);
    let mut trial = Trial::new(&program, "k");
    trial.grid([2, 1, 1]).block([64, 1, 1]).seed(seed).buffer(&vec![0; drawn.bytes]).expect("a little memory");
    let tell = |Finding { kind, places, help, .. }: Finding| {
        let lines = places.iter().map(|place| place.ptx_line as usize);
        let is_load = |line: usize| text.lines().nth(line - 1).is_some_and(|text| text.contains("ld."));
        let told = lines.map(|line| if is_load(line) { "a load".into() } else { line.to_string() });
        let mut places: Vec<String> = told.collect();
        places.sort();
        let help = if !drawn.helps && places.iter().any(|place| place == "a load") { String::new() } else { help };
        format!("{kind:?} {} {help}", places.join(" "))
    };
    let report = trial.check();
    let mut all: Vec<String> = report.findings.into_iter().map(tell).collect();
    all.sort();
    all.dedup();
    all
}

/// Draws kernels, and compares the findings of both ways. Gives how many orders have some, and how many none.
fn compare(line: fn(&mut Draw) -> String, drawn: &Drawn, kernel: impl Fn(&[String]) -> String) -> (usize, usize) {
    let (mut draw, mut wrong, mut right) = (Draw(1), 0, 0);
    for number in 0..KERNELS {
        let lines: Vec<String> = (0..2 + draw.below(drawn.lines)).map(|_| line(&mut draw)).collect();
        for seed in 0..ORDERS {
            let [short, long] = [false, true].map(|closed| {
                IS_CLOSED.set(closed);
                found(&kernel(&lines), drawn, seed)
            });
            assert_eq!(short, long, "kernel {number}, seed {seed}:\n{}", lines.join("\n"));
            if short.is_empty() { right += 1 } else { wrong += 1 }
        }
    }
    println!("{wrong} with findings, {right} without");
    (wrong, right)
}

#[test]
fn atomics_have_the_same_findings() {
    for bits in ["32", "64"] {
        let (wrong, right) = compare(change, &DRAWN, |lines| changes(lines, bits));
        assert!(wrong > 900 && right > 150, "{wrong} with findings, {right} without");
    }
}

#[test]
fn accesses_in_no_order_have_the_same_findings() {
    for bits in ["32", "16"] {
        let (wrong, right) = compare(access, &Drawn { lines: 8, ..DRAWN }, |lines| accesses(lines, bits));
        assert!(wrong > 700 && right > 150, "{wrong} with findings, {right} without");
    }
}

#[test]
fn rows_on_many_pages_have_the_same_findings() {
    for bits in ["32", "16"] {
        let (wrong, right) =
            compare(row, &Drawn { lines: 5, bytes: 2 * ROWS, helps: false }, |lines| rows(lines, bits));
        assert!(wrong > 300 && right > 150, "{wrong} with findings, {right} without");
    }
}

#[test]
fn lanes_that_are_turns_behind_keep_their_own_rows() {
    let turns = |first: &str, label: &str, stride: u32, what: &str| {
        format!(
            "{first} {label}: mul.lo.u32 %a, %r1, {stride}; mad.lo.u32 %a, %k, 4, %a; cvt.u64.u32 %d3, %a; add.u64 %d3, %d3, %d2;\n\
             {what}\nadd.u32 %k, %k, 1; setp.lt.u32 %p4, %k, 5; @%p4 bra {label};"
        )
    };
    let few = "and.b32 %k, %r1, 3; setp.eq.u32 %p4, %k, 3; selp.u32 %k, 1, 0, %p4;";
    for stride in [64, 1024, 1028] {
        let read = turns(few, "L1", stride, "ld.global.u32 %x1, [%d3];");
        let write = turns("mov.u32 %k, 4;", "L2", stride, "st.global.u32 [%d3], %x2;");
        let text = rows(&[read, write, "bar.warp.sync -1;".into()], "32");
        for seed in 0..20 {
            assert_eq!(
                found(&text, &Drawn { bytes: 2 * ROWS, ..DRAWN }, seed),
                Vec::<String>::new(),
                "{stride}, {seed}"
            );
        }
    }
}
