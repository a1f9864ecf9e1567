//! `ptx-kernel` on the GPU's side: its kernels become the entry points and the instructions that they say.

use std::collections::HashSet;

use host_tests::check::forms::write_package_with;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::progress::Progress;
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use host_tests::tools::toolchain::{DeviceToolchain, Route};
use regex::Regex;

mod collectives;
mod every_collective;
mod expected;
mod gates;
mod halves;
mod matrix;
mod packed;
mod reduced;
mod reductions;
mod registers;
mod special;
mod tensor;

use expected::KERNELS;

fn toolchain() -> DeviceToolchain {
    let toolchain = Route::chosen(None).and_then(|route| DeviceToolchain::find(route, &Progress::kept()));
    toolchain.unwrap_or_else(|error| panic!("{error}"))
}

/// The PTX of the kernels, which the assembler takes.
fn ptx(profile: Profile) -> String {
    let progress = Progress::kept();
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join("kernel-crate");
    let made = write_package_with(&folder, "kernel-crate", &["ptx-intrinsics", "ptx-kernel"], KERNELS).and_then(|()| {
        let build = DeviceBuild { profile, ..DeviceBuild::new(&folder, "kernel-crate", Sm::new(90)) };
        DeviceBuild { ptx: Some(PtxVersion::new(8, 0)), ..build }.build(&toolchain)
    });
    let ptx = made.unwrap_or_else(|error| panic!("{error}"));
    let tools = CudaTools::find(&progress).unwrap_or_else(|error| panic!("{error}"));
    let cubin = ptx.with_extension("cubin");
    let assembled =
        Assembler::new(tools.ptxas).assemble(&ptx, Sm::new(90), &cubin).unwrap_or_else(|error| panic!("{error}"));
    assembled.unwrap_or_else(|rejected| panic!("ptxas refuses {}: {rejected:?}", ptx.display()));
    std::fs::read_to_string(ptx).expect("the harness wrote it")
}

/// What is between the braces of an entry.
fn body<'t>(text: &'t str, name: &str) -> &'t str {
    let (_, entry) = text.split_once(&format!(".entry {name}(")).unwrap_or_else(|| panic!("no entry {name}"));
    let (_, body) = entry.split_once("\n{").expect("the entry has a body");
    body.split("\n\n}").next().unwrap_or_default()
}

/// The instructions of an entry that have this word, registers left out.
fn with_word(text: &str, name: &str, word: &str) -> Vec<String> {
    let body = body(text, name);
    let register = Regex::new(r"%(?:rd|rs|r|p|f|fd)\d+").expect("the pattern is valid");
    let lines = body.lines().map(str::trim).filter(|line| line.contains(word) && !line.starts_with("ld.param"));
    lines.map(|line| register.replace_all(&host_tests::tools::ptx::normalise(line), "%").into_owned()).collect()
}

#[test]
fn the_entries_are_those_of_the_source_and_have_their_bounds() {
    assert_eq!(expected::listed(), expected::declared(KERNELS));
    for profile in [Profile::Dev, Profile::Release] {
        assert_eq!(expected::mistakes(&ptx(profile)), [""; 0], "{profile:?}");
    }
}

/// Each has a name, an alignment of at least 16 and its size.
#[test]
fn variables_are_as_they_are_declared() {
    let number = Regex::new(r"ptx_kernel_shared_(\d+)").expect("the pattern is valid");
    for profile in [Profile::Dev, Profile::Release] {
        let text = ptx(profile);
        let lines = text.lines().map(str::trim).filter(|line| line.contains(".shared .align"));
        let mut lines: Vec<&str> = lines.map(|line| line.split(" //").next().unwrap_or(line)).collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(text.matches(".shared .align").count(), lines.len(), "a name twice: {lines:#?}");
        let mut found: Vec<_> = lines.iter().map(|line| number.replace(line, "N").into_owned()).collect();
        found.sort();
        let expected = [
            ".extern .shared .align 16 .b8 ptx_kernel_dynamic_shared[];",
            ".shared .align 16 .b8 N[128];",
            ".shared .align 16 .b8 N[1];",
            ".shared .align 16 .b8 N[4];",
            ".shared .align 16 .b8 N[5];",
            ".shared .align 16 .b8 N[6];",
            ".shared .align 16 .b8 N[6];",
            ".shared .align 64 .b8 N[128];",
        ];
        assert_eq!(found, expected, "{profile:?}");
        assert!(text.is_ascii());
        // Each store goes to a variable of its own.
        let moved: HashSet<&str> = number.find_iter(&text).map(|name| name.as_str()).collect();
        assert_eq!(moved.len(), 7, "{profile:?}: {moved:?}");
    }
}

