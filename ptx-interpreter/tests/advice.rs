//! What a finding says that somebody should write instead.

use ptx_interpreter::{Finding, Kind, Program, Trial};

/// The only finding of two blocks of 64 threads. `%t` and `%b` are the thread and the block, `%p0` is true in thread 0, and `%p` is the
/// address of zeros.
fn alone(body: &str) -> Finding {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.const .align 4 .b32 factor[4] = {{1, 2, 3, 4}};\n\
         .visible .entry k(.param .u64 p) {{ .reg .b32 %t, %b, %r<9>; .reg .b64 %p, %d<9>; .reg .pred %p0, %q<9>;\n\
         .shared .align 4 .b8 word[4];\n\
         ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; setp.eq.u32 %p0, %t, 0;\n{body}\nDONE: ret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.grid([2, 1, 1]).block([64, 1, 1]).buffer(&[0; 1024]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{body}");
    let mut all = report.findings;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn a_loop_that_reads_nothing_ends_by_itself_never() {
    let finding = alone("@!%p0 bra DONE;\nSTAY: bra.uni STAY;");
    assert_eq!(finding.kind, Kind::Deadlock);
    assert_eq!(finding.places[0].what, "turns in a loop that reads nothing (1 threads of the block)");
    assert_eq!(
        finding.help,
        "read what it waits for anew in each turn, by an atomic, `volatile` or `ld.acquire`: of a plain load the compiler makes one, before the loop"
    );
}

#[test]
fn an_address_in_shared_memory_is_of_no_use_to_another_block() {
    let finding = alone(
        "@!%p0 bra DONE;\nsetp.ne.u32 %q1, %b, 0; @%q1 bra OTHER;\n\
         st.shared.u32 [word], 7; cvta.shared.u64 %d1, word; st.release.gpu.global.u64 [%p], %d1;\n\
         ASK: ld.acquire.gpu.global.u32 %r2, [%p+8]; setp.eq.u32 %q2, %r2, 0; @%q2 bra ASK;\nbra DONE;\n\
         OTHER: ld.acquire.gpu.global.u64 %d1, [%p]; setp.eq.u64 %q2, %d1, 0; @%q2 bra OTHER;\n\
         ld.u32 %r1, [%d1]; st.release.gpu.global.u32 [%p+8], %r1;",
    );
    assert_eq!(finding.kind, Kind::Bounds);
    assert_eq!(finding.title, "the shared memory of a block is accessed that is not in the cluster of the thread");
    assert_eq!(finding.places[0].what, "accesses byte 0 of `word` in the shared memory of block 0");
    assert_eq!(finding.notes, ["on a GPU the same address is in each block's own shared memory"]);
    assert_eq!(
        finding.help,
        "hand on the value and not its address, by global memory: a block reaches its own shared memory, and that of its cluster"
    );
}

#[test]
fn a_rank_beyond_the_cluster() {
    let finding = alone("cvta.shared.u64 %d1, word; mapa.u64 %d1, %d1, 3;\nld.u32 %r1, [%d1];");
    assert_eq!(finding.kind, Kind::Bounds);
    assert_eq!(
        finding.help,
        "compare the rank with the number of blocks in the cluster (`%cluster_nctarank`, cluster.num_blocks()) before `mapa`"
    );
}

#[test]
fn a_turn_that_is_handed_on_too_early() {
    let finding = alone(
        "@!%p0 bra GO;\nWAIT: ld.acquire.gpu.global.u32 %r1, [%p]; setp.ne.u32 %q1, %r1, %b; @%q1 bra WAIT;\nGO: bar.sync 0;\n\
         mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %p;\n\
         ld.global.u32 %r2, [%d1+256]; add.u32 %r2, %r2, 1; st.global.u32 [%d1+256], %r2;\n\
         @!%p0 bra DONE;\nadd.u32 %r3, %b, 1; st.release.gpu.global.u32 [%p], %r3;",
    );
    assert_eq!(finding.kind, Kind::Race);
    assert!(finding.notes[0].contains("tells others what is done"), "{finding:?}");
    assert!(
        finding.help.starts_with("if that tells of the whole block, put `bar.sync 0` (__syncthreads()) between"),
        "{finding:?}"
    );
}

#[test]
fn a_constant_that_the_grid_writes() {
    let finding = alone(
        "cvta.const.u64 %d1, factor; setp.eq.u32 %q1, %b, 0; and.pred %q1, %q1, %p0;\n\
         @%q1 st.global.u32 [%d1], 5;\nbar.sync 0;\n@%q1 ld.const.u32 %r1, [factor];\n@%q1 st.global.u32 [%p], %r1;",
    );
    assert_eq!(finding.kind, Kind::Nc);
    assert_eq!(
        finding.notes[0],
        "`ld.const` may return old bytes, even after a barrier or an acquire: a kernel must not write what it reads as constant memory"
    );
    assert_eq!(
        finding.help,
        "read it with plain `ld.global`, from a `__device__` variable, or write it in a kernel before or by a copy (cudaMemcpyToSymbol)"
    );
}
