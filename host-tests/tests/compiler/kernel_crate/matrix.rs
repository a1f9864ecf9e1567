//! Products of matrices, and `ldmatrix` and `stmatrix`: each function is the instruction that it says, there where ptxas has it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use host_tests::check::forms::write_package_with;
use host_tests::check::{forms_check, whole};
use host_tests::tools::device_build::{DeviceBuild, Profile};
use host_tests::tools::ptxas::Assembler;
use host_tests::tools::target::{PtxVersion, Sm};
use ptx_interpreter::{Program, Trial};
use ptx_kernel::matrix::{MOVES, PRODUCTS};
use rand::seq::IndexedRandom;
use regex::Regex;

use crate::kernel_crate::gates::old_gpus;
use crate::kernel_crate::{TARGET, body, kernels_before, text_that_is_taken, toolchain, tools};

/// The registers of fragments that have names of their own.
const FRAGMENTS: &str = "B1x32, Bf16x2, E4m3x4, E5m2x4, F16x2, S4x8, S8x4, Tf32, U4x8, U8x4";

/// ptxas has it on sm_75, and LLVM does not emit it before sm_80.
const EARLIER_IN_PTXAS: &str = "mma_m8n8k128_s32_b1_xor_popc";

/// Gates of functions that are drawn: the crates are compiled for each.
const GATES: usize = 1;

/// A target that has all functions which need a suffix, and its oldest PTX ISA version.
const WITH_BYTES: (Sm, u32) = (Sm { number: 100, suffix: Some('a') }, 86);

/// A function of the module: its name, PTX, the oldest SM and PTX ISA version, or the targets of which it needs one, and a kernel that
/// calls it.
struct Function {
    name: &'static str,
    ptx: &'static str,
    needs: (u32, u32),
    targets: &'static [&'static str],
    kernel: String,
}

fn functions() -> Vec<Function> {
    let products = PRODUCTS.iter().map(|(name, ptx, needs, types)| {
        let [a, b, c] = types.map(|ty| format!("p.cast::<{ty}>().read_volatile()"));
        (*name, *ptx, *needs, format!("core::ptr::write(q.cast(), matrix::{name}({a}, {b}, {c}))"))
    });
    let moves = MOVES.iter().map(|(name, ptx, needs)| {
        let row = "SharedPtr::new(p.cast::<[u32; 4]>())";
        let call = match name.starts_with("ld") {
            true => format!("core::ptr::write(q.cast(), matrix::{name}({row}))"),
            false => format!("matrix::{name}({row}, core::ptr::read(q.cast()))"),
        };
        (*name, *ptx, *needs, call)
    });
    let all = products.chain(moves).map(|(name, ptx, needs, call)| Function {
        name,
        ptx,
        needs: (needs.sm(), needs.ptx()),
        targets: needs.targets(),
        kernel: format!(
            "kernel! {{\n    /// # Safety\n    /// As nobody calls it.\n    \
             pub unsafe fn {name}(p: *mut u8, q: *mut u8) {{\n        unsafe {{ {call} }}\n    }}\n}}\n"
        ),
    });
    all.collect()
}

/// The module with the kernels of these functions, or what the compiler says. Each test has a folder of its own: they run beside each
/// other.
fn compiled<'f>(
    folder: &str,
    functions: impl IntoIterator<Item = &'f Function>,
    sm: Sm,
    ptx: Option<u32>,
) -> Result<PathBuf, String> {
    let toolchain = toolchain();
    let folder = toolchain.machine().target().join(folder);
    let kernels: String = functions.into_iter().map(|function| &*function.kernel).collect();
    let source = format!(
        "#![no_std]\n#![allow(unused_imports)]\nuse ptx_intrinsics::SharedPtr;\nuse ptx_kernel::*;\n\
         use ptx_kernel::matrix::{{self, {FRAGMENTS}}};\n\n{kernels}"
    );
    write_package_with(&folder, "matrices", &["ptx-intrinsics", "ptx-kernel"], &source).expect("it is written");
    let build = DeviceBuild::new(&folder, "matrices", sm);
    let build = DeviceBuild { ptx: ptx.map(PtxVersion::of_number), ..build };
    build.build_quietly(&toolchain).map(|(path, _)| path).map_err(|error| error.to_string())
}

