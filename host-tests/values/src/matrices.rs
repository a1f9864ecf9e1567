//! `mma.sync`: kernels whose types the opcode says, and matrices for them.

use ptx_intrinsics::on_cpu::matrix::Operand;

use crate::case::{Case, Judge};
use crate::name::name_of;
use crate::product::{KINDS, Product};
use crate::random::Random;
use crate::types::Type;

/// The kernel of an opcode. Its operands are the registers of A, B and C, in this order.
pub(crate) fn case(opcode: &str) -> Case {
    let product = Product::of(opcode).unwrap_or_else(|| panic!("{opcode} is no product of matrices"));
    let count = |operand| product.layout.registers(operand);
    let names = |letter, first: usize, count: usize| {
        let names: Vec<String> = (first..first + count).map(|at| format!("%{letter}{at}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let [a, b, c, d] = [Operand::A, Operand::B, Operand::C, Operand::D].map(count);
    let operands = [names('d', 0, d), names('a', 0, a), names('a', a, b), names('a', a + b, c)];
    let register = Type::parse(if product.factor() == "f64" { "b64" } else { "b32" }).expect("a type");
    let to = product.to;
    Case {
        name: name_of(opcode),
        body: format!("{opcode} {};", operands.join(", ")),
        results: vec![to; d],
        operands: vec![register; a + b + c],
        judge: Judge::Products(Box::new(product)),
        is_specific: false,
        has_room: false,
    }
}

/// The registers of whole warps, each with matrices of a kind.
pub(crate) fn input(product: &Product, threads: usize, random: &mut Random) -> Vec<u64> {
    let mut input = Vec::new();
    for thread in 0..threads {
        for operand in [Operand::A, Operand::B, Operand::C] {
            let registers = product.layout.registers(operand);
            input.extend((0..registers).map(|_| product.drawn(operand, thread / 32 % KINDS, random)));
        }
    }
    input
}
