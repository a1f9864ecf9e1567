//! `wgmma`: four warps multiply matrices that lie in shared memory. Each warp has 16 rows of the result.
//!
//! The result is in its registers at once: `ptxas` itself waits before an instruction that uses them too early, and says so. The
//! matrices in shared memory are in use until the wait, and so are the registers of A.

use ptx_intrinsics::on_cpu::matrix::{Meaningless, Operand as Of, Product, Sparse};

use super::mma_sparse::metadata_of_rows;
use super::together::{Together, collective, registers};
use crate::machine::group::Thread;
use crate::machine::stop::{Result, missing, wrong};
use crate::machine::{Machine, Step};
use crate::memory::descriptor::Matrix;
use crate::memory::units::Units;
use crate::ptx::operand::Operand;

/// Rows of the result that a warp has, and columns that it computes at a time.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// Warps that multiply together.
const WARPS: usize = 4;

/// Where a factor is: in registers, or in shared memory with its elements side by side along K or across.
enum Factor {
    Registers(Vec<Operand>),
    Memory { descriptor: Operand, across: bool },
}

/// What a warp does for eight columns.
enum Product8 {
    Dense(Product),
    Sparse {
        sparse: Box<Sparse>,
        metadata: Operand,
        /// Which threads of four have the metadata.
        threads: usize,
    },
}

struct Multiply {
    product: Product8,
    columns: usize,
    /// Elements of a row of A that are there, and of B.
    depths: [usize; 2],
    /// Of an element of A and B.
    bits: usize,
    d: Vec<Operand>,
    a: Factor,
    b: Factor,
    /// Whether D is added.
    adds: Operand,
    /// Whether A and B are negated.
    negates: [bool; 2],
}

struct Fence;

struct Commit;

/// How many groups may be left.
struct Wait(Operand);

pub(crate) fn decode(words: &[&str], operands: Vec<Operand>) -> Option<Box<dyn Step>> {
    let all = Operand::Number(u32::MAX.into());
    match words[1..] {
        ["fence", "sync", "aligned"] => collective(all, Fence),
        ["commit_group", "sync", "aligned"] => collective(all, Commit),
        ["wait_group", "sync", "aligned"] => collective(all, Wait(operands.into_iter().next()?)),
        ["mma_async", "sync", "aligned", shape, ref types @ ..] => {
            collective(all, multiply(shape, types, operands, false)?)
        }
        ["mma_async", "sp", "sync", "aligned", shape, ref types @ ..] => {
            collective(all, multiply(shape, types, operands, true)?)
        }
        _ => None,
    }
}

fn multiply(shape: &str, types: &[&str], operands: Vec<Operand>, is_sparse: bool) -> Option<Multiply> {
    let (columns, depth) = shape.strip_prefix("m64n")?.split_once('k')?;
    let (columns, depth): (usize, usize) = (columns.parse().ok()?, depth.parse().ok()?);
    let saturates = types.contains(&"satfinite");
    let types: Vec<&str> = types.iter().copied().filter(|word| *word != "satfinite").collect();
    let before = if saturates { ".satfinite" } else { "" };
    let [to, a, b, after @ ..] = &types[..] else { return None };
    let bits = match *a {
        "f16" | "bf16" => 16,
        "tf32" => 32,
        "b1" => 1,
        "e4m3" | "e5m2" | "s8" | "u8" => 8,
        _ => return None,
    };
    if columns % COLUMNS != 0 || columns > 256 || depth * bits != if is_sparse { 512 } else { 256 } {
        return None;
    }
    let after: String = after.iter().map(|word| format!(".{word}")).collect();
    let sp = if is_sparse { ".sp" } else { "" };
    let alike = format!("mma{sp}.sync.aligned.m16n8k{depth}.row.col{before}.{to}.{a}.{b}.{to}{after}");
    let words: Vec<&str> = alike.split('.').collect();

    let mut operands = operands.into_iter();
    let (d, a, b) = (operands.next()?.lanes(), operands.next()?, operands.next()?);
    let product = match is_sparse {
        true => Product8::sparse(&words, operands.next()?, operands.next()?)?,
        false => Product8::Dense(Product::parse(&words)?.of_four_warps()),
    };
    let adds = operands.next()?;
    let rest: Vec<i32> = operands.map(|operand| constant(&operand)).collect::<Option<_>>()?;
    let (negates, across) = match (&rest[..], bits, matches!(a, Operand::Vector(_))) {
        ([], 1 | 8, _) => ([1, 1], [0, 0]),
        ([a, b], 8 | 32, _) => ([*a, *b], [0, 0]),
        ([a, b, across], 16, true) => ([*a, *b], [0, *across]),
        ([a, b, of_a, of_b], 16, false) => ([*a, *b], [*of_a, *of_b]),
        _ => return None,
    };
    let a = match a {
        Operand::Vector(registers) if registers.len() == product.registers(Of::A) => Factor::Registers(registers),
        Operand::Vector(_) => return None,
        descriptor => Factor::Memory { descriptor, across: across[0] == 1 },
    };
    let b = Factor::Memory { descriptor: b, across: across[1] == 1 };
    let negates = negates.map(|factor| factor == -1);
    if d.len() != columns / COLUMNS * product.registers(Of::D) {
        return None;
    }
    let depths = [if is_sparse { depth / 2 } else { depth }, depth];
    Some(Multiply { product, columns, depths, bits, d, a, b, adds, negates })
}

