//! What helps between the threads of one warp is named, where no thread of another warp is involved.

use ptx_interpreter::{Program, Trial};

/// The helps of what is found in 64 threads that execute a body. `%first` says whether a thread is of the first warp, and `%zero` whether it is
/// the first thread of all. `%own` is the address of a word of shared memory for each thread, and `%r1` is that of the first one.
fn helps(body: &str, seed: u64) -> Vec<String> {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n\
         .visible .entry k(.param .u64 p) {{\n.shared .align 16 .b8 words[256];\n\
         .reg .b32 %r<3>, %own, %t, %v; .reg .b64 %in; .reg .pred %first, %zero, %one;\n\
         ld.param.u64 %in, [p]; mov.u32 %t, %tid.x; mov.u32 %r1, words; mad.lo.u32 %own, %t, 4, %r1;\n\
         setp.lt.u32 %first, %t, 32; setp.eq.u32 %zero, %t, 0; setp.eq.u32 %one, %t, 1;\n\
         {body}\nret; }}\n"
    );
    let program = Program::parse(&module);
    let mut trial = Trial::new(&program, "k");
    trial.block([64, 1, 1]).seed(seed).buffer(&[0; 256]).expect("a little memory");
    let report = trial.check();
    assert_eq!(report.stop, None, "{body}");
    report.findings.into_iter().map(|finding| finding.help).collect()
}

const COPY: &str = "@!%zero bra after; cp.async.ca.shared.global [%r1], [%in], 16; cp.async.commit_group; cp.async.wait_group 0;\nafter:\n";
#[test]
fn a_barrier_of_the_warp_is_enough_in_one_warp() {
    let after_wait = |reader: &str| format!("{COPY}@{reader} ld.shared.u32 %v, [%r1+4];");
    let race = |reader: &str| format!("@%zero st.shared.u32 [%r1], %t; @{reader} ld.shared.u32 %v, [%r1];");
    let lines = |help: &str| vec![help.to_owned()];
    let warp = "put `bar.warp.sync` (__syncwarp()) between them; threads of a warp do not run in lockstep";
    let block = "put `bar.sync 0` (__syncthreads()) between them, which all threads of the block execute; in branches of single warps, a named barrier or an mbarrier";
    let copied =
        |barrier: &str| lines(&format!("after the wait, put a barrier ({barrier}) before other threads use the bytes"));
    let is = |helps: Vec<String>, expected: &[String]| {
        helps.iter().filter(|help| !help.starts_with("write them")).eq(expected)
    };
    for seed in 0..8 {
        for (body, expected) in [
            (race("%one"), lines(warp)),
            (race("!%first"), lines(block)),
            // Of many pairs of threads the one that is farthest apart is told.
            (race("!%zero"), lines(block)),
            (after_wait("%one"), copied("`bar.warp.sync`, __syncwarp()")),
            (after_wait("!%first"), copied("`bar.sync`, __syncthreads(); an mbarrier where warps do different work")),
        ] {
            // The reader may come before the copy begins.
            let helps = helps(&body, seed);
            assert!(is(helps.clone(), &expected), "seed {seed}: {body}\n{helps:#?}");
        }
    }
}

/// What the instructions of one line do is one finding.
#[test]
fn what_helps_all_instructions_of_a_line_is_told() {
    let loads = |readers: [&str; 2]| {
        let [one, other] = readers;
        format!(
            ".loc 1 5 0\n@%zero st.shared.u32 [%r1], %t;\n\
             .loc 1 6 0\n@{one} bra a1; bra a2;\na1: ld.shared.u32 %v, [%r1];\na2: @{other} bra b1; bra b2;\nb1: ld.shared.u32 %v, [%r1];\nb2:"
        )
    };
    let block = "put `bar.sync 0` (__syncthreads()) between them, which all threads of the block execute; in branches of single warps, a named barrier or an mbarrier";
    let mut told = 0;
    for seed in 0..32 {
        for readers in [["%one", "!%first"], ["!%first", "%one"]] {
            let mut helps = helps(&loads(readers), seed);
            helps.retain(|help| !help.starts_with("write them"));
            // A load that comes before the store is another finding than one that comes after it.
            if helps.len() == 1 {
                assert_eq!(helps, [block], "seed {seed}: {readers:?}");
                told += 1;
            }
        }
    }
    assert!(told > 10, "{told}");
}
