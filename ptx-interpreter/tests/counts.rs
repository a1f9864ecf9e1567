//! How often instructions are executed, and what accesses of memory take.

use ptx_interpreter::{Counting, Counts, Moved, Parts, Program, Trial};

/// Each thread loads a word, and thread 0 of a block does more.
const BRANCHES: &str = "
.version 8.0
.target sm_80
.address_size 64
.file 1 \"k.cu\"
.visible .entry k(.param .u64 p) {
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %d<4>;
    .loc 1 10 1
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
    .loc 1 11 1
    ld.global.u32 %r5, [%d3];
    setp.ne.u32 %p1, %r1, 0;
    .loc 1 12 1
    @!%p1 add.u32 %r5, %r5, 1;
    .loc 1 13 1
    @%p1 bra after;
    .loc 1 14 1
    add.u32 %r5, %r5, 2;
    setp.eq.u32 %p2, %r1, 77;
    .loc 1 15 1
    @%p2 bra never;
after:
    .loc 1 16 1
    st.global.u32 [%d3], %r5;
    ret;
never:
    .loc 1 17 1
    trap;
}";

/// What is counted in eight blocks of 64 threads.
fn counted(program: &Program, parts: Parts, seed: u64) -> Counts {
    let mut trial = Trial::new(program, "k");
    trial.grid([8, 1, 1]).block([64, 1, 1]).parts(parts).seed(seed).counting(Counting::Instructions);
    trial.buffer(&[0; 2048]).expect("there is memory");
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.parts > 0, parts == Parts::OfOneCluster);
    report.counts
}

#[test]
fn the_threads_of_each_line_are_counted() {
    let program = Program::parse(BRANCHES);
    let counts = counted(&program, Parts::None, 0);
    let lines: Vec<(u32, u64)> = program.lines(&counts).iter().map(|line| (line.line, line.threads)).collect();
    assert_eq!(lines, [(10, 512), (11, 512), (12, 8), (13, 504), (14, 8), (15, 0), (16, 512), (17, 0)]);
    // Neither the order of the threads nor parts make a difference.
    assert_eq!(counts, counted(&program, Parts::OfOneCluster, 0));
    assert_eq!(counts, counted(&program, Parts::None, 5));
    let mut twice = counts.clone();
    assert!(!twice.add(&counts));
    assert!(program.lines(&twice).iter().zip(&program.lines(&counts)).all(|(two, one)| two.threads == 2 * one.threads));
    assert!(Counts::default().add(&counts));
    let ptx = program.ptx_lines(&counts, "k.ptx");
    assert_eq!(ptx.iter().filter(|line| line.threads == 0).count(), 2);
}

/// Copies rows of 16 bytes, which lie `stride` bytes apart in both memories, and loads them as matrices and as words.
fn tile(stride: u32) -> Program {
    Program::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{
    .reg .b32 %r<9>; .reg .b64 %d<4>; .shared .align 16 .b8 tile[8192];
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, {stride};
    cvt.u64.u32 %d2, %r2; add.u64 %d3, %d1, %d2;
    mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
    cp.async.ca.shared.global [%r4], [%d3], 16;
    cp.async.wait_all;
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r5, %r6, %r7, %r8}}, [%r4];
    ld.shared.u32 %r5, [%r4];
    ld.shared.u32 %r6, [tile];
    ret;\n}}"
    ))
}

/// Opcodes, what they move, how often, how much, and the least.
fn accesses(program: &Program) -> Vec<(String, Moved, [u64; 3])> {
    let mut trial = Trial::new(program, "k");
    trial.counting(Counting::Accesses).buffer(&[0; 8192]).expect("there is memory");
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    let all = program.accesses(&report.counts).into_iter();
    all.map(|access| (access.opcode, access.moved, [access.taken.warps, access.taken.taken, access.taken.least]))
        .collect()
}

#[test]
fn copies_matrices_and_words_are_counted() {
    let of = |stride| {
        let all = accesses(&tile(stride));
        let all: Vec<_> = all.iter().map(|(opcode, moved, taken)| (&opcode[..4], *moved, *taken)).collect();
        assert_eq!(all.len(), 5, "{all:?}");
        all.iter().map(|(opcode, moved, taken)| (opcode.to_string(), *moved, *taken)).collect::<Vec<_>>()
    };
    let row = |opcode: &str, moved, taken| (opcode.to_owned(), moved, taken);
    use Moved::{Passes, Sectors};
    // Rows side by side: each of the four matrices is one pass, and so are eight rows of the copy.
    let side_by_side = of(16);
    assert_eq!(side_by_side[0], row("cp.a", Sectors, [1, 16, 16]));
    assert_eq!(side_by_side[1], row("cp.a", Passes, [1, 4, 4]));
    assert_eq!(side_by_side[2], row("ldma", Passes, [4, 4, 4]));
    assert_eq!(side_by_side[3], row("ld.s", Passes, [1, 4, 1]));
    assert_eq!(side_by_side[4], row("ld.s", Passes, [1, 1, 1]));
    // Rows of 128 bytes: all are in the same four banks.
    let apart = of(128);
    assert_eq!(apart[0], row("cp.a", Sectors, [1, 32, 16]));
    assert_eq!(apart[1], row("cp.a", Passes, [1, 32, 4]));
    assert_eq!(apart[2], row("ldma", Passes, [4, 32, 4]));
    assert_eq!(apart[3], row("ld.s", Passes, [1, 32, 1]));
    // Padded to 144 bytes: as side by side.
    assert_eq!(of(144)[1..], of(16)[1..]);
}

/// In other orders some threads of a warp are left behind on purpose. Where accesses are counted, none is.
#[test]
fn a_warp_stays_together_where_accesses_are_counted() {
    let program = Program::parse(BRANCHES);
    for seed in 0..16 {
        let mut trial = Trial::new(&program, "k");
        trial.grid([8, 1, 1]).block([64, 1, 1]).parts(Parts::None).seed(seed).counting(Counting::Accesses);
        trial.buffer(&[0; 2048]).expect("there is memory");
        let report = trial.check();
        let all = program.accesses(&report.counts);
        let taken: Vec<_> =
            all.iter().map(|access| (access.source[0].1, access.taken.warps, access.taken.taken)).collect();
        assert_eq!(taken, [(11, 16, 64), (16, 16, 64)], "seed {seed}");
    }
}
