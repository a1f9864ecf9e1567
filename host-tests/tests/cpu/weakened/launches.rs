//! How the worked kernels and those of parity are launched.

use ptx_interpreter::{Program, Report, Trial};
use workloads::{ALL, Input, Matrix, Number, ORDERED, Problem};

/// Sizes of the worked kernels that go round their rings and windows, and of which each block has more than one turn.
const SIZES: [(&str, usize, u32); 15] = [
    ("triad", 300, 2),
    ("gather", 9, 2),
    ("spmv", 9, 1),
    ("probe", 300, 2),
    ("scan", 9 * 1024 + 5, 3),
    ("ring", 6000, 2),
    ("convolve", 300, 2),
    ("rod", 1, 4),
    ("matmul", 1, 2),
    ("stages", 13 * 256 - 3, 2),
    ("histogram", 70_001, 2),
    ("gemm", 2, 16),
    ("column_sums", 6, 4),
    ("all_to_all", 1, 4),
    ("gather_rows", 98, 2),
];

/// The kernels of parity: blocks, threads, and arguments as `cargo ptx run` is told them.
const PARITY: [(&str, [u32; 2], [u32; 2], &str); 17] = [
    ("add_rms_norm", [2, 1], [64, 1], "out:3200 in:3200 in:3200 in:1600 u32:100 f32:1"),
    ("rms_norm", [2, 1], [64, 1], "out:3200 in:3200 in:1600 u32:100 f32:1"),
    ("softmax", [2, 1], [64, 1], "out:3200 in:3200 u32:100"),
    ("attention", [2, 1], [128, 1], "out:1024 in:1024 in:4096 in:4096 u32:8 f32:1"),
    ("flash_attention", [2, 1], [128, 1], "out:16384 in:16384 in:24576 in:24576 u32:3 f32:1"),
    ("prefix_sum", [1, 1], [1024, 1], "out:32768 in:32768 u32:2048"),
    ("reduce", [2, 1], [64, 1], "out:8 in:4800 u32:300"),
    ("layer_norm_first", [2, 1], [64, 1], "out:1200 in:1200 in:600 in:600 u32:150 f32:1"),
    ("layer_norm", [2, 1], [64, 1], "out:3200 in:3200 in:1600 in:1600 u32:100 f32:1"),
    ("layer_norm_back", [2, 1], [64, 1], "in:2304 in:384 in:384 in:2304 in:2304 in:384 in:24 in:24 u32:6 u32:96"),
    ("transpose", [2, 2], [32, 8], "out:16384 in:16384 u32:64 u32:64"),
    ("compact_first", [2, 1], [64, 1], "out:800 zeros:4 in:800 u32:200 u32:0"),
    ("compact", [2, 1], [64, 1], "out:1120 zeros:4 in:1120 u32:70 u32:0"),
    ("ll128", [3, 1], [64, 1], "out:11520 in:3840 zeros:12288 u32:2 u64:18446744073709551615"),
    ("relay_first", [3, 1], [64, 1], "out:512 in:1536 zeros:1536 zeros:12 u32:128"),
    ("relay", [3, 1], [64, 1], "out:2048 in:6144 zeros:12288 u32:256 u32:1"),
    ("stencil", [2, 2], [32, 8], "out:6800 in:6800 u32:34 u32:10 u32:5 f32:1 f32:1"),
];

/// The kernels, by their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SIZES.iter().map(|(name, ..)| *name).chain(PARITY.iter().map(|(name, ..)| *name))
}

/// Checks a kernel in an order of its threads, which takes at most so many instructions.
pub(super) fn check(program: &Program, name: &str, seed: u64, steps: u64) -> Report {
    let mut trial = Trial::new(program, name);
    // A wait that ends at the last moment shows more than one that ends late: every other order has weak loads.
    trial.seed(seed).weak(seed % 2 == 1).limits(steps, None);
    match SIZES.iter().find(|(workload, ..)| *workload == name) {
        Some((_, size, blocks)) => {
            let workload = ALL.into_iter().chain(ORDERED).find(|workload| workload.name() == name);
            worked(&mut trial, &*workload.expect("it is one of them").problem(*size), *blocks);
        }
        None => of_parity(&mut trial, name),
    }
    trial.check()
}

fn worked(trial: &mut Trial<'_>, problem: &dyn Problem, blocks: u32) {
    let grid = problem.grid(blocks);
    trial
        .grid([grid.blocks, 1, 1])
        .block([grid.threads, 1, 1])
        .cluster([grid.cluster, 1, 1])
        .shared(grid.shared as usize);
    for input in problem.inputs() {
        let added = match input {
            Input::Output => trial.unwritten(problem.output_bytes()),
            Input::Sums => trial.buffer(&vec![0; problem.output_bytes()]),
            Input::Bytes(bytes) => trial.buffer(bytes),
            Input::OutputMap(matrix) => {
                trial.memory(&vec![0; problem.output_bytes()]).map(|at| mapped(trial, at, matrix))
            }
            Input::Map(bytes, matrix) => trial.memory(bytes).map(|at| mapped(trial, at, matrix)),
            Input::Scratch(bytes) => trial.buffer(&vec![0; bytes]),
            Input::Number(Number::U32(number)) => Ok(trial.value(&number.to_le_bytes())),
            Input::Number(Number::U64(number)) => Ok(trial.value(&number.to_le_bytes())),
            Input::Number(Number::F32(number)) => Ok(trial.value(&number.to_le_bytes())),
            Input::Number(Number::F32x8(numbers)) => Ok(trial.value(&numbers.map(f32::to_le_bytes).concat())),
        };
        added.expect("a little memory");
    }
}

/// The next argument is a map of a matrix at that address, which the grid before may still use.
fn mapped<'t, 'p>(trial: &'t mut Trial<'p>, at: u64, matrix: Matrix) -> &'t mut Trial<'p> {
    let map = matrix.at(std::ptr::without_provenance(at as usize)).encode().expect("its rules hold");
    trial.memory_shared_with_grid_before(at).value(&map.bytes())
}

fn of_parity(trial: &mut Trial<'_>, name: &str) {
    let row = PARITY.iter().find(|(kernel, ..)| *kernel == name);
    let (_, blocks, threads, arguments) = row.unwrap_or_else(|| panic!("{name} has no launch"));
    trial.grid([blocks[0], blocks[1], 1]).block([threads[0], threads[1], 1]);
    for argument in arguments.split(' ') {
        let (word, number) = argument.split_once(':').expect("a word and a number");
        let number: u64 = number.parse().expect("a number");
        let numbers = || (0..number).map(|at| (at * at % 61) as u8).collect::<Vec<u8>>();
        let added = match word {
            "out" => trial.unwritten(number as usize),
            "zeros" => trial.buffer(&vec![0; number as usize]),
            "in" => trial.buffer(&numbers()),
            "f32" => Ok(trial.value(&(number as f32).to_le_bytes())),
            "u32" => Ok(trial.value(&(number as u32).to_le_bytes())),
            "u64" => Ok(trial.value(&number.to_le_bytes())),
            _ => panic!("{name}: there is no argument {word}"),
        };
        added.expect("a little memory");
    }
}
