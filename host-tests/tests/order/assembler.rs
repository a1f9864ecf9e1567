//! What `ptxas` makes of each order: the machine instruction says its scope, an acquire invalidates L1 behind it, a
//! release waits before it. And what it loses, the types refuse: these tests notice when it is mended.

use std::fmt::Write;

use host_tests::nvdisasm::{Disassembler, SassFunction};
use host_tests::ptxas::Assembler;
use host_tests::target::Sm;
use ptx_intrinsics::catalogue::{self, Form};
use rayon::prelude::*;

use crate::tools;

/// One of each generation: those between have the same machine code.
const SMS: [u32; 5] = [75, 80, 90, 100, 120];

/// The types whose forms are assembled: of 32, 128 and 256 bits. Types of one width are the same instruction.
const ELEMENTS: [&str; 4] = ["u32", "V4<u32>", "B128", "V8<u32>"];

/// Hints that stand in other fields of the instruction: one prefetch size stands for all.
const LEFT_OUT: [&str; 3] = ["cache_hint", "L2::64B", "L2::256B"];

/// The machine code of an access in a kernel of its own, without the accesses that feed it.
fn sass(sm: u32, accesses: &[String]) -> Vec<SassFunction> {
    let mut module = format!(".version 9.1\n.target sm_{sm}\n.address_size 64\n");
    for (number, access) in accesses.iter().enumerate() {
        kernel(&mut module, number, access);
    }
    let scratch = tempfile::tempdir().expect("a folder for scratch");
    let cubin = scratch.path().join("order.cubin");
    let assembler = Assembler::new(&tools().ptxas);
    let assembled = assembler.assemble_text(&module, Sm::new(sm), &cubin).unwrap_or_else(|error| panic!("{error}"));
    let cubin = assembled.unwrap_or_else(|rejected| panic!("{rejected}"));
    let disassembler = Disassembler::new(&tools().nvdisasm);
    disassembler.disassemble(&cubin.path).unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel around the access, whose value comes from the kernel's parameters or goes to shared memory, so that no
/// other access to global memory is in it.
fn kernel(module: &mut String, number: usize, access: &str) {
    let (bits, lanes) = shape(access);
    let registers: Vec<String> = (0..lanes).map(|lane| format!("d{lane}")).collect();
    let value = if lanes == 1 { "d0".into() } else { format!("{{{}}}", registers.join(", ")) };
    let policy = if access.contains("cache_hint") { ", policy" } else { "" };
    let is_load = access.starts_with("ld.");
    let operands = if is_load { format!("{value}, [p]{policy}") } else { format!("[p], {value}{policy}") };
    let mut moved = String::new();
    for (lane, register) in registers.iter().enumerate() {
        let offset = lane * bits / 8;
        moved += &if is_load {
            format!("st.shared.b{bits} [buffer+{offset}], {register};\n")
        } else {
            format!("ld.param.b{bits} {register}, [values+{offset}];\n")
        };
    }
    let (before, after) = if is_load { ("", moved.as_str()) } else { (moved.as_str(), "") };
    writeln!(
        module,
        ".visible .entry k{number}(.param .u64 address, .param .u64 hint, .param .align 32 .b8 values[32])\n\
         {{\n.shared .align 32 .b8 buffer[32];\n.reg .u64 p, policy;\n.reg .b{bits} d<{lanes}>;\n\
         ld.param.u64 p, [address];\nld.param.u64 policy, [hint];\n{before}{access} {operands};\n{after}ret;\n}}"
    )
    .expect("a string takes all");
}

/// The bits of an element, and how many there are.
fn shape(access: &str) -> (usize, usize) {
    let words: Vec<&str> = access.split('.').collect();
    let bits = words.last().and_then(|ty| ty[1..].parse().ok()).expect("a type with its bits");
    let lanes = words.iter().find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
    (bits, lanes)
}

/// What is wrong with the machine code of an ordered access; nothing if it keeps its order.
fn loss(access: &str, sm: u32, function: &SassFunction) -> Option<String> {
    let opcodes: Vec<&str> = function.instructions.iter().map(|one| one.opcode.as_str()).collect();
    let says = |word: &str| access.split('.').any(|own| own == word);
    let is_load = says("ld");
    // Shared memory of a block has one copy: every access to it is strong, and nothing has to be invalidated.
    let own_shared = access.contains(".shared.");
    let kind = match (is_load, own_shared) {
        (true, true) => "LDS",
        (false, true) => "STS",
        (true, false) => "LD",
        (false, false) => "ST",
    };
    let own = |opcode: &&&str| {
        let name = opcode.split('.').next().unwrap_or_default();
        name == kind || !own_shared && name == format!("{kind}G")
    };
    let mut accesses = opcodes.iter().enumerate().filter(|(_, opcode)| own(opcode));
    let Some((at, opcode)) = accesses.next() else { return Some(format!("no {kind} in {opcodes:?}")) };
    let scopes: &[&str] = match () {
        () if own_shared => &[""],
        () if says("mmio") => &[".MMIO.SYS"],
        () if says("cta") && sm == 75 => &[".STRONG.CTA", ".STRONG.SYS"],
        () if says("cta") => &[".STRONG.SM"],
        () if says("cluster") => &[".STRONG.GPU"],
        // Turing has no priority under a narrower scope: the access is stronger than asked.
        () if says("gpu") => &[".STRONG.GPU", if sm == 75 { ".STRONG.SYS" } else { ".STRONG.GPU" }],
        () => &[".STRONG.SYS"],
    };
    if !scopes.iter().any(|scope| opcode.contains(scope)) {
        return Some(format!("{opcode} is not one of {scopes:?}"));
    }
    let beyond_the_block = says("gpu") || says("sys") || says("cluster");
    if says("acquire") && beyond_the_block && !own_shared && !opcodes[at..].contains(&"CCTL.IVALL") {
        return Some(format!("no CCTL.IVALL behind {opcode}"));
    }
    let waits = opcodes[..at].iter().any(|opcode| opcode.starts_with("MEMBAR"));
    (says("release") && !waits).then(|| format!("no MEMBAR before {opcode}"))
}

fn ordered(form: &Form) -> bool {
    let order = form.instruction().split('.').nth(1).unwrap_or_default();
    let moved = form.element().is_some_and(|element| ELEMENTS.contains(&element));
    // A volatile access to local memory is the thread's own: there is nobody to order it for.
    let local = form.space() == Some("local");
    moved && !local && ["volatile", "relaxed", "acquire", "release", "mmio"].contains(&order)
}

#[test]
fn each_order_is_in_the_machine_code() {
    let forms: Vec<Form> = catalogue::forms()
        .filter(ordered)
        .filter(|form| !LEFT_OUT.iter().any(|hint| form.ptx().contains(hint)))
        .collect();
    let looked_at = SMS.map(|sm| (sm, keep_their_order(sm, &forms)));
    assert_eq!(looked_at, LOOKED_AT);
}

/// Asserts it of all that this GPU has, and gives how many those are.
fn keep_their_order(sm: u32, forms: &[Form]) -> usize {
    let accesses: Vec<String> =
        forms.iter().filter(|form| form.min_sm() <= sm).map(|form| form.ptx().to_owned()).collect();
    let looked_at = accesses.par_chunks(250).map(|part| {
        let functions = sass(sm, part);
        for function in &functions {
            let access = &part[number(function)];
            assert_eq!(loss(access, sm, function), None, "{access} on sm_{sm}");
        }
        functions.len()
    });
    looked_at.sum()
}

const LOOKED_AT: [(u32, usize); 5] = [(75, 680), (80, 680), (90, 950), (100, 1468), (120, 1468)];

fn number(function: &SassFunction) -> usize {
    function.name.strip_prefix('k').and_then(|number| number.parse().ok()).expect("a kernel's number")
}

/// What the types refuse since the assembler loses its order. If one of these keeps it, the types may take it, from
/// that assembler on.
#[test]
fn what_is_refused_still_loses_its_order() {
    let mut looked_at = 0;
    for sm in SMS {
        let refused = refused(sm);
        for function in sass(sm, &refused) {
            let access = &refused[number(&function)];
            let lost = loss(access, sm, &function);
            assert!(lost.is_some(), "{access} keeps its order on sm_{sm} with this assembler: see whether to allow it");
            assert!(catalogue::forms().all(|form| form.ptx() != access), "{access} is in the catalogue, and {lost:?}");
            looked_at += 1;
        }
    }
    assert_eq!(looked_at, 46);
}

fn refused(sm: u32) -> Vec<String> {
    let mut refused = Vec::new();
    for scope in ["cta", "cluster", "gpu", "sys"] {
        if sm >= 90 || scope != "cluster" {
            refused.push(format!("ld.relaxed.{scope}.global.L1::evict_first.u32"));
        }
        for ty in ["v8.b32", "v4.b64"].into_iter().filter(|_| sm >= 100) {
            // The block's own order needs no invalidation.
            refused.extend((scope != "cta").then(|| format!("ld.acquire.{scope}.global.{ty}")));
            refused.push(format!("st.release.{scope}.global.{ty}"));
        }
    }
    refused
}