impl Product8 {
    fn sparse(words: &[&str], metadata: Operand, threads: Operand) -> Option<Product8> {
        let sparse = Box::new(Sparse::parse(words)?);
        let threads = usize::try_from(constant(&threads)?).ok().filter(|threads| sparse.selects(*threads))?;
        Some(Product8::Sparse { sparse, metadata, threads })
    }

    fn registers(&self, operand: Of) -> usize {
        match self {
            Product8::Dense(product) => product.registers(operand),
            Product8::Sparse { sparse, .. } => sparse.registers(operand),
        }
    }

    fn register(&self, operand: Of, lane: usize, number: usize, bits: impl Fn(usize, usize) -> u64) -> u64 {
        match self {
            Product8::Dense(product) => product.register(operand, lane, number, bits),
            Product8::Sparse { sparse, .. } => sparse.register(operand, lane, number, bits),
        }
    }

    fn places(&self, operand: Of, lane: usize, number: usize) -> Vec<(usize, usize)> {
        match self {
            Product8::Dense(product) => product.places(operand, lane, number).collect(),
            Product8::Sparse { sparse, .. } => sparse.places(operand, lane, number).collect(),
        }
    }

    /// The registers of D of each thread; `metadata` are theirs. Also metadata that say nothing.
    fn result(
        &self,
        register: impl Fn(Of, usize, usize) -> u64,
        metadata: &[Vec<u64>],
    ) -> (Vec<Vec<u64>>, Option<Meaningless>) {
        match self {
            Product8::Dense(product) => (product.result(0..32, register, f64::mul_add), None),
            Product8::Sparse { sparse, threads, .. } => {
                sparse.result(0..32, register, |lane| metadata[lane][0] as u32, *threads)
            }
        }
    }
}

fn constant(operand: &Operand) -> Option<i32> {
    if let Operand::Number(number) = operand { Some(*number as i32) } else { None }
}

impl Together for Multiply {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let number = place_in_group(machine, all)?;
        let mut units = Units::new();
        let a = self.registers_of_a(machine, all, number * ROWS, &mut units)?;
        let b = self.matrix(machine, all, (&self.b, self.depths[1]), (0, self.columns), &mut units)?;
        machine.watch_matrices(all[0], units.keys().copied());
        machine.watch_factor(all[0], self.factor());
        let adds = machine.get(all[0], &self.adds)? & 1 == 1;
        let negative = |factor: usize| if self.negates[factor] { 1u64 << (self.bits - 1) } else { 0 };
        let metadata = match &self.product {
            Product8::Sparse { metadata, .. } => registers(machine, all, std::slice::from_ref(metadata))?,
            Product8::Dense(_) => Vec::new(),
        };
        let of_register = 32 / self.bits;
        let minus = (0..of_register).map(|at| negative(0) << (at * self.bits)).fold(0, |all, one| all | one);
        for (tile, d) in self.d.chunks(self.product.registers(Of::D)).enumerate() {
            let mut before = vec![vec![0; d.len()]; all.len()];
            if adds {
                for (before, thread) in before.iter_mut().zip(all) {
                    for (before, register) in before.iter_mut().zip(d) {
                        *before = machine.get(*thread, register)? as u64;
                    }
                }
            }
            let of_b =
                |column: usize, along: usize| b[(tile * COLUMNS + column) * self.depths[1] + along] ^ negative(1);
            let register = |matrix, lane: usize, number: usize| match matrix {
                Of::A => a[lane][number] ^ minus,
                Of::B => self.product.register(Of::B, lane, number, of_b),
                _ => before[lane][number],
            };
            let (result, found) = self.product.result(register, &metadata);
            machine.watch_metadata(all[0], found);
            self.watch_tile(machine, all, d, adds);
            for (thread, values) in all.iter().zip(result) {
                for (register, value) in d.iter().zip(values) {
                    machine.set(*thread, register, value.into())?;
                }
            }
        }
        machine.progress += 1;
        Ok(())
    }
}

