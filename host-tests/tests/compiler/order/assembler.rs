//! What `ptxas` makes of each order: the machine instruction says its scope, an acquire invalidates L1 after it, a
//! release waits before it. And what it loses, the types refuse: these tests notice when it is fixed.

use std::collections::HashSet;

use host_tests::check::sass::{MachineCode, Reader};
use host_tests::tools::target::Sm;
use ptx_intrinsics::catalogue::{self, Form};
use rand::seq::IndexedRandom;

use host_tests::check::here::tools;
use host_tests::check::{forms_check, whole};

/// One of each generation: those between have the same machine code.
const SMS: [u32; 5] = [75, 80, 90, 100, 120];

/// The types whose forms are assembled: of 32, 128 and 256 bits. Types of one width are the same instruction.
const ELEMENTS: [&str; 4] = ["u32", "V4<u32>", "B128", "V8<u32>"];

/// Hints that are in other fields of the instruction: one prefetch size is taken for all.
const LEFT_OUT: [&str; 3] = ["cache_hint", "L2::64B", "L2::256B"];

/// The machine code of each access, in a kernel of its own.
fn machine_code(sm: u32, accesses: &[String]) -> Vec<MachineCode> {
    let accesses: Vec<&str> = accesses.iter().map(String::as_str).collect();
    Reader::new(tools()).alone(Sm::new(sm), &accesses).unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with the machine code of an ordered access; nothing if it keeps its order.
fn loss(access: &str, sm: u32, code: &MachineCode) -> Option<String> {
    let opcodes: Vec<&str> = code.opcodes.iter().map(String::as_str).collect();
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

/// What is wrong with the machine code of an ordered atomic; nothing if it keeps its order.
fn loss_of_atomic(access: &str, sm: u32, code: &MachineCode) -> Option<String> {
    let opcodes: Vec<&str> = code.opcodes.iter().map(String::as_str).collect();
    let says = |word: &str| access.split('.').any(|own| own == word);
    let own_shared = access.contains(".shared.");
    let changes = |opcode: &&str| {
        let name = opcode.split('.').next().unwrap_or_default();
        if own_shared { name == "ATOMS" } else { ["ATOM", "ATOMG", "RED", "REDG"].contains(&name) }
    };
    let Some(at) = opcodes.iter().position(changes) else { return Some(format!("no atomic in {opcodes:?}")) };
    let scope = match () {
        () if own_shared => "",
        () if says("cta") => {
            if sm == 75 {
                ".STRONG.CTA"
            } else {
                ".STRONG.SM"
            }
        }
        () if says("sys") => ".STRONG.SYS",
        () => ".STRONG.GPU",
    };
    if !opcodes[at].contains(scope) {
        return Some(format!("{} is not {scope}", opcodes[at]));
    }
    // Before there were clusters a block's shared memory was its own alone.
    let shared_alone = own_shared && sm < 90;
    let acquires = (says("acquire") || says("acq_rel")) && !says("cta") && !shared_alone;
    if acquires && !opcodes[at..].contains(&"CCTL.IVALL") {
        return Some(format!("no CCTL.IVALL behind {}", opcodes[at]));
    }
    let waits = opcodes[..at].iter().any(|opcode| opcode.starts_with("MEMBAR"));
    ((says("release") || says("acq_rel")) && !waits).then(|| format!("no MEMBAR before {}", opcodes[at]))
}

/// An atomic whose order can be seen: of each operation and type, without a policy.
fn ordered_atomic(form: &Form) -> bool {
    let ordered = [".relaxed.", ".acquire.", ".release.", ".acq_rel."].iter().any(|order| form.ptx().contains(order));
    form.is_atomic() && ordered && !form.takes_policy()
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
    for (sm, count) in drawn(&LOOKED_AT) {
        assert_eq!(keep_their_order(sm, &forms), count, "sm_{sm}");
    }
}

/// A GPU, drawn by the seed, and how much is looked at there.
fn drawn(all: &[(u32, usize)]) -> Vec<(u32, usize)> {
    let mut random = forms_check::random("the GPU is");
    all.sample(&mut random, whole::or(1)).copied().collect()
}

/// Asserts it of all that this GPU has, and gives how many those are.
fn keep_their_order(sm: u32, forms: &[Form]) -> usize {
    let accesses: Vec<String> =
        forms.iter().filter(|form| form.min_sm() <= sm).map(|form| form.ptx().to_owned()).collect();
    let codes = machine_code(sm, &accesses);
    for (access, code) in accesses.iter().zip(&codes) {
        assert_eq!(loss(access, sm, code), None, "{access} on sm_{sm}");
    }
    codes.len()
}

const LOOKED_AT: [(u32, usize); 5] = [(75, 680), (80, 680), (90, 950), (100, 1468), (120, 1468)];

#[test]
fn each_order_of_an_atomic_is_in_the_machine_code() {
    let forms: Vec<Form> = catalogue::forms().filter(ordered_atomic).collect();
    for (sm, count) in drawn(&ATOMICS_LOOKED_AT) {
        let there = forms.iter().filter(|form| form.min_sm() <= sm);
        // Words alike are the same machine code but for the type: each fifteenth one is taken for its neighbours.
        let accesses: Vec<String> = there.step_by(15).map(|form| form.ptx().to_owned()).collect();
        let codes = machine_code(sm, &accesses);
        for (access, code) in accesses.iter().zip(&codes) {
            assert_eq!(loss_of_atomic(access, sm, code), None, "{access} on sm_{sm}: {:?}", code.opcodes);
        }
        assert_eq!(codes.len(), count, "sm_{sm}");
    }
}

const ATOMICS_LOOKED_AT: [(u32, usize); 3] = [(75, 87), (90, 293), (120, 293)];

/// What is wrong with the machine code of an ordered `multimem`; nothing if it keeps its order. Loads are of the system, in any scope.
fn loss_of_multimem(access: &str, code: &MachineCode) -> Option<String> {
    let opcodes: Vec<&str> = code.opcodes.iter().map(String::as_str).collect();
    let says = |word: &str| access.split('.').any(|own| own == word);
    let names: &[&str] = match () {
        () if says("ld_reduce") => &["LDGMC"],
        () if says("st") => &["ST", "STG"],
        () => &["RED", "REDG"],
    };
    let is_access = |opcode: &&str| names.contains(&opcode.split('.').next().unwrap_or_default());
    let Some(at) = opcodes.iter().position(is_access) else { return Some(format!("no {names:?} in {opcodes:?}")) };
    let scope = match () {
        () if says("ld_reduce") || says("sys") => ".STRONG.SYS",
        () if says("cta") => ".STRONG.SM",
        () => ".STRONG.GPU",
    };
    if !opcodes[at].contains(scope) {
        return Some(format!("{} is not {scope}", opcodes[at]));
    }
    if says("acquire") && !opcodes[at..].contains(&"CCTL.IVALL") {
        return Some(format!("no CCTL.IVALL behind {}", opcodes[at]));
    }
    let waits = opcodes[..at].iter().any(|opcode| opcode.starts_with("MEMBAR"));
    (says("release") && !waits).then(|| format!("no MEMBAR before {}", opcodes[at]))
}

#[test]
fn each_order_of_a_multimem_is_in_the_machine_code() {
    let ordered = |form: &Form| {
        let words = [".relaxed.", ".acquire.", ".release."].iter().any(|order| form.ptx().contains(order));
        form.is_multimem() && words && form.targets().is_empty()
    };
    // Words alike are the same machine code but for the type: each eleventh one is taken for its neighbours.
    let accesses: Vec<String> =
        catalogue::forms().filter(ordered).step_by(11).map(|form| form.ptx().to_owned()).collect();
    for sm in [90, 100, 120] {
        for (access, code) in accesses.iter().zip(machine_code(sm, &accesses)) {
            assert_eq!(loss_of_multimem(access, &code), None, "{access} on sm_{sm}: {:?}", code.opcodes);
        }
    }
    assert_eq!(accesses.len(), 181);
}

/// What the types refuse since the assembler loses its order. If one of these keeps it, the types may take it, from
/// that assembler on.
#[test]
fn what_is_refused_still_loses_its_order() {
    let listed: HashSet<String> = catalogue::forms().map(|form| form.ptx().to_owned()).collect();
    let mut looked_at = 0;
    for sm in SMS {
        let refused = refused(sm);
        for (access, code) in refused.iter().zip(machine_code(sm, &refused)) {
            let atomic = access.starts_with("atom") || access.starts_with("red");
            let lost = if atomic { loss_of_atomic(access, sm, &code) } else { loss(access, sm, &code) };
            assert!(lost.is_some(), "{access} keeps its order on sm_{sm} with this assembler: see whether to allow it");
            assert!(!listed.contains(access), "{access} is in the catalogue, and {lost:?}");
            looked_at += 1;
        }
    }
    assert_eq!(looked_at, 211);
}

fn refused(sm: u32) -> Vec<String> {
    let mut refused = Vec::new();
    for scope in ["cta", "cluster", "gpu", "sys"] {
        if sm >= 90 || scope != "cluster" {
            refused.push(format!("ld.relaxed.{scope}.global.L1::evict_first.u32"));
        }
        // Loops in shared memory: they keep it where there are no clusters.
        for loop_of in ["add.f32", "add.u64", "add.noftz.f16x2", "and.b64", "min.s64"].into_iter().filter(|_| sm >= 90)
        {
            refused.extend((scope != "cta").then(|| format!("atom.acquire.{scope}.shared.{loop_of}")));
            refused.push(format!("atom.acq_rel.{scope}.shared.{loop_of}"));
            refused.push(format!("red.release.{scope}.shared.{loop_of}"));
        }
        for ty in ["v8.b32", "v4.b64"].into_iter().filter(|_| sm >= 100) {
            // The block's own order needs no invalidation.
            refused.extend((scope != "cta").then(|| format!("ld.acquire.{scope}.global.{ty}")));
            refused.push(format!("st.release.{scope}.global.{ty}"));
        }
    }
    refused
}
