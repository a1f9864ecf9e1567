//! `ptx-kernel` on the GPU's side: its kernels become the entry points and the instructions that they say.

use std::collections::HashSet;
use std::path::PathBuf;

use host_tests::check::forms::write_package_with;
use host_tests::check::here::{or_panic, toolchain, tools};
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_interpreter::{Program, Trial};
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

/// What the kernels are compiled for: one target, so that the crates are compiled once.
const TARGET: (Sm, PtxVersion) = (Sm::new(90), PtxVersion::new(8, 7));

/// The PTX of a source, which becomes a package of that name.
fn compiled(name: &str, source: &str, profile: Profile) -> PathBuf {
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join(name);
    let (sm, ptx) = TARGET;
    let build = DeviceBuild { profile, ptx: Some(ptx), ..DeviceBuild::new(&folder, name, sm) };
    let made = write_package_with(&folder, name, &["ptx-intrinsics", "ptx-kernel"], source)
        .and_then(|()| build.build_quietly(&toolchain));
    or_panic(made).0
}

/// The text of the same.
fn text_of(name: &str, source: &str, profile: Profile) -> String {
    std::fs::read_to_string(compiled(name, source, profile)).expect("the harness wrote it")
}

/// The same, which the assembler takes.
fn text_that_is_taken(name: &str, source: &str, profile: Profile) -> String {
    let ptx = compiled(name, source, profile);
    let assembled = Assembler::new(&tools().ptxas).assemble(&ptx, TARGET.0, &ptx.with_extension("cubin"));
    let rejected = or_panic(assembled).err();
    assert!(rejected.is_none(), "ptxas refuses {}: {rejected:?}", ptx.display());
    std::fs::read_to_string(ptx).expect("the harness wrote it")
}

/// A module of the tests of a CPU, as a crate for a GPU.
fn for_gpu(module: &str) -> String {
    module.replacen("use ptx_kernel", "#![no_std]\nuse ptx_kernel", 1)
}

/// The kernels of a test of ptx-kernel on a CPU, as a crate for a GPU: what is before a text.
fn kernels_before(test: &str, text: &str) -> String {
    let (kernels, _) = test.split_once(text).expect("the kernel is before it");
    format!("#![no_std]\n{}", kernels.replace("use half::bf16;", "").replace("//!", "//"))
}

/// What a kernel makes of three words for each thread in the interpreter is what a CPU makes of them.
fn is_that_of_a_cpu<const GIVEN: usize>(
    text: &str,
    kernel: &str,
    words: &[[u32; 3]],
    expected: &[[u32; GIVEN]],
    shape: impl FnOnce(&mut Trial<'_>),
) {
    let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let program = Program::parse(text);
    let mut trial = Trial::new(&program, kernel);
    shape(&mut trial);
    let memory = trial.buffer(&bytes).and_then(|trial| trial.unwritten(words.len() * 4 * GIVEN));
    memory.unwrap_or_else(|stop| panic!("{stop}"));
    let report = trial.check();
    assert!(report.is_clean(), "{report}");
    let found = trial.content(1).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let wrong: Vec<String> = (found.zip(expected.iter().flatten()).enumerate())
        .filter(|(_, (found, expected))| found != *expected)
        .map(|(at, (found, expected))| {
            let (thread, function) = (at / GIVEN, at % GIVEN);
            format!("{function} of {:#010x?}: {found:#010x}, and a CPU gives {expected:#010x}", words[thread])
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

/// The PTX of the kernels, which the assembler takes.
fn ptx(profile: Profile) -> String {
    text_that_is_taken("kernel-crate", KERNELS, profile)
}

/// What a text expects: a kernel, a word, and the instructions of the kernel that have it.
fn instructions(text: &str) -> Vec<(&str, &str, Vec<&str>)> {
    let mut all: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("    "), all.last_mut()) {
            (Some(instruction), Some((.., own))) => own.push(instruction),
            _ => {
                let (kernel, word) = line.split_once(' ').expect("a kernel and a word");
                all.push((kernel, word, Vec::new()));
            }
        }
    }
    all
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
    for profile in [Profile::Dev, Profile::Release] {
        assert_eq!(expected::mistakes(&ptx(profile)), [""; 0], "{profile:?}");
    }
}

/// Each has the name of its function, or a number if PTX does not take that name, an alignment of at least 16 and its size.
#[test]
fn variables_are_as_they_are_declared() {
    let number = Regex::new(r"ptx_kernel_shared_(\d+)").expect("the pattern is valid");
    let address = Regex::new(r"mov\.u32 %\w+, ((?:ptx_kernel_)?shared_\w+);").expect("the pattern is valid");
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
            ".shared .align 16 .b8 N[5];",
            ".shared .align 16 .b8 shared_alike[6];",
            ".shared .align 16 .b8 shared_alike_2[6];",
            ".shared .align 16 .b8 shared_counter[4];",
            ".shared .align 16 .b8 shared_empty[1];",
            ".shared .align 16 .b8 shared_tile[128];",
            ".shared .align 64 .b8 shared_wide[128];",
        ];
        assert_eq!(found, expected, "{profile:?}");
        assert!(text.is_ascii());
        // Each store goes to a variable of its own.
        let moved: HashSet<&str> = address.captures_iter(&text).map(|of| of.extract::<1>().1[0]).collect();
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
    for (name, word, expected) in instructions(include_str!("pieces.txt")) {
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
