//! The laboratory's kernels in machine code: the assembler takes them on every GPU that they are for, each has the hint
//! that its name promises, and both languages' kernels are alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host_tests::check::{forms_check, whole};
use lab::images::{self, Language, Without};
use ptx_build::cuda_tools::CudaTools;
use ptx_build::disassembler::Disassembler;
use ptx_build::progress::Progress;
use ptx_build::target::Sm;
use ptx_build::toolchain::{DeviceToolchain, Route};
use ptx_sass::hot_loop::hot_loop;
use ptx_sass::nvdisasm::{SassFunction, SassInstruction};
use rand::seq::IndexedRandom;

type Kernels = BTreeMap<(Language, Without, String), SassFunction>;

/// Every kernel in machine code for a GPU.
fn kernels(sm: u32) -> Kernels {
    let progress = Progress::kept();
    let toolchain = Route::chosen(None).and_then(|route| DeviceToolchain::find(route, &progress));
    let toolchain = toolchain.unwrap_or_else(|error| panic!("{error}"));
    let tools = CudaTools::find(&progress).unwrap_or_else(|error| panic!("{error}"));
    let all = tools.every_gpu(&progress).unwrap_or_else(|error| panic!("{error}"));
    let on = all.iter().find(|on| on.sm == Sm::new(sm)).expect("the assembler knows the GPU");
    let mut sources = images::sources(on.sm, &toolchain, &tools, &progress).unwrap_or_else(|error| panic!("{error}"));
    // Of nvcc's kernels a laboratory has those that it launches.
    let in_cuda = sources.iter().filter(|source| source.about.language == Language::Cuda);
    let names: BTreeSet<&str> = in_cuda.flat_map(|source| &source.about.kernels).map(String::as_str).collect();
    let launched: BTreeSet<&str> = ["copy32", "copy64", "copy128"].into_iter().chain(images::WORKED).collect();
    assert!(launched.is_subset(&names), "{names:?}");
    // What is in the file of the other copies, on a GPU that has it.
    let beside = |name: &str| name == "copy256";
    assert!(names.iter().all(|name| launched.contains(name) || beside(name)), "{names:?} are more than {launched:?}");
    sources.extend(images::twins(on.sm, &tools, &progress).unwrap_or_else(|error| panic!("{error}")));
    let images = sources.iter().map(|source| source.assemble(on).unwrap_or_else(|error| panic!("{error}")));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut kernels = Kernels::new();
    for image in images {
        let cubin = folder.path().join("lab.cubin");
        std::fs::write(&cubin, &image.cubin).expect("a temporary folder takes it");
        for function in disassemble(&cubin, &tools) {
            if image.about.kernels.contains(&function.name) {
                kernels.insert((image.about.language, image.about.without, function.name.clone()), function);
            }
        }
    }
    kernels
}