impl Multiply {
    /// The registers of A, if it is in registers.
    fn factor(&self) -> &[Operand] {
        if let Factor::Registers(registers) = &self.a { registers } else { &[] }
    }

    fn registers_of_a(
        &self,
        machine: &mut Machine<'_>,
        all: &[Thread],
        first: usize,
        units: &mut Units,
    ) -> Result<Vec<Vec<u64>>> {
        if let Factor::Registers(registers) = &self.a {
            let of = |thread: &Thread| registers.iter().map(|from| Ok(machine.get(*thread, from)? as u64)).collect();
            return all.iter().map(of).collect();
        }
        let a = self.matrix(machine, all, (&self.a, self.depths[0]), (first, ROWS), units)?;
        let bits = |row: usize, along: usize| a[row * self.depths[0] + along];
        let of = |lane| {
            let registers = 0..self.product.registers(Of::A);
            registers.map(|number| self.product.register(Of::A, lane, number, bits)).collect()
        };
        Ok((0..all.len()).map(of).collect())
    }

    /// What is undefined of A in registers, or of what is added, is so of the result. Who reads it in memory is told.
    fn watch_tile(&self, machine: &mut Machine<'_>, all: &[Thread], d: &[Operand], adds: bool) {
        let a = self.factor();
        let c = if adds { d } else { &[] };
        let deciding = match &self.product {
            Product8::Sparse { sparse, metadata, threads } => metadata_of_rows(sparse, metadata, *threads),
            Product8::Dense(_) => Vec::new(),
        };
        let places = |operand, lane, number| self.product.places(operand, lane, number);
        machine.watch_registers_product(all, [d, a, &[], c], &deciding, places);
    }

    /// The elements of some rows of A, or columns of B, one after the other.
    fn matrix(
        &self,
        machine: &mut Machine<'_>,
        all: &[Thread],
        (factor, depth): (&Factor, usize),
        (first, count): (usize, usize),
        units: &mut Units,
    ) -> Result<Vec<u64>> {
        let Factor::Memory { descriptor, across } = factor else { return Err(missing()) };
        let descriptors: Vec<u64> =
            all.iter().map(|thread| Ok(machine.get(*thread, descriptor)? as u64)).collect::<Result<_>>()?;
        if descriptors.iter().any(|other| *other != descriptors[0]) {
            return Err(wrong("the lanes of the warp have different descriptors of a matrix"));
        }
        let matrix = Matrix::of(descriptors[0], *across, self.bits);
        let block = machine.block_of(all[0]);
        machine.elements(block, &matrix, (first, count), depth, units)
    }
}

impl Together for Fence {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        place_in_group(machine, all).map(|_| ())
    }
}

impl Together for Commit {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        place_in_group(machine, all)?;
        machine.warp_mut(all[0].warp).multiplied += 1;
        machine.progress += 1;
        Ok(())
    }
}

impl Together for Wait {
    fn run(&self, machine: &mut Machine<'_>, all: &[Thread], _: u32) -> Result<()> {
        let (warp, number) = (all[0].warp, place_in_group(machine, all)?);
        let left = machine.get(all[0], &self.0)? as u32;
        let done = machine.warp(warp).multiplied.saturating_sub(left);
        let group = warp - number..warp - number + WARPS;
        // The four warps multiply together: what the others have not begun is not done.
        let is_behind = |other: usize| machine.warps[other].as_ref().is_some_and(|other| other.multiplied < done);
        if group.clone().any(is_behind) {
            let warp = machine.warp_mut(warp);
            all.iter().for_each(|thread| warp.at[thread.lane].1 -= 1);
            return Ok(());
        }
        machine.watch_factors_read(warp, done);
        machine.watch_multiplied(all, group, done);
        Ok(())
    }
}

/// The place of a warp among the four that multiply together.
fn place_in_group(machine: &Machine<'_>, all: &[Thread]) -> Result<usize> {
    if all.len() != 32 {
        return Err(wrong("lanes of the warp have ended: all of it multiply matrices together"));
    }
    let number = all[0].warp % machine.warps_of_block;
    if (number / WARPS + 1) * WARPS > machine.warps_of_block {
        return Err(wrong("the block has not four whole warps here, which multiply matrices together"));
    }
    Ok(number % WARPS)
}