#[test]
fn pieces_are_the_instructions_that_they_say() {
    let text = ptx(Profile::Release);
    let registers = ["tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "ntid.x", "ntid.y", "ntid.z"];
    let registers = [&registers[..], &["nctaid.x", "nctaid.y", "nctaid.z", "laneid"]].concat();
    let moves: Vec<String> = registers.iter().map(|register| format!("mov.u32 %, %{register};")).collect();
    let found = with_word(&text, "indices", "mov.u32");
    assert_eq!(found, moves);
    for (name, word, expected) in [
        (
            "exchanges",
            "shfl",
            &[
                "shfl.sync.bfly.b32 %, %, 1, 31, -1;",
                "shfl.sync.up.b32 %, %, 2, 0, -1;",
                "shfl.sync.down.b32 %, %, 3, 31, -1;",
                "shfl.sync.idx.b32 %, %, 4, 31, -1;",
            ][..],
        ),
        (
            "exchanges",
            "vote",
            &["vote.sync.ballot.b32 %, %, -1;", "vote.sync.any.pred %, %, -1;", "vote.sync.all.pred %, %, -1;"],
        ),
        ("exchanges", "bar", &["bar.warp.sync -1;"]),
        (
            "parts",
            "shfl",
            &[
                "shfl.sync.bfly.b32 %, %, 1, 6175, %;",
                "shfl.sync.bfly.b32 %, %, 1, 6175, %;",
                "shfl.sync.up.b32 %, %, 2, 6144, %;",
                "shfl.sync.down.b32 %, %, 3, 6175, %;",
                "shfl.sync.idx.b32 %, %, 4, 6175, %;",
            ],
        ),
        ("parts", "vote", &["vote.sync.ballot.b32 %, %, %;", "vote.sync.all.pred %, %, %;"]),
        (
            "parts",
            "bar",
            &["bar.warp.sync %;", "bar.red.popc.u32 %, 0, %;", "bar.red.or.pred %, 0, %;", "bar.red.and.pred %, 0, %;"],
        ),
        ("shares", "bar", &["bar.sync 0;"]),
        (
            "shares",
            ".shared",
            &["st.shared.f32 [%], %;", "st.shared.u32 [%], %;", "st.shared.u32 [%], %;", "ld.shared.f32 %, [%];"],
        ),
        (
            "clustered",
            "cluster",
            &[
                "mov.u32 %, %cluster_nctarank;",
                "barrier.cluster.arrive.aligned;",
                "barrier.cluster.wait.aligned;",
                "mov.u32 %, %cluster_ctarank;",
                "mapa.shared::cluster.u32 %, %, %;",
                "ld.shared::cluster.u32 %, [%];",
                "barrier.cluster.arrive.aligned;",
                "barrier.cluster.wait.aligned;",
            ],
        ),
        (
            "calculates",
            "approx",
            &[
                "rsqrt.approx.f32 %, %;",
                "rcp.approx.f32 %, %;",
                "sqrt.approx.f32 %, %;",
                "ex2.approx.f32 %, %;",
                "lg2.approx.f32 %, %;",
                "sin.approx.f32 %, %;",
                "cos.approx.f32 %, %;",
                "tanh.approx.f32 %, %;",
            ],
        ),
        ("calculates", "cvt.f", &["cvt.f32.f16 %, %low;", "cvt.f32.f16 %, %high;"]),
        ("calculates", "cvt.rn", &["cvt.rn.bf16x2.f32 %, %, %;", "cvt.rn.f16x2.f32 %, %, %;"]),
        ("calculates", "fma", &["fma.rn.f32 %, %, %, 0f40000000;"]),
        // Three at a time, and those that are left one by one.
        ("unrolls", "ld.global", &["ld.global.nc.u32 %, [%];"; 4]),
        ("calculates", "dp4a", &["dp4a.s32.s32 %, %, %, %;", "dp4a.u32.u32 %, %, %, %;"]),
    ] {
        assert_eq!(with_word(&text, name, word), expected, "{name}, {word}");
    }
}

/// Whether some branch goes back to a label before it.
fn has_loop(body: &str) -> bool {
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let label = |line: &str| lines.iter().position(|one| one.strip_suffix(':') == Some(line));
    let target = |line: &str| line.split_once("bra")?.1.split_whitespace().last()?.strip_suffix(';').and_then(label);
    (0..lines.len()).any(|at| target(lines[at]).is_some_and(|to| to < at))
}

#[test]
fn an_unrolled_array_is_in_registers() {
    for profile in [Profile::Dev, Profile::Release] {
        let text = ptx(profile);
        let [holds, loops] = ["holds", "loops"].map(|name| body(&text, name));
        assert_eq!(with_word(&text, "holds", "ld.global.nc"), ["ld.global.nc.u32 %, [%];"; 16 * 8], "{profile:?}");
        if profile == Profile::Dev {
            // All variables are in local memory there, and zeroes are written to them in a loop.
            assert_eq!(with_word(&text, "loops", "ld.global.nc"), ["ld.global.nc.u32 %, [%];"]);
        } else {
            assert_eq!([holds, loops].map(has_loop), [false, true]);
            assert_eq!([holds, loops].map(|body| body.contains(".local")), [false, true]);
        }
    }
}