fn disassemble(cubin: &Path, tools: &CudaTools) -> Vec<SassFunction> {
    Disassembler::new(&tools.nvdisasm).disassemble(cubin).unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel, how often an instruction has to be in it, and the words of that instruction.
type Hint = (&'static str, usize, &'static [&'static str]);

/// Places are touched eight at a time, and the rest one by one.
const EACH: usize = 9;

/// What each kernel has to have, on every GPU; kernels that differ in a word are told apart by it.
const HINTS: &[Hint] = &[
    ("chase_cg", 1, &["LDG", "64", "STRONG.GPU"]),
    ("chase_weak", 1, &["LDG", "64"]),
    ("chase_nc", 1, &["LDG", "64", "CONSTANT"]),
    ("chase_relaxed_gpu", 1, &["LDG", "64", "STRONG.GPU"]),
    ("chase_relaxed_sys", 1, &["LDG", "64", "STRONG.SYS"]),
    ("chase_acquire_gpu", 1, &["LDG", "64", "STRONG.GPU"]),
    ("chase_acquire_gpu", 1, &["CCTL.IVALL"]),
    ("chase_acquire_sys", 1, &["LDG", "64", "STRONG.SYS"]),
    ("chase_acquire_sys", 1, &["CCTL.IVALL"]),
    ("chase_volatile", 1, &["LDG", "64", "STRONG.SYS"]),
    ("chase_mmio", 1, &["LDG", "64", "MMIO"]),
    ("sweep_plain", 5, &["LDG", "128"]),
    ("sweep_no_allocate", 5, &["LDG", "128", "NA"]),
    ("sweep_policy", 5, &["LDG", "128"]),
    ("fill_wb", 1, &["STG", "128"]),
    ("fill_cg", 1, &["STG", "128", "STRONG.GPU"]),
    ("fill_cs", 1, &["STG", "128", "EF"]),
    ("fill_wt", 1, &["STG", "128", "STRONG.SYS"]),
    ("discard", 1, &["CCTL", "RML2"]),
    ("touch_plain", EACH, &["LDG"]),
    ("touch_64", EACH, &["LDG", "LTC64B"]),
    ("touch_128", EACH, &["LDG", "LTC128B"]),
    ("touch_256", EACH, &["LDG", "LTC256B"]),
    ("hot_stream_plain", 2 * EACH, &["LDG"]),
    ("hot_stream_first", EACH, &["LDG", "EF"]),
    ("hot_stream_last", EACH, &["LDG", "EL"]),
    ("hot_stream_unchanged", EACH, &["LDG", "EU"]),
    ("hot_stream_no_allocate", EACH, &["LDG", "NA"]),
    ("hot_last_stream_plain", EACH, &["LDG", "EL"]),
    ("hot_then_relaxed", EACH, &["LDG", "STRONG.GPU"]),
    ("hot_then_volatile", EACH, &["LDG", "STRONG.SYS"]),
    ("hot_then_acquire", EACH, &["LDG", "STRONG.GPU"]),
    ("hot_then_acquire", EACH, &["CCTL.IVALL"]),
    ("hot_then_fence_acq_rel", EACH, &["MEMBAR", "GPU"]),
    ("hot_then_fence_sc", EACH, &["MEMBAR.SC"]),
    ("announce_l1", EACH, &["CCTL", "PF1"]),
    ("announce_l2", EACH, &["CCTL", "PF2"]),
    ("announce_l2_last", EACH, &["CCTL", "PML2"]),
    ("announce_bulk", EACH, &["UBLKPF.L2"]),
    ("keep_then_give_up", EACH, &["CCTL", "DML2"]),
    ("chase_shared", 1, &["LDS"]),
    ("chase_neighbour", 1, &["LD.E"]),
];

/// The loop in which the clock is read after a load: the shortest way back over both.
fn timed_loop(function: &SassFunction) -> Option<&[SassInstruction]> {
    clocked_loops(function).filter(|body| body.iter().any(is_load)).min_by_key(|body| body.len())
}

fn is_load(one: &SassInstruction) -> bool {
    one.name().starts_with("LD") && !one.name().starts_with("LDC")
}

/// The loops in which the clock is read.
fn clocked_loops(function: &SassFunction) -> impl Iterator<Item = &[SassInstruction]> {
    let code = &function.instructions;
    let at = move |address: u64| code.iter().position(|one| one.address == address);
    let back = code.iter().enumerate().filter(|(_, one)| one.name() == "BRA");
    let loops = back.filter_map(move |(end, one)| Some(&code[at(one.target?)?..=end.max(at(one.target?)?)]));
    loops.filter(|body| body.iter().any(is_clock))
}

/// The names of what a loop does beside loads and moves between registers, in the order of the alphabet. The address of a
/// time may be the work of an `IMAD` or of a `LEA`, and from sm_100 on the count may be in a uniform register.
fn work(body: &[SassInstruction]) -> Vec<&str> {
    let all = body.iter().filter(|one| !is_load(one) && !is_move(one)).map(SassInstruction::name);
    let mut names: Vec<&str> = all.map(alike).collect();
    names.sort_unstable();
    names
}

/// One name for instructions that do the same work.
fn alike(name: &str) -> &str {
    match name {
        "LEA" | "ULEA" => "IMAD",
        "UIADD3" => "VIADD",
        "UISETP" => "ISETP",
        name => name,
    }
}

fn is_move(one: &SassInstruction) -> bool {
    one.opcode.contains("MOV")
}

/// What is wrong with the loop that is subtracted from another: it has all of that but the one load, and two moves between
/// registers more or less.
fn subtracted(empty: &SassFunction, chase: &SassFunction) -> Option<String> {
    let shortest = clocked_loops(empty).min_by_key(|body| body.len());
    let (Some(empty), Some(chase)) = (shortest, timed_loop(chase)) else { return Some("there is no loop".into()) };
    let count =
        |body: &[SassInstruction], which: fn(&SassInstruction) -> bool| body.iter().filter(|one| which(one)).count();
    let moves = count(empty, is_move).abs_diff(count(chase, is_move));
    let alike = work(empty) == work(chase) && moves <= 2 && [empty, chase].map(|body| count(body, is_load)) == [0, 1];
    let text = |body: &[SassInstruction]| body.iter().map(|one| one.text.clone()).collect::<Vec<_>>().join("\n");
    (!alike).then(|| format!("{}\n--- and\n{}", text(empty), text(chase)))
}

fn is_clock(one: &SassInstruction) -> bool {
    one.name() == "CS2R" && one.text.contains("CLOCK")
}

/// Whether an instruction has all of these words in its opcode, and the last ones as whole ones.
fn has(one: &SassInstruction, words: &[&str]) -> bool {
    let opcode = format!(".{}.", one.opcode);
    one.predicate.as_deref() != Some("!PT") && words.iter().all(|word| opcode.contains(&format!(".{word}.")))
}

/// The clock is read after what was loaded is here: between a load and the next clock something reads the register.
fn clock_waits(body: &[SassInstruction]) -> bool {
    let load = body.iter().position(is_load);
    let Some(load) = load else { return false };
    let register = body[load].operands[0].as_str();
    let after = body[load + 1..].iter().chain(&body[..load]);
    let mut until = after.take_while(|one| !is_clock(one));
    until.any(|one| one.operands.iter().skip(1).any(|operand| operand.trim_matches(['-', '~', '|']) == register))
}

/// Kernels in a loop of their own whose hot loop is that of bandwidth.
const STREAMS: [&str; 8] =
    ["sweep_plain", "sweep_no_allocate", "sweep_policy", "fill_wb", "fill_cg", "fill_cs", "fill_wt", "discard"];

/// What is wrong with the kernels of a GPU; and how many hints and pairs were looked at.
fn look(sm: u32) -> (Vec<String>, usize, usize) {
    let kernels = kernels(sm);
    let (mut wrong, mut hints, mut pairs) = (Vec::new(), 0, 0);
    let of = |language, name: &str| kernels.get(&(language, Without::Nothing, name.to_owned()));
    for language in [Language::Rust, Language::Cuda] {
        for (name, count, words) in HINTS {
            let Some(function) = of(language, name) else { continue };
            let found = function.instructions.iter().filter(|one| has(one, words)).count();
            // What other loads the kernel has is not told from a load without a hint.
            if found < *count {
                wrong.push(format!("{name} in {language:?}: {found} of {words:?}, not {count}"));
            }
            hints += 1;
        }
    }
    for (language, _, name) in
        kernels.keys().filter(|(language, without, _)| *language == Language::Rust && *without == Without::Nothing)
    {
        let (Some(rust), Some(cuda)) = (of(*language, name), of(Language::Cuda, name)) else { continue };
        let [one, other] = [timed_loop(rust), timed_loop(cuda)];
        let lengths = if STREAMS.contains(&name.as_str()) {
            [rust, cuda].map(|function| hot_loop(&function.instructions).map(|hot| hot.len()))
        } else if one.is_some() || other.is_some() {
            [one, other].map(|body| body.map(<[_]>::len))
        } else {
            continue;
        };
        if lengths[0].is_none() || lengths[0] != lengths[1] {
            wrong.push(format!("{name}: {lengths:?} instructions in the loops of Rust and CUDA"));
        }
        for body in [one, other].into_iter().flatten().filter(|body| !clock_waits(body)) {
            let text: Vec<&str> = body.iter().map(|one| one.text.as_str()).collect();
            wrong.push(format!("{name}: the clock does not wait\n{}", text.join("\n")));
        }
        pairs += 1;
    }
    for (empty, chase) in
        [("chase_empty", "chase_weak"), ("chase_empty", "chase_cg"), ("chase_shared_empty", "chase_shared")]
    {
        for language in [Language::Rust, Language::Cuda] {
            let (Some(empty), Some(chase)) = (of(language, empty), of(language, chase)) else { continue };
            wrong.extend(subtracted(empty, chase).map(|why| format!("{language:?}: {why}")));
            hints += 1;
        }
    }
    // Each worked kernel without a kind of hints has no such words left.
    let taken: [(Without, &[&str]); 3] = [
        (Without::L1, &["NA", "EF", "EL"]),
        (Without::Sizes, &["LTC64B", "LTC128B", "LTC256B"]),
        (Without::Prefetches, &["PF2"]),
    ];
    let before = |name: &String| of(Language::Rust, name).map(|function| &function.instructions);
    for ((_, without, name), function) in kernels.iter().filter(|((_, without, _), _)| *without != Without::Nothing) {
        let loads = |all: &[SassInstruction], words: &[&str]| {
            let load = |one: &&SassInstruction| !one.name().starts_with("ST");
            all.iter().filter(load).filter(|one| words.iter().any(|word| has(one, &[word]))).count()
        };
        for (hints, words) in taken.iter().filter(|(hints, _)| without == hints || *without == Without::All) {
            if loads(&function.instructions, words) > 0 {
                wrong.push(format!("{name} without {without:?} has words of {hints:?}"));
            }
        }
        if before(name) == Some(&function.instructions) {
            wrong.push(format!("{name} without {without:?} is the same"));
        }
        hints += 1;
    }
    (wrong, hints, pairs)
}

/// One of each generation; the hints and the pairs that are looked at.
const GPUS: [(u32, usize, usize); 3] = [(80, 101, 39), (90, 109, 42), (100, 109, 42)];

/// On a GPU that is drawn by the seed.
#[test]
fn every_kernel_has_its_hint_and_its_twin() {
    let mut random = forms_check::random("the GPU is");
    for &(sm, hints, pairs) in GPUS.sample(&mut random, whole::or(1)) {
        let (wrong, looked_at, compared) = look(sm);
        assert_eq!(wrong, [""; 0], "sm_{sm}");
        assert_eq!((looked_at, compared), (hints, pairs), "sm_{sm}");
    }
}
