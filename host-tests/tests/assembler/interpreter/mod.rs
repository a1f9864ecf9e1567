//! The interpreter's instructions that only compute: those that the assembler accepts are those that it knows. What each gives is
//! compared in `host-tests/values`.

mod patterns;

use std::collections::BTreeSet;
use std::fmt::Write;

use host_tests::check::here::tools;
use host_tests::tools::ptxas::Assembler;
use patterns::{Instruction, instructions};

const HEADER: &str = ".version 9.0\n.target sm_121\n.address_size 64\n";

/// Which of these instructions the assembler accepts.
fn accepted(all: &[Instruction]) -> Vec<bool> {
    let mut text = format!("{HEADER}.visible .entry all() {{ {}\n", patterns::REGISTERS);
    for instruction in all {
        writeln!(text, "{}", instruction.line()).unwrap();
    }
    text += "ret; }\n";
    let refused: BTreeSet<u32> = Assembler::new(&tools().ptxas).refused_lines(&text).unwrap().into_iter().collect();
    (5..).take(all.len()).map(|line| !refused.contains(&line)).collect()
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
