//! The litmus tests of the suite in machine code: the assembler keeps what makes them sensitive.

use host_tests::check::here::{toolchain, tools};
use std::collections::BTreeMap;
use std::path::Path;

use litmus::{Instruction, Program, Semantics};
use ptx_build::disassembler::Disassembler;
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_sass::nvdisasm::SassInstruction;
use suite::Entry;
use suite::image::compile;
use suite::litmus::Litmus;

/// One of each generation, and how many kernels it has.
const GENERATIONS: [(u32, usize); 3] = [(80, 140), (90, 216), (100, 216)];

fn is_clock(one: &SassInstruction) -> bool {
    one.text.contains("SR_CLOCKLO")
}

fn is_weak_load(one: &SassInstruction) -> bool {
    one.name() == "LDG" && !one.opcode.contains("STRONG")
}

/// Fences that end a round: one before the half in which L1 must keep its values, and one before the results are read.
const FENCES_OF_ROUND: usize = 2;

/// Where blocks of a cluster wait for each other, before the first round and after the last. It empties L1 too.
const CLUSTER_WAIT: &str = "UCGABAR_WAIT";

/// Whether a thread's instructions ask for an empty L1.
fn acquires(program: &Program) -> bool {
    let code = program.threads.iter().flat_map(|thread| &thread.code);
    let is_strong = |semantics| matches!(semantics, Semantics::Acquire | Semantics::AcqRel | Semantics::Sc);
    code.clone().any(|one| match one {
        Instruction::Load(_, memory) | Instruction::Atomic(_, memory, ..) => is_strong(memory.semantics),
        Instruction::Fence(_) => true,
        _ => false,
    })
}

/// What is wrong with a kernel.
fn look(program: &Program, code: &[SassInstruction]) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(clock) = code.iter().position(is_clock) else { return vec!["it does not wait: no clock is read".into()] };
    let Some(barrier) = code[..clock].iter().rposition(|one| one.name() == "BAR") else {
        return vec!["no barrier before the test".into()];
    };
    let half = &code[barrier..clock];
    let meeting = half.iter().position(|one| one.name().starts_with("RED")).unwrap_or(half.len());
    let (loads, places) = (half[..meeting].iter().filter(|one| is_weak_load(one)).count(), program.initial.len());
    if loads != places {
        wrong.push(format!("{loads} of {places} places are loaded before the threads meet"));
    }
    if half.iter().any(|one| one.opcode.starts_with("CCTL.IVALL")) {
        wrong.push("L1 is emptied after it was filled".into());
    }
    if code.iter().filter(|one| is_clock(one)).count() < 2 {
        wrong.push("the clock is read once".into());
    }
    let count = |opcode| code.iter().filter(|one| one.opcode.starts_with(opcode)).count();
    let (emptied, of_harness) = (count("CCTL.IVALL"), FENCES_OF_ROUND + count(CLUSTER_WAIT));
    if !acquires(program) && emptied != of_harness {
        wrong.push(format!("L1 is emptied at {emptied} places, and by the harness at {of_harness}"));
    }
    wrong
}

#[test]
fn the_assembler_keeps_what_makes_them_sensitive() {
    let progress = Progress::kept();
    let (toolchain, tools) = (toolchain(), tools());
    let all = Litmus::all();
    let mut programs: BTreeMap<String, Program> = BTreeMap::new();
    for litmus in &all {
        programs.insert(litmus.name.clone(), litmus.program.clone());
        programs.extend(litmus.mutants.iter().map(|mutant| (mutant.name.clone(), mutant.program.clone())));
        assert_eq!(litmus.functions().len(), 1 + litmus.mutants.len());
    }
    let part = compile("litmus", 0, &all, &toolchain).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (sm, kernels) in GENERATIONS {
        let on = tools.every_gpu(&progress).unwrap().into_iter().find(|on| on.sm == Sm::new(sm)).unwrap();
        let (mut looked_at, mut wrong) = (0, Vec::new());
        for image in part.assemble(&on).unwrap() {
            let cubin = folder.path().join("litmus.cubin");
            std::fs::write(&cubin, &image.cubin).unwrap();
            for function in Disassembler::new(&tools.nvdisasm).disassemble(&cubin).unwrap() {
                let Some(program) = programs.get(&function.name) else { continue };
                looked_at += 1;
                wrong.extend(
                    look(program, &function.instructions).into_iter().map(|why| format!("{}: {why}", function.name)),
                );
            }
        }
        assert_eq!(wrong, [""; 0], "sm_{sm}");
        assert_eq!(looked_at, kernels, "sm_{sm}");
    }
}

#[test]
fn the_program_of_a_bundle_judges_files_and_says_that_there_is_no_gpu() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_gpu-suite"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus/tests/litmus");
    program.arg("--litmus").arg(folder.join("MP-weak.litmus")).arg(folder.join("MP-sys.litmus"));
    let output = program.env(ptx_driver::DRIVER_VARIABLE, "/nonexistent/libcuda.so.1").output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(3), "{stdout}{stderr}");
    let counts = "2 files: 2 judged, 0 of them with a published result, 0 agree, 0 disagree\n\
                  1 tests have a kernel in PTX\n1 have none: its threads are on several GPUs\n";
    assert!(stdout.ends_with(counts), "{stdout}");
    assert!(stderr.contains("no GPU: ") && stderr.ends_with("so the verdicts are the model's alone\n"), "{stderr}");
}
