//! The worked kernels and `ptx-kernel` under rust-cuda. Without a checkout of it, which `RUST_CUDA` names, these tests are
//! reported as ignored, with the reason.

use std::collections::BTreeSet;
use std::process::ExitCode;

use host_tests::check::forms_check;
use host_tests::check::rust_cuda::{self, BUILT_FOR, Compiled, RustCuda};
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptx::{self, Module};
use host_tests::tools::ptxas::Assembler;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let machine = Machine::current();
    let found = rust_cuda::is_named(&machine).then(|| RustCuda::find(&machine, &Progress::kept()));
    let trial = |name: &str, run: fn(&RustCuda) -> Result<(), Failed>| match &found {
        Some(Ok(_)) => {
            let machine = machine.clone();
            Trial::test(name, move || run(&RustCuda::find(&machine, &Progress::kept())?))
        }
        Some(Err(error)) => {
            let error = error.to_string();
            Trial::test(name, move || Err(error.into()))
        }
        None => Trial::test(name, || Ok(())).with_ignored_flag(true),
    };
    let trials = vec![
        trial("rust_cuda_forms", forms),
        trial("rust_cuda_kernels", kernels),
        trial("rust_cuda_kernel_crate", kernel_crate),
        trial("rust_cuda_example", example),
    ];
    if found.is_none() {
        let missing = RustCuda::find(&machine, &Progress::kept()).expect_err("nothing is named");
        println!("rust-cuda is not tried: {missing}");
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A slice of the forms, to the letter.
fn forms(rust_cuda: &RustCuda) -> Result<(), Failed> {
    let progress = Progress::kept();
    let tools = CudaTools::find(&progress)?;
    let cases = rust_cuda::cases(&forms_check::every_form(), Some(2))?;
    let report = rust_cuda::check(rust_cuda, &tools, cases, &progress)?;
    println!("{}", report.table());
    Ok(report.verify()?)
}

/// The worked kernels: every one is an entry, with its variables in shared and in constant memory, and is assembled.
fn kernels(rust_cuda: &RustCuda) -> Result<(), Failed> {
    let compiled = rust_cuda.kernels()?;
    let text = assembled(&compiled)?;
    let expected = [
        "convolve",
        "gather",
        "histogram",
        "matmul",
        "polynomial",
        "probe",
        "ring",
        "rod",
        "scan",
        "spmv",
        "stages",
        "triad",
    ];
    expect("entries", &entries(&compiled.module), &expected.map(str::to_owned).into())?;
    for variable in [".shared .align 16 .b8 of_threads_", ".const .align 16 .b32 convolve_taps[8]"] {
        expect(variable, &text.matches(variable).count(), &1)?;
    }
    Ok(())
}

/// The kernels that use each piece of `ptx-kernel`; their bounds are comments that ptx-build puts in place.
fn kernel_crate(rust_cuda: &RustCuda) -> Result<(), Failed> {
    let compiled = rust_cuda.kernel_crate(include_str!("kernel_crate/kernels.rs"))?;
    let text = ptx::with_entry_lines(&assembled(&compiled)?)?;
    let expected = ["bounded", "calculates", "clustered", "exchanges", "indices", "nothing", "shares"];
    expect("entries", &entries(&compiled.module), &expected.map(str::to_owned).into())?;
    for (word, count) in
        [(".maxntid 256", 1), (".reqnctapercluster 2", 1), ("shfl.sync.bfly", 1), ("vote.sync.ballot", 1)]
    {
        expect(word, &text.lines().filter(|line| line.trim_start().starts_with(word)).count(), &count)?;
    }
    let bounded = compiled.ptx.with_extension("bounded.ptx");
    std::fs::write(&bounded, text)?;
    assemble(&bounded)
}

/// The example that `cuda_builder` builds: its own test, and its result from the CPU.
fn example(rust_cuda: &RustCuda) -> Result<(), Failed> {
    let example = rust_cuda.example()?;
    let tested = example.cargo(&["test", "--quiet", "--package", "rust-cuda-host"])?;
    expect("its test", &tested.contains("test result: ok. 1 passed"), &true)?;
    let said = example.cargo(&["run", "--quiet"])?;
    expect("its last line", &said.lines().last(), &Some("All 1000000 elements are right."))
}

fn entries(module: &Module) -> BTreeSet<String> {
    let entries = module.functions.iter().filter(|function| function.is_entry);
    entries.map(|function| function.name.clone()).collect()
}

/// The text of a module that the assembler takes.
fn assembled(compiled: &Compiled) -> Result<String, Failed> {
    assemble(&compiled.ptx)?;
    Ok(std::fs::read_to_string(&compiled.ptx)?)
}

fn assemble(ptx: &std::path::Path) -> Result<(), Failed> {
    let tools = CudaTools::find(&Progress::kept())?;
    let assembler: Assembler = tools.assembler(BUILT_FOR, &Progress::kept())?;
    let assembled = assembler.assemble(ptx, BUILT_FOR, &ptx.with_extension("cubin"))?;
    assembled.map(drop).map_err(|rejected| rejected.to_string().into())
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, expected {expected:?}").into()) }
}
