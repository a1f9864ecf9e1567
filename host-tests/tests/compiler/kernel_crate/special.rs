//! Special registers, functions on bits and approximations of pairs are what a CPU says, where the interpreter runs the PTX; each is
//! one instruction.

use host_tests::check::forms::write_package_with;
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_interpreter::{Program, Trial};
use ptx_kernel::cpu::Launch;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{registers, toolchain, with_word};

/// Blocks of 2 warps and a part, in rows of clusters of 2.
const BLOCKS: [u32; 2] = [6, 3];
const THREADS: u32 = 80;
const SHARED: usize = 400;
/// How many numbers a thread gives.
const GIVEN: usize = 56;

/// Numbers with few bits set, with few bits clear, and halves of all kinds.
fn words() -> Vec<[u32; 3]> {
    let mut random = StdRng::seed_from_u64(33);
    let mut word = || match random.random_range(0..8) {
        0 => 0,
        1 => u32::MAX,
        2 => 1 << random.random_range(0..32),
        3 => u32::MAX << random.random_range(0..32),
        4 => random.random::<u32>() & 0x80ff_80ff,
        5 => random.random::<u32>() & 0x8fff_8fff | 0x3000_3000,
        6 => random.random::<u32>() | 0x7c00_7f80,
        _ => random.random(),
    };
    (0..BLOCKS[0] * BLOCKS[1] * THREADS).map(|_| [word(), word(), word()]).collect()
}

fn ptx(profile: Profile) -> String {
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join("kernel-registers");
    let source = include_str!("registers.rs").replacen("use ptx_kernel", "#![no_std]\nuse ptx_kernel", 1);
    write_package_with(&folder, "kernel-registers", &["ptx-intrinsics", "ptx-kernel"], &source).expect("it is written");
    let build = DeviceBuild {
        profile,
        ptx: Some(PtxVersion::of_number(81)),
        ..DeviceBuild::new(&folder, "kernel-registers", Sm::new(90))
    };
    let (ptx, _) = build.build_quietly(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(ptx).expect("the harness wrote it")
}

#[test]
fn registers_and_functions_on_bits_are_those_of_a_cpu() {
    let words = words();
    let mut expected = vec![[0; GIVEN]; words.len()];
    let (from, to) = (words.as_ptr(), expected.as_mut_ptr());
    let launch = Launch::new((BLOCKS[0], BLOCKS[1]), THREADS).cluster(2).dynamic_shared(SHARED);
    // SAFETY: three words for each thread, and as many as it gives.
    unsafe { launch.run(|| registers::registers(from, to)) };
    let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    for profile in [Profile::Dev, Profile::Release] {
        let program = Program::parse(&ptx(profile));
        let mut trial = Trial::new(&program, "registers");
        trial.grid([BLOCKS[0], BLOCKS[1], 1]).block([THREADS, 1, 1]).cluster(2).shared(SHARED);
        let memory = trial.buffer(&bytes).and_then(|trial| trial.unwritten(words.len() * 4 * GIVEN));
        memory.unwrap_or_else(|stop| panic!("{stop}"));
        let report = trial.check();
        assert!(report.is_clean(), "{profile:?}: {report}");
        let content = trial.content(1).chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
        let wrong: Vec<String> = (content.zip(expected.iter().flatten()).enumerate())
            .filter(|(_, (found, expected))| found != *expected)
            .map(|(at, (found, expected))| {
                let (thread, function) = (at / GIVEN, at % GIVEN);
                format!("{function} of {:#010x?}: {found:#010x}, and a CPU gives {expected:#010x}", words[thread])
            })
            .collect();
        assert!(wrong.is_empty(), "{profile:?}: {} wrong\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    }
}

#[test]
fn each_register_and_each_function_on_bits_is_one_instruction() {
    let text = ptx(Profile::Release);
    for (word, expected) in [
        // What may change is read anew each time.
        ("%smid", &["mov.u32 %, %smid;"; 2][..]),
        ("%warpid", &["mov.u32 %, %warpid;"; 2]),
        ("%nwarpid", &["mov.u32 %, %nwarpid;"]),
        ("%nsmid", &["mov.u32 %, %nsmid;"]),
        ("%gridid", &["mov.u64 %, %gridid;"]),
        ("%current_graph", &["mov.u64 %, %current_graph_exec;"]),
        ("%clock", &["mov.u32 %, %clock_hi;"]),
        ("%globaltimer", &["mov.u32 %, %globaltimer_hi;", "mov.u32 %, %globaltimer_lo;"]),
        (
            "smem_size",
            &["mov.u32 %, %dynamic_smem_size;", "mov.u32 %, %total_smem_size;", "mov.u32 %, %aggr_smem_size;"],
        ),
        (
            "%lanemask",
            &[
                "mov.u32 %, %lanemask_eq;",
                "mov.u32 %, %lanemask_lt;",
                "mov.u32 %, %lanemask_le;",
                "mov.u32 %, %lanemask_gt;",
                "mov.u32 %, %lanemask_ge;",
            ],
        ),
        (
            "clusterid",
            &[
                "mov.u32 %, %clusterid.x;",
                "mov.u32 %, %clusterid.y;",
                "mov.u32 %, %clusterid.z;",
                "mov.u32 %, %nclusterid.x;",
                "mov.u32 %, %nclusterid.y;",
                "mov.u32 %, %nclusterid.z;",
            ],
        ),
        (
            "cluster_",
            &[
                "mov.u32 %, %cluster_ctaid.x;",
                "mov.u32 %, %cluster_ctaid.y;",
                "mov.u32 %, %cluster_ctaid.z;",
                "mov.u32 %, %cluster_nctaid.x;",
                "mov.u32 %, %cluster_nctaid.y;",
                "mov.u32 %, %cluster_nctaid.z;",
            ],
        ),
        (
            "prmt.b32",
            &[
                "prmt.b32 %, %, %, %;",
                "prmt.b32.f4e %, %, %, %;",
                "prmt.b32.b4e %, %, %, %;",
                "prmt.b32.rc8 %, %, %, %;",
                "prmt.b32.ecl %, %, %, %;",
                "prmt.b32.ecr %, %, %, %;",
                "prmt.b32.rc16 %, %, %, %;",
            ],
        ),
        (
            "bfind",
            &[
                "bfind.u32 %, %;",
                "bfind.u64 %, %;",
                "bfind.s32 %, %;",
                "bfind.s64 %, %;",
                "bfind.shiftamt.u32 %, %;",
                "bfind.shiftamt.u64 %, %;",
                "bfind.shiftamt.s32 %, %;",
                "bfind.shiftamt.s64 %, %;",
            ],
        ),
        ("bmsk", &["bmsk.clamp.b32 %, %, %;", "bmsk.wrap.b32 %, %, %;"]),
        (
            "dp2a",
            &[
                "dp2a.lo.s32.s32 %, %, %, %;",
                "dp2a.hi.s32.s32 %, %, %, %;",
                "dp2a.lo.u32.u32 %, %, %, %;",
                "dp2a.hi.u32.u32 %, %, %, %;",
            ],
        ),
        (
            "approx",
            &[
                "ex2.approx.f16x2 %, %;",
                "ex2.approx.ftz.bf16x2 %, %;",
                "tanh.approx.f16x2 %, %;",
                "tanh.approx.bf16x2 %, %;",
            ],
        ),
    ] {
        assert_eq!(with_word(&text, "registers", word), expected, "{word}");
    }
}
