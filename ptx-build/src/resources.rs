//! What a kernel takes of a multiprocessor, and what of it goes through local memory.

use std::collections::BTreeSet;

use crate::ptx::{Function, Module};

/// What the assembler says that a kernel takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Its name.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block, without those that the launch adds.
    pub shared: u32,
    /// Bytes of local memory of a thread: its arrays that are in no registers, and what it spills.
    pub stack: u32,
    /// Bytes stored to local memory and loaded from it for want of registers.
    pub spilled: u32,
}

impl Resources {
    /// Reads what `ptxas -v` prints.
    pub fn read(printed: &str) -> Vec<Resources> {
        let number = |text: &str, before: &str| -> Option<u32> {
            text.split(before).next()?.rsplit([' ', ',']).find(|word| !word.is_empty())?.parse().ok()
        };
        let of = |line: &str, what: &str| if line.contains(what) { number(line, what).unwrap_or(0) } else { 0 };
        let (mut all, mut open) = (Vec::new(), None);
        for line in printed.lines() {
            if let Some((_, name)) = line.split_once("Compiling entry function '") {
                let kernel = name.split('\'').next().unwrap_or_default().to_owned();
                open = Some(Resources { kernel, ..Resources::default() });
            } else if let Some(kernel) = open.as_mut().filter(|_| line.contains(" bytes stack frame")) {
                kernel.stack = of(line, " bytes stack frame");
                kernel.spilled = of(line, " bytes spill stores") + of(line, " bytes spill loads");
            } else if line.contains(": Used ") {
                let registers = number(line, " registers");
                let used = open.take().zip(registers);
                all.extend(used.map(|(kernel, registers)| Resources {
                    registers,
                    shared: of(line, " bytes smem"),
                    ..kernel
                }));
            }
        }
        all
    }

    /// Its registers, and what it spills.
    pub(crate) fn message(&self) -> String {
        let Resources { kernel, registers, spilled, .. } = self;
        match spilled {
            0 => format!("{kernel} has {registers} registers"),
            _ => format!(
                "{kernel} has {registers} registers and spills: {spilled} bytes go through local memory; give it fewer \
                 threads by #[launch_bounds], or less to hold at once"
            ),
        }
    }
}

/// Bytes of a kernel's arrays that are in local memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kernel: String,
    pub(crate) bytes: u32,
}

impl Frame {
    /// The kernels of a module whose PTX keeps arrays in local memory. The assembler may still remove them.
    pub(crate) fn of_module(module: &Module) -> Vec<Frame> {
        let entries = module.functions.iter().filter(|function| function.is_entry);
        let frames = entries.map(|entry| {
            let bytes = reached(module, entry).into_iter().map(depot).sum();
            Frame { kernel: entry.name.clone(), bytes }
        });
        frames.filter(|frame| frame.bytes > 0).collect()
    }

    /// What is left of these frames in machine code.
    pub(crate) fn assembled(self, kernels: &[Resources]) -> Option<Frame> {
        let kernel = kernels.iter().find(|one| one.kernel == self.kernel)?;
        Some(Frame { bytes: kernel.stack, ..self }).filter(|frame| frame.bytes > 0)
    }

    pub(crate) fn message(&self) -> String {
        let Frame { kernel, bytes } = self;
        format!(
            "{kernel} has a stack frame of {bytes} bytes: an array goes through local memory, because something indexes it by a \
             number that is no constant; write the loop with unroll! of ptx-kernel, or keep the array in shared memory"
        )
    }
}

/// A function, and those that it calls. What `core` does before a panic is nobody's hot path.
fn reached<'m>(module: &'m Module, from: &'m Function) -> Vec<&'m Function> {
    let (mut names, mut all, mut open) = (BTreeSet::from([from.name.as_str()]), Vec::new(), vec![from]);
    while let Some(function) = open.pop() {
        let calls = function.body.iter().filter(|line| line.text.contains("call"));
        let called = calls.flat_map(|line| line.text.split([' ', '\t', ',', ';', '(', ')']));
        let called = called.filter_map(|word| module.function(word).filter(|one| !is_core(one)));
        open.extend(called.filter(|one| names.insert(&one.name)));
        all.push(function);
    }
    all
}

fn is_core(function: &Function) -> bool {
    let name = function.demangled();
    name.trim_start_matches('<').starts_with("core::")
}

/// The bytes that a function keeps in local memory.
fn depot(function: &Function) -> u32 {
    let bytes = |text: &str| text.strip_prefix(".local ")?.split_once('[')?.1.split(']').next()?.parse::<u32>().ok();
    function.body.iter().filter_map(|line| bytes(&line.text)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembler_says_what_a_kernel_takes() {
        let printed = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'copy' for 'sm_80'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 376 bytes cmem[0]
ptxas info    : Compile time = 4.1 ms
ptxas info    : Function properties for called
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'big' for 'sm_80'
ptxas info    : Function properties for big
    96 bytes stack frame, 100 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 96 bytes cumulative stack size, 128 bytes smem, 376 bytes cmem[0]
";
        let of = |kernel: &str, numbers: [u32; 4]| {
            let ([registers, shared, stack, spilled], kernel) = (numbers, kernel.to_owned());
            Resources { kernel, registers, shared, stack, spilled }
        };
        let [copy, big] = [of("copy", [24, 0, 0, 0]), of("big", [255, 128, 96, 128])];
        assert_eq!(Resources::read(printed), [copy.clone(), big]);
        assert_eq!(copy.message(), "copy has 24 registers");
    }

    const MODULE: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry plain()
{
	.reg .b32 	%r<2>;
	ret;
}
.func _RNvCs1234_7kernels4held()
{
	.local .align 16 .b8 	__local_depot1[64];
	call.uni _RNvCs1234_7kernels4held, ();
	ret;
}
.func _RNvNtCs1234_4core9panicking5panic()
{
	.local .align 8 .b8 	__local_depot2[48];
	trap;
}
.visible .entry holds(
	.param .u64 p
)
{
	.local .align 16 .b8 	__local_depot3[256];
	.reg .b32 	%r<2>;
	{ // callseq 0, 0
	call.uni _RNvCs1234_7kernels4held, ();
	} // callseq 0
	call.uni _RNvNtCs1234_4core9panicking5panic, ();
	ret;
}
.visible .entry calls()
{
	call.uni _RNvCs1234_7kernels4held, ();
	call.uni _RNvNtCs1234_4core9panicking5panic, ();
	ret;
}
";

    #[test]
    fn arrays_in_local_memory_are_found_in_ptx() {
        let module = Module::parse(MODULE).expect("a module");
        let of = |kernel: &str, bytes| Frame { kernel: kernel.to_owned(), bytes };
        let frames = Frame::of_module(&module);
        assert_eq!(frames, [of("holds", 320), of("calls", 64)]);
        // The assembler knows better: it keeps the one in registers, and puts what it spills to the other.
        let kernel = |kernel: &str, stack| Resources { kernel: kernel.to_owned(), stack, ..Resources::default() };
        let kernels = [kernel("plain", 8), kernel("holds", 272), kernel("calls", 0)];
        let left: Vec<Frame> = frames.into_iter().filter_map(|frame| frame.assembled(&kernels)).collect();
        assert_eq!(left, [of("holds", 272)]);
    }
}
