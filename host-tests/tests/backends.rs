//! The worked kernels and `ptx-kernel` under rust-cuda. Without a checkout of it, which `RUST_CUDA` names, these tests are
//! reported as ignored, with the reason. What they expect is read from the kernels' sources, which is tried without it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use host_tests::check::rust_cuda::{self, BUILT_FOR, Compiled, RustCuda};
use host_tests::tools::command::Machine;
use host_tests::tools::cuda_tools::CudaTools;
use host_tests::tools::error::Result;
use host_tests::tools::progress::Progress;
use host_tests::tools::ptx::{self, Module};
use host_tests::tools::ptxas::Assembler;
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "compiler/kernel_crate/expected.rs"]
mod expected;

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
        trial("rust_cuda_kernels", kernels),
        trial("rust_cuda_kernel_crate", kernel_crate),
        trial("rust_cuda_example", example),
        Trial::test("the_sources_declare_their_kernels", sources),
    ];
    if found.is_none() {
        let missing = RustCuda::find(&machine, &Progress::kept()).expect_err("nothing is named");
        println!("rust-cuda is not tried: {missing}");
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The worked kernels: every one is an entry, with its variables in shared and in constant memory, and is assembled.
fn kernels(rust_cuda: &RustCuda) -> Result<(), Failed> {
    let compiled = rust_cuda.kernels()?;
    let text = assembled(&compiled)?;
    let expected = worked_kernels()?.into_keys().filter(|name| !NOT_BUILT.contains(&name.as_str()));
    expect("entries", &entries(&compiled.module), &expected.collect())?;
    for variable in [".shared .align 16 .b8 of_threads_", ".const .align 16 .b32 convolve_taps[8]"] {
        expect(variable, &text.matches(variable).count(), &1)?;
    }
    Ok(())
}

/// The kernels that use each piece of `ptx-kernel`; their bounds are comments that ptx-build puts in place.
fn kernel_crate(rust_cuda: &RustCuda) -> Result<(), Failed> {
    let compiled = rust_cuda.kernel_crate(expected::KERNELS)?;
    let text = ptx::with_entry_lines(&assembled(&compiled)?)?;
    expect("mistakes", &expected::mistakes(&text), &Vec::new())?;
    for (word, count) in [("shfl.sync.bfly", 1), ("vote.sync.ballot", 1)] {
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

/// Kernels that rust-cuda does not build: one on `ptx_kernel::matrix`, which is missing there, and one for a newer GPU.
const NOT_BUILT: [&str; 2] = ["gather_rows", "gemm"];

/// Each worked kernel, and the file that declares it.
fn worked_kernels() -> Result<BTreeMap<String, String>, Failed> {
    let mut kernels = BTreeMap::new();
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/src"))? {
        let path = file?.path();
        let stem = path.file_stem().unwrap_or_default().display().to_string();
        kernels
            .extend(expected::declared(&std::fs::read_to_string(&path)?).into_iter().map(|name| (name, stem.clone())));
    }
    Ok(kernels)
}

/// Without rust-cuda: each file of the worked kernels declares the one that it is named after. The test `kernel_crate`
/// compares the entries that rustc makes of the kernel crate with its source.
fn sources() -> Result<(), Failed> {
    let worked = worked_kernels()?;
    expect("worked kernels", &worked.len(), &16)?;
    worked.iter().try_for_each(|(name, file)| expect("a kernel", name, file))
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
