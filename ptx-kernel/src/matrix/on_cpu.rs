//! What the instructions mean on a CPU, where the lanes of a warp take turns.

use ptx_intrinsics::on_cpu::matrix::{Operand, Product, ROW, Rows};

use super::fragment::Register;
use crate::WARP_SIZE;
use crate::cpu::exchange_while;

const LANES: usize = WARP_SIZE as usize;

/// The fragments of one lane.
struct Own {
    a: [u64; 8],
    b: [u64; 4],
    c: [u64; 8],
}

fn words(ptx: &str) -> Vec<&str> {
    ptx.split('.').collect()
}

/// What the lanes bring, all of which have to be there.
fn all(name: &str, lanes: [Option<u64>; LANES]) -> [u64; LANES] {
    lanes.map(|lane| lane.unwrap_or_else(|| panic!("`{name}` needs all 32 lanes of the warp, and some have ended")))
}

fn bits<R: Register, const IN: usize, const N: usize>(fragment: [R; IN]) -> [u64; N] {
    std::array::from_fn(|at| fragment.get(at).map_or(0, |register| register.bits()))
}

pub(super) fn multiply<
    A: Register,
    B: Register,
    C: Register,
    D: Register,
    const IN_A: usize,
    const IN_B: usize,
    const IN_C: usize,
    const IN_D: usize,
>(
    name: &'static str,
    ptx: &str,
    a: [A; IN_A],
    b: [B; IN_B],
    c: [C; IN_C],
) -> [D; IN_D] {
    let product = Product::parse(&words(ptx)).expect("the table has what is known");
    let own = Own { a: bits(a), b: bits(b), c: bits(c) };
    let values = exchange_while(name, u32::MAX, (&raw const own) as u64, |lanes| {
        // SAFETY: each lane brings its own fragments, and stays here until all have read them.
        let lanes = all(name, lanes).map(|lane| unsafe { &*(lane as *const Own) });
        let register = |operand, lane: usize, number: usize| match operand {
            Operand::A => lanes[lane].a[number],
            Operand::B => lanes[lane].b[number],
            _ => lanes[lane].c[number],
        };
        product.result(std::iter::once(crate::lane_id() as usize), register, f64::mul_add).concat()
    });
    std::array::from_fn(|at| D::of_bits(values[at]))
}

/// The number of the matrix and of its row that a lane names.
fn named(rows: &Rows, lane: usize) -> Option<(usize, usize)> {
    (lane < rows.matrices * rows.of_matrix()).then(|| (lane / rows.of_matrix(), lane % rows.of_matrix()))
}

fn check(name: &str, row: u64) {
    assert!(row.is_multiple_of(ROW as u64), "`{name}`: a row is at {row:#x}, and has to be aligned to {ROW} bytes");
}

pub(super) fn load<const N: usize>(name: &'static str, ptx: &str, row: *const u8) -> [u32; N] {
    let rows = Rows::parse(&words(ptx)).expect("the table has what is known");
    let lane = crate::lane_id() as usize;
    exchange_while(name, u32::MAX, row as u64, |lanes| {
        let lanes = all(name, lanes);
        std::array::from_fn(|number| {
            let (matrix, register) = (number / rows.registers(), number % rows.registers());
            u32::from_le_bytes(std::array::from_fn(|at| {
                let (row, byte) = rows.place(lane, register, at);
                let row = lanes[rows.of_matrix() * matrix + row];
                check(name, row);
                // SAFETY: the caller's promise: 16 bytes are there.
                rows.unpacked(unsafe { (row as *const [u8; ROW]).read() })[byte]
            }))
        })
    })
}

pub(super) fn store<const N: usize>(name: &'static str, ptx: &str, row: *mut u8, value: [u32; N]) {
    let rows = Rows::parse(&words(ptx)).expect("the table has what is known");
    let own = crate::lane_id() as usize;
    exchange_while(name, u32::MAX, (&raw const value) as u64, |lanes| {
        // SAFETY: each lane brings its own registers, and stays here until all have read them.
        let lanes = all(name, lanes).map(|lane| unsafe { &*(lane as *const [u32; N]) });
        let Some((matrix, own)) = named(&rows, own) else { return };
        check(name, row as u64);
        for (lane, registers) in lanes.into_iter().enumerate() {
            for (at, value) in registers[matrix].to_le_bytes().into_iter().enumerate() {
                let (to, byte) = rows.place(lane, 0, at);
                if to == own {
                    // SAFETY: the caller's promise: 16 bytes are there.
                    unsafe { row.add(byte).write(value) };
                }
            }
        }
    });
}
