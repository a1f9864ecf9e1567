//! Runs PTX on a CPU, for tests: what a kernel computes and where its control flow goes, not how long it takes.
//!
//! Threads take turns, a few instructions each, in an order that a seed makes; so blocks can wait for each other, and
//! warps for what other threads write. Memory is sequentially consistent. A state space has addresses of its own: an
//! access that forgets to convert its address goes astray, and an access outside of every piece of memory is an error.
//! Copies are done when somebody waits for them, and what goes to another block arrives later.
//!
//! An instruction that the interpreter does not know is a [gap](Why::Gap) of the interpreter, and no fault of the kernel.

mod alu;
mod asynchronous;
mod code;
mod compare;
mod control;
mod convert;
mod float;
mod integer;
mod logic;
mod machine;
mod memory;
mod text;
mod warp;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Mutex;

use code::{Code, Step};

/// Why a launch ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The interpreter does not know an instruction.
    Gap,
    /// An address was not as aligned as its access.
    Misaligned,
    /// An access where there is no memory.
    Astray,
    /// The kernel executed `trap`.
    Trap,
    /// The kernel took more instructions than [`Launch::steps`], or all of its threads wait.
    Endless,
    /// The kernel is no PTX, or is launched as it must not be.
    Wrong,
}

/// What ended a launch early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Of what kind it is.
    pub why: Why,
    /// In words: what, and at which instruction of which function.
    pub text: String,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Stop {}

pub(crate) type Result<T> = std::result::Result<T, Stop>;

pub(crate) fn stop<T>(why: Why, text: impl Into<String>) -> Result<T> {
    Err(Stop { why, text: text.into() })
}

pub(crate) fn wrong(text: impl Into<String>) -> Stop {
    Stop { why: Why::Wrong, text: text.into() }
}

/// A module, ready to run.
pub struct Program {
    functions: HashMap<String, Code>,
    /// Bytes of the variables in shared memory.
    shared: usize,
    /// The variables in the constant bank: names, places in `module`, bytes.
    constants: Vec<(String, u64, u64)>,
    /// The variables that the module fills, from [`MODULE`] on.
    module: Mutex<Vec<u8>>,
}

/// Where a variable is whose content the module brings along.
pub(crate) const MODULE: u64 = 0x4000_0000_0000_0000;

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Its name.
    pub kernel: &'a str,
    /// Blocks in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Where each argument is.
    pub arguments: &'a [*const u8],
    /// Bytes of shared memory besides those of the module's variables.
    pub shared: usize,
    /// Blocks of a cluster, in x, where the kernel does not say it itself.
    pub cluster: u32,
    /// Makes the order in which threads take turns.
    pub seed: u64,
    /// Instructions that all threads together may take.
    pub steps: u64,
}

impl<'a> Launch<'a> {
    /// A launch of one block of 32 threads.
    pub fn new(kernel: &'a str, arguments: &'a [*const u8]) -> Launch<'a> {
        Launch {
            kernel,
            blocks: [1; 3],
            threads: [32, 1, 1],
            arguments,
            shared: 0,
            cluster: 1,
            seed: 0,
            steps: 1 << 30,
        }
    }
}

/// The memory outside of the kernel.
pub struct Outside<'a> {
    /// Whether so many bytes at an address are the GPU's to use.
    pub holds: &'a dyn Fn(u64, usize) -> bool,
    /// Where a variable of the module is, if the host has asked for it; where the constant bank begins for the empty name.
    pub variable: &'a dyn Fn(&str) -> Option<u64>,
}

impl Program {
    /// Reads a module.
    pub fn parse(module: &str) -> Program {
        let (variables, functions) = text::module(module);
        let (mut shared, mut content, mut places) = (0usize, Vec::new(), HashMap::new());
        let mut constants = Vec::new();
        for variable in largest_of_a_name(variables) {
            let place = if variable.space == "shared" {
                let at = shared.next_multiple_of(variable.align.max(1));
                shared = at + variable.bytes;
                code::Place::Shared(at as u64)
            } else {
                let at = content.len().next_multiple_of(variable.align.max(16));
                content.resize(at, 0);
                content.extend_from_slice(&variable.content);
                content.resize(at + variable.bytes, 0);
                let constant = variable.space == "const";
                if constant {
                    constants.push((variable.name.clone(), at as u64, variable.bytes as u64));
                }
                code::Place::Variable { name: variable.name.clone(), constant, at: at as u64 }
            };
            places.insert(variable.name, place);
        }
        let mut codes = HashMap::new();
        for function in functions {
            let code = Code::new(&function, &places, &mut shared);
            codes.insert(function.name, code);
        }
        Program { functions: codes, shared, constants, module: Mutex::new(content) }
    }

    /// The instructions of the module that the interpreter does not know.
    pub fn gaps(&self) -> BTreeSet<String> {
        let lines = self.functions.values().flat_map(|code| &code.lines);
        lines
            .filter_map(|line| if let Step::Unknown(opcode) = &line.step { Some(opcode.clone()) } else { None })
            .collect()
    }

    /// How many parameters a kernel has, if there is a kernel of that name.
    pub fn parameters(&self, kernel: &str) -> Option<usize> {
        self.functions.get(kernel).map(|code| code.parameters.len())
    }

    /// Runs a launch to its end.
    ///
    /// # Safety
    /// The arguments are as long as the kernel's parameters. Memory that `outside` holds may be read and written.
    pub unsafe fn run(&self, outside: &Outside<'_>, launch: &Launch<'_>) -> std::result::Result<(), Stop> {
        let mut machine = machine::Machine::new(self, outside, launch)?;
        machine.run().map_err(|stop| Stop { text: format!("{}: {}", launch.kernel, stop.text), ..stop })
    }
}

/// Of texts put together, each of which declares a variable as large as its own kernels need it, the largest counts.
fn largest_of_a_name(variables: Vec<text::Variable>) -> Vec<text::Variable> {
    let mut largest: Vec<text::Variable> = Vec::new();
    for variable in variables {
        match largest.iter_mut().find(|other| other.name == variable.name) {
            None => largest.push(variable),
            Some(other) if other.bytes < variable.bytes => *other = variable,
            Some(_) => {}
        }
    }
    largest
}

/// Whether the interpreter knows an instruction that only computes.
pub fn computes(opcode: &str) -> bool {
    alu::alu(opcode).is_some()
}
