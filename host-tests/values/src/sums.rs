//! How the sums of matrices differ: from the exact ones, and between a GPU and the interpreter.

use ptx_intrinsics::on_cpu::matrix::Operand;
use serde_json::{Map, Value, json};

use crate::case::{BLOCK, Case};
use crate::float::{DOUBLE, Format, two_to};
use crate::product::{KINDS, KINDS_IN_WORDS, Product, width};
use crate::wgmma::{ROWS, word};

/// An element of a result.
struct Element {
    /// The exact sum, and that of the magnitudes.
    sum: f64,
    magnitude: f64,
    found: u64,
    interpreted: u64,
}

/// What is known of all elements of a kind of matrices.
#[derive(Clone, Copy, Default)]
struct Known {
    all: u64,
    equal: u64,
    /// The largest error of the GPU and of the interpreter, as a part of the sum, and of the magnitudes.
    of_sum: [f64; 2],
    of_magnitude: [f64; 2],
}

/// Judges float sums: all have to be the interpreter's, which sums as an H100 does. How far they are from the exact ones is told.
pub(crate) fn judge(
    case: &Case,
    product: &Product,
    format: Format,
    sides: [&[u64]; 3],
    data: &mut Map<String, Value>,
) -> (bool, String) {
    let mut known = [Known::default(); KINDS];
    let each = |kind: usize, element: Element| known[kind].add(format, &element);
    if case.is_specific {
        of_blocks(case, product, sides, each)
    } else {
        of_warps(case, product, sides, each)
    };
    let all = known.iter().fold(Known::default(), |all, one| all.with(one));
    data.insert("sums".into(), all.told());
    let kinds = KINDS_IN_WORDS.iter().zip(&known);
    data.insert(
        "kinds".into(),
        kinds.map(|(name, known)| ((*name).to_owned(), known.told())).collect::<Map<_, _>>().into(),
    );
    let text = format!(
        "{} of {} sums equal; error of the magnitudes at most 2^{:.1}, the interpreter's 2^{:.1}",
        all.equal,
        all.all,
        all.of_magnitude[0].log2(),
        all.of_magnitude[1].log2()
    );
    (all.equal == all.all, text)
}

impl Known {
    fn add(&mut self, format: Format, element: &Element) {
        let Element { sum, magnitude, found, interpreted } = *element;
        self.all += 1;
        self.equal += u64::from(found == interpreted || format.is_nan(found) && format.is_nan(interpreted));
        if format == DOUBLE && (magnitude.is_nan() || magnitude > two_to(1000)) {
            // Here there is no wider float for the exact sum.
            return;
        }
        for (side, bits) in [found, interpreted].into_iter().enumerate() {
            let number = format.number(bits);
            if !sum.is_finite() || !number.is_finite() {
                continue;
            }
            let error = (number - sum).abs();
            // Below the normal numbers a machine may know none.
            let error = if error <= format.least() { 0.0 } else { error };
            let part = |of: f64| if error == 0.0 { 0.0 } else { error / of };
            self.of_sum[side] = self.of_sum[side].max(part(sum.abs()));
            self.of_magnitude[side] = self.of_magnitude[side].max(part(magnitude));
        }
    }

    fn with(&self, other: &Known) -> Known {
        let most = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        Known {
            all: self.all + other.all,
            equal: self.equal + other.equal,
            of_sum: most(self.of_sum, other.of_sum),
            of_magnitude: most(self.of_magnitude, other.of_magnitude),
        }
    }

    fn told(&self) -> Value {
        let sides = |numbers: [f64; 2]| json!({ "gpu": told(numbers[0]), "interpreter": told(numbers[1]) });
        json!({
            "all": self.all,
            "equal": self.equal,
            "error_of_sum": sides(self.of_sum),
            "error_of_magnitudes": sides(self.of_magnitude),
        })
    }
}

/// JSON has no infinite number.
fn told(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { json!(number.to_string()) }
}

/// The numbers of D of a lane, of its registers.
fn numbers(product: &Product, registers: &[u64]) -> Vec<u64> {
    registers.iter().flat_map(|register| product.to.numbers(*register)).collect()
}

/// The elements of a product of one warp; `at` says where a lane's registers of the result begin.
fn of_warp(
    product: &Product,
    register: impl Fn(Operand, usize, usize) -> u64,
    sides: [&[u64]; 2],
    at: impl Fn(usize) -> usize,
    mut each: impl FnMut(Element),
) {
    let tile = product.layout.registers(Operand::D);
    for (lane, sums) in product.layout.sums(register).into_iter().enumerate() {
        let at = at(lane);
        let [found, interpreted] = sides.map(|side| numbers(product, &side[at..at + tile]));
        for ((sum, magnitude), (found, interpreted)) in sums.into_iter().zip(found.into_iter().zip(interpreted)) {
            each(Element { sum, magnitude, found, interpreted });
        }
    }
}

fn of_warps(
    case: &Case,
    product: &Product,
    [from, found, interpreted]: [&[u64]; 3],
    mut each: impl FnMut(usize, Element),
) {
    let (reads, writes) = (case.reads(), case.writes());
    let [a, b] = [Operand::A, Operand::B].map(|operand| product.layout.registers(operand));
    for warp in 0..from.len() / reads / 32 {
        let register = |operand, lane: usize, number: usize| {
            let first = match operand {
                Operand::A => 0,
                Operand::B => a,
                _ => a + b,
            };
            from[(32 * warp + lane) * reads + first + number]
        };
        let at = |lane| (32 * warp + lane) * writes;
        of_warp(product, register, [found, interpreted], at, |element| each(warp % KINDS, element));
    }
}

fn of_blocks(
    case: &Case,
    product: &Product,
    [from, found, interpreted]: [&[u64]; 3],
    mut each: impl FnMut(usize, Element),
) {
    let (reads, writes, tile) = (case.reads(), case.writes(), product.layout.registers(Operand::D));
    let [of_b, of_d] = product.places();
    let bits = width(product.factor());
    for block in 0..from.len() / reads / BLOCK {
        let own = &from[block * BLOCK * reads..][..BLOCK * reads];
        let factor = |first: usize, row: usize, along: usize| {
            let bit = along as u32 * bits;
            word(own, reads, first, row, (bit / 32) as usize) >> (bit % 32) & crate::float::mask(bits)
        };
        for (warp, column) in
            (0..BLOCK / 32).flat_map(|warp| (0..product.columns / 8).map(move |column| (warp, column)))
        {
            let register = |operand, lane: usize, number: usize| {
                let thread = &own[(32 * warp + lane) * reads..][..reads];
                match operand {
                    Operand::A if product.in_registers => thread[number],
                    Operand::A => {
                        product.layout.register(operand, lane, number, |row, along| factor(0, ROWS * warp + row, along))
                    }
                    Operand::B => product
                        .layout
                        .register(operand, lane, number, |row, along| factor(of_b, 8 * column + row, along)),
                    _ => thread[of_d + column * tile + number],
                }
            };
            let at = |lane| (block * BLOCK + 32 * warp + lane) * writes + column * tile;
            of_warp(product, register, [found, interpreted], at, |element| each(block % KINDS, element));
        }
    }
}