/// The lines of a kernel that have to do with matrices, without operands.
fn instructions(text: &str, name: &str) -> Vec<String> {
    let lines = body(text, name).lines().map(str::trim);
    let lines = lines.filter(|line| ["mma.", "ldmatrix.", "stmatrix."].iter().any(|word| line.starts_with(word)));
    lines.map(|line| line.split_whitespace().next().expect("a word").to_owned()).collect()
}

#[test]
fn each_function_is_its_instruction() {
    assert_eq!((PRODUCTS.len(), MOVES.len()), (94, 27));
    let (plain, of_bytes): (Vec<_>, Vec<_>) = functions().into_iter().partition(|function| function.targets.is_empty());
    let ptxas = Assembler::new(&tools().ptxas);
    let text = are_their_instructions("matrices", &plain, (TARGET.0, TARGET.1.number()), &ptxas);
    gates_are_those_of_ptxas(&plain, &text, &ptxas);
    let text = are_their_instructions("matrices-of-bytes", &of_bytes, WITH_BYTES, &ptxas);
    targets_are_those_of_ptxas(&of_bytes, &text, &ptxas);
}

/// The module of these functions on a target: each is its instruction, and ptxas takes it.
fn are_their_instructions(folder: &str, functions: &[Function], (sm, ptx): (Sm, u32), ptxas: &Assembler) -> String {
    let path = compiled(folder, functions, sm, Some(ptx)).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&path).expect("the harness wrote it");
    let found = functions.iter().map(|function| (function.name, function.ptx, instructions(&text, function.name)));
    let wrong: Vec<_> = found.filter(|(_, ptx, found)| *found != [*ptx]).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let assembled = ptxas.assemble(&path, sm, &path.with_extension("cubin"));
    assembled.unwrap_or_else(|error| panic!("{error}")).unwrap_or_else(|refused| panic!("{refused:?}"));
    text
}

/// ptxas takes the functions that need a suffix for the targets with it, and refuses all of them for the others.
fn targets_are_those_of_ptxas(functions: &[Function], text: &str, ptxas: &Assembler) {
    let text = &text.replace("ld.param::entry.", "ld.param.");
    let [version_line, target_line] =
        [r"(?m)^\.version .*$", r"(?m)^\.target .*$"].map(|line| Regex::new(line).expect("the pattern is valid"));
    assert!(functions.iter().all(|function| function.targets == ["sm_100f", "sm_110f", "sm_120f"]));
    let out = std::env::temp_dir().join(format!("matrices-of-bytes-{}.cubin", std::process::id()));
    for name in ["sm_100a", "sm_100f", "sm_103a", "sm_110f", "sm_120a", "sm_121f", "sm_100", "sm_120", "sm_90a"] {
        let on = target_line.replace(text, format!(".target {name}"));
        let on = version_line.replace(&on, ".version 9.0");
        let sm = Sm::read(name).expect("it is a target");
        let answer = ptxas.assemble_text(&on, sm, &out).unwrap_or_else(|error| panic!("{error}"));
        let refused = answer.err().map_or(vec![], |refused| refused.messages);
        let lines: BTreeSet<u32> = refused.into_iter().filter_map(|message| message.line).collect();
        let wanted = if ["sm_100", "sm_120", "sm_90a"].contains(&name) { functions.len() } else { 0 };
        assert_eq!(lines.len(), wanted, "{name}");
    }
    std::fs::remove_file(&out).expect("some target has them all");
}

/// ptxas refuses the kernels of those functions alone whose gate is closed.
fn gates_are_those_of_ptxas(functions: &[Function], text: &str, ptxas: &Assembler) {
    let [version_line, target_line] =
        [r"(?m)^\.version .*$", r"(?m)^\.target .*$"].map(|line| Regex::new(line).expect("the pattern is valid"));
    // Since rustc 1.100 a kernel built for PTX ISA 8.3 or newer reads its arguments by a word which older ones lack.
    let text = &text.replace("ld.param::entry.", "ld.param.");
    let names: Vec<&str> = text
        .lines()
        .scan("", |name, line| {
            let entry = line.split(".entry ").nth(1).and_then(|rest| rest.split('(').next());
            *name = entry.unwrap_or(*name);
            Some(*name)
        })
        .collect();
    let mut compared = 0;
    for sm in [75, 80, 86, 89, 90] {
        for version in [63, 64, 65, 70, 71, 78, 84, 86, 87] {
            let older = version_line.replace(text, format!(".version {}.{}", version / 10, version % 10));
            let older = target_line.replace(&older, format!(".target sm_{sm}"));
            let lines = ptxas.refused_lines(&older).unwrap_or_else(|error| panic!("{error}"));
            let refused: BTreeSet<&str> = lines.into_iter().map(|line| names[line as usize - 1]).collect();
            let earlier = |name: &str| name == EARLIER_IN_PTXAS && sm == 75 && version >= 70;
            let older_than = |needs: (u32, u32)| sm < needs.0 || version < needs.1;
            let closed = functions.iter().filter(|function| older_than(function.needs) && !earlier(function.name));
            let closed: BTreeSet<&str> = closed.map(|function| function.name).collect();
            // An SM that the version does not know is a complaint about the module, which names no kernel.
            if !refused.contains("") {
                assert_eq!(refused, closed, "sm_{sm}, PTX ISA {version}");
                compared += 1;
            }
        }
    }
    println!("{} functions at {compared} targets", functions.len());
    assert!(compared > 20, "ptxas knows {compared} targets alone");
}

