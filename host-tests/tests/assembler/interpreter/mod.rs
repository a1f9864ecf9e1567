//! The interpreter's instructions: those that the assembler accepts are those that it knows, and each computes what Rust's
//! own arithmetic does.

mod control;
mod floats;
mod numbers;
mod patterns;
mod reference;

use host_tests::check::here::tools;
use std::collections::BTreeSet;
use std::fmt::Write;

use host_tests::tools::ptxas::Assembler;
use patterns::{Instruction, Register, instructions};
use ptx_interpreter::{Launch, Outside, Program};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reference::reference;

/// Samples of each instruction: a thread for each.
const SAMPLES: usize = 256;

const HEADER: &str = ".version 9.0\n.target sm_121\n.address_size 64\n";

fn assembler() -> Assembler {
    Assembler::new(&tools().ptxas)
}

/// Which of these instructions the assembler accepts.
fn accepted(all: &[Instruction]) -> Vec<bool> {
    let mut text = format!("{HEADER}.visible .entry all() {{ {}\n", patterns::REGISTERS);
    for instruction in all {
        writeln!(text, "{}", instruction.line()).unwrap();
    }
    text += "ret; }\n";
    let refused: BTreeSet<u32> = assembler().refused_lines(&text).unwrap().into_iter().collect();
    (5..).take(all.len()).map(|line| !refused.contains(&line)).collect()
}

/// A kernel whose threads each do it once: operands come in 64 bytes, results go to 32.
fn kernel(number: usize, instruction: &Instruction) -> String {
    let mut text = format!(
        ".visible .entry k{number}(.param .u64 from, .param .u64 to) {{ {}\n\
         mov.u32 %t, %tid.x; ld.param.u64 %from, [from]; ld.param.u64 %to, [to];\n\
         mul.wide.u32 %at, %t, 64; add.s64 %from, %from, %at;\n\
         mul.wide.u32 %at, %t, 32; add.s64 %to, %to, %at;\n",
        patterns::REGISTERS
    );
    for (at, register) in instruction.from.iter().enumerate() {
        let (name, place) = (register.name('s', at), 8 * at);
        match register {
            Register::Predicate => {
                writeln!(text, "ld.global.u8 %t, [%from+{place}]; setp.ne.u32 {name}, %t, 0;").unwrap()
            }
            Register::Immediate => {}
            register => writeln!(text, "ld.global.b{} {name}, [%from+{place}];", register.bits()).unwrap(),
        }
    }
    // The carry that comes in is a bit too, and what goes out is a result.
    text += "ld.global.u32 %t, [%from+56]; add.cc.u32 %t, %t, -1;\n";
    writeln!(text, "{}", instruction.line()).unwrap();
    text += "addc.u32 %t, 0, 0; st.global.u32 [%to+24], %t;\n";
    for (at, register) in instruction.to.iter().enumerate() {
        let (name, place) = (register.name('d', at), 8 * at);
        match register {
            Register::Predicate => {
                writeln!(text, "selp.b64 %at, 1, 0, {name}; st.global.b64 [%to+{place}], %at;").unwrap();
            }
            register => writeln!(text, "st.global.b{} [%to+{place}], {name};", register.bits()).unwrap(),
        }
    }
    text + "ret; }\n"
}

/// Numbers in which something happens, and others.
fn sample(random: &mut StdRng) -> u64 {
    const EDGES: [u64; 26] = [
        0,
        1,
        2,
        7,
        8,
        31,
        32,
        33,
        63,
        64,
        255,
        0x7f,
        0x80,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        u64::MAX,
        // Floats: 1 and -1 of each width, infinity, no number.
        0x3f80_0000_3c00_3c00,
        0xbf80_0000_bc00_bc00,
        0x7ff0_0000_7f80_0000,
        0x7ff8_0000_7fc0_0000,
    ];
    match random.random_range(0..8) {
        0 | 1 => EDGES[random.random_range(0..EDGES.len())],
        2 => random.random::<u64>() & 0xffff,
        // A float of 64, 32 or 16 bits, of a size near 1.
        3 => 0x3f00_0000_0000_0000 | random.random::<u64>() & 0x80ff_ffff_ffff_ffff,
        4 => 0x3e00_0000 | random.random::<u64>() & 0x81ff_ffff,
        5 => 0x3800_3800_3800_3800 | random.random::<u64>() & 0x87ff_87ff_87ff_87ff,
        6 => random.random_range(0..300u64) as i64 as u64,
        _ => random.random(),
    }
}