/// LLVM emits a function at its gate, and the crate refuses it for older GPUs.
#[test]
fn functions_have_gates() {
    let (functions, of_bytes): (Vec<_>, Vec<_>) =
        functions().into_iter().partition(|function| function.targets.is_empty());
    for sm in old_gpus() {
        let newer = functions.iter().find(|function| function.needs.0 > sm).expect("a function needs more than sm_80");
        let said = compiled("matrices-of-gates", [newer, &of_bytes[0]], Sm::new(sm), None).expect_err("it is refused");
        for (name, needs) in [
            (newer.name, format!("sm_{} or newer, and this build is for an older GPU", newer.needs.0)),
            (of_bytes[0].name, "the target (sm_100f, sm_110f, sm_120f)".to_owned()),
        ] {
            let error = format!("`ptx_kernel::matrix::{name}` needs {needs}");
            assert!(said.contains(&error), "sm_{sm}: {error}\n{said}");
        }
    }
    let gates: BTreeSet<(u32, u32)> = functions.iter().map(|function| function.needs).collect();
    assert_eq!(gates.len(), 7);
    let of = |gate: (u32, u32)| functions.iter().filter(move |function| function.needs == gate);
    let gates: Vec<(u32, u32)> = gates.into_iter().collect();
    let mut random = forms_check::random("the gates are");
    for &(sm, ptx) in gates.sample(&mut random, whole::or(GATES)) {
        // rustc 1.97 writes PTX ISA 7.0 at least, and 7.8 for sm_89.
        let at = if sm >= 89 { ptx.max(78) } else { ptx.max(70) };
        compiled("matrices-of-gates", of((sm, ptx)), Sm::new(sm), Some(at))
            .unwrap_or_else(|error| panic!("sm_{sm}, PTX ISA {ptx}: {error}"));
    }
}

/// The kernel of ptx-kernel's test of a CPU, compiled for a GPU and run by the interpreter with all checks: both agree.
#[test]
fn a_product_in_shared_memory_is_right_in_the_interpreter() {
    let source = kernels_before(include_str!("../../../../ptx-kernel/tests/matrix.rs"), "fn small(");
    let text = text_that_is_taken("matrix-product", &source, Profile::Release);
    let small = |i: usize| (i * 5 % 11) as f32 - 5.0;
    let bits = |number: f32| ((number.to_bits() >> 16) as u16).to_le_bytes();
    let (a, b): (Vec<f32>, Vec<f32>) = ((0..256).map(small).collect(), (0..128).map(|i| small(i + i / 8)).collect());
    let program = Program::parse(&text);
    let mut trial = Trial::new(&program, "product");
    trial.block([32, 1, 1]);
    for content in [a.iter().flat_map(|n| bits(*n)).collect(), b.iter().flat_map(|n| bits(*n)).collect(), vec![0; 256]]
    {
        trial.buffer(&content).expect("memory");
    }
    let report = trial.check();
    assert_eq!((report.stop, report.findings), (None, vec![]));
    for (i, found) in trial.content(2).chunks(2).enumerate() {
        let (row, column) = (i / 8, i % 8);
        let sum: f32 = 1.0 + (0..16).map(|k| a[row * 16 + k] * b[k * 8 + column]).sum::<f32>();
        // Such a sum has at most eight bits, so a `bf16` has it.
        assert!(sum.abs() <= 256.0, "{sum}");
        assert_eq!(found, bits(sum), "row {row}, column {column}");
    }
}