#[test]
fn the_assembler_accepts_what_the_interpreter_knows() {
    let all = instructions();
    let accepted = accepted(&all);
    let known = |instruction: &Instruction| ptx_interpreter::computes(&instruction.opcode);
    let differ = |is_accepted: bool| -> Vec<&str> {
        let pairs =
            all.iter().zip(&accepted).filter(|(one, accepted)| **accepted == is_accepted && known(one) != **accepted);
        pairs.map(|(one, _)| one.opcode.as_str()).collect()
    };
    let (lacking, invented) = (differ(true), differ(false));
    assert!(lacking.is_empty(), "{} that the assembler has and the interpreter lacks: {lacking:?}", lacking.len());
    assert!(invented.is_empty(), "{} that only the interpreter has: {invented:?}", invented.len());
    let count = accepted.iter().filter(|accepted| **accepted).count();
    println!("{} spellings asked, {count} accepted and known", all.len());
    assert!((all.len(), count) >= (patterns::ASKED, patterns::ACCEPTED), "only {count} of {}", all.len());
}

#[test]
fn every_instruction_computes_what_rust_does() {
    let seed = host_tests::check::forms_check::seed().unwrap();
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let all: Vec<Instruction> =
        instructions().into_iter().filter(|one| ptx_interpreter::computes(&one.opcode)).collect();
    let text: String = all.iter().enumerate().map(|(number, one)| kernel(number, one)).collect();
    let program = Program::parse(&(HEADER.to_owned() + &text));
    assert_eq!(program.gaps(), BTreeSet::new());
    let (mut compared, mut wrong) = (0, Vec::new());
    for (number, instruction) in all.iter().enumerate() {
        let from: Vec<[u64; 8]> = (0..SAMPLES)
            .map(|_| {
                let mut operands = [(); 8].map(|()| sample(&mut random));
                operands[7] &= 1;
                operands
            })
            .collect();
        let to = vec![[0xa5a5_a5a5_a5a5_a5a5u64; 4]; SAMPLES];
        let (from_place, to_place) = (from.as_ptr() as u64, to.as_ptr() as u64);
        let pieces = [(from_place, 64 * SAMPLES), (to_place, 32 * SAMPLES)];
        let holds = |start: u64, bytes: usize| {
            pieces.iter().any(|(at, length)| *at <= start && start + bytes as u64 <= at + *length as u64)
        };
        let outside = Outside { holds: &holds, variable: &|_| None };
        let arguments = [&raw const from_place, &raw const to_place].map(|place| place.cast::<u8>());
        let name = format!("k{number}");
        let launch = Launch { threads: [SAMPLES as u32, 1, 1], ..Launch::new(&name, &arguments) };
        // SAFETY: two pointers are as long as the parameters, and the pieces are held by the vectors.
        unsafe { program.run(&outside, &launch) }.unwrap_or_else(|stop| panic!("{}: {stop}", instruction.opcode));
        let found = std::hint::black_box(&to);
        for (operands, found) in from.iter().zip(found) {
            let Some(expected) = reference(instruction, operands) else { continue };
            compared += 1;
            if let Some(at) = expected.differs(instruction, found) {
                let line = instruction.line();
                wrong.push(format!("{line} of {operands:x?}: result {at} is {:#x}, expected {expected:x?}", found[at]));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    println!("{} instructions, {compared} results compared", all.len());
    assert!(all.len() >= patterns::ACCEPTED && compared > 100 * all.len(), "{} and {compared}", all.len());
}
