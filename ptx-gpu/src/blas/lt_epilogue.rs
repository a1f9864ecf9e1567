//! What a product of cuBLASLt does with its sums before it stores them.

use super::kind::Kind::{self, F16, F32, I8};
use super::kind::Wide;
use super::lt_object::{Object, PRODUCT};
use super::matrix::Matrix;
use super::number::Number;
use super::operand::{Operand, View, When};
use super::status::{INVALID_VALUE, NOT_SUPPORTED};
use crate::status::Result;

/// `cublasLtEpilogue_t`, by its bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Epilogue {
    bits: u32,
    /// Which operands they are.
    bias: Option<usize>,
    aux: Option<usize>,
}

const DEFAULT: u32 = 1;
const RELU: u32 = 2;
const BIAS: u32 = 4;
const RELU_GRADIENT: u32 = 8;
const BIAS_GRADIENT: u32 = 16;
const GELU: u32 = 32;
const GELU_GRADIENT: u32 = 64;
const AUX: u32 = 128;
const BIAS_GRADIENT_A: u32 = 256;
const BIAS_GRADIENT_B: u32 = 512;

/// All that a product may ask for.
const KNOWN: [u32; 15] = [
    DEFAULT,
    RELU,
    RELU | AUX,
    BIAS,
    RELU | BIAS,
    RELU | AUX | BIAS,
    RELU_GRADIENT | AUX,
    RELU_GRADIENT | AUX | BIAS_GRADIENT,
    GELU,
    GELU | AUX,
    GELU | BIAS,
    GELU | AUX | BIAS,
    GELU_GRADIENT | AUX,
    GELU_GRADIENT | AUX | BIAS_GRADIENT,
    BIAS_GRADIENT_A,
];

/// Each column of a mask begins at a multiple of this number of bits.
const MASK_ALIGNMENT: i64 = 128;

impl Epilogue {
    /// What a description asks for. The operands that belong to it are added to the others.
    pub(super) fn of(what: Object, [m, n]: [i64; 2], kind_of_d: Kind, operands: &mut Vec<Operand>) -> Result<Epilogue> {
        let bits = PRODUCT.get(what, 7)? as u32;
        if !KNOWN.contains(&bits) && bits != BIAS_GRADIENT_B {
            return Err(NOT_SUPPORTED);
        }
        let mut epilogue = Epilogue { bits, ..Epilogue::default() };
        let (is_bias, is_gradient) =
            (epilogue.has(BIAS), epilogue.has(BIAS_GRADIENT | BIAS_GRADIENT_A | BIAS_GRADIENT_B));
        if is_bias || is_gradient {
            let count = if epilogue.has(BIAS_GRADIENT_B) { n } else { m };
            let kind = kind_of(what, 26, if matches!(kind_of_d, Kind::E4m3 | Kind::E5m2) { F16 } else { kind_of_d })?;
            let bias = Operand::matrix("bias", kind, given(what, 8)?, [count, 1], count);
            let bias = bias.apart(PRODUCT.get(what, 10)? as i64);
            epilogue.bias = Some(operands.len());
            operands.push(if is_bias { bias } else { bias.result() });
        }
        if epilogue.has(AUX) {
            let (at, column, apart) = (given(what, 11)?, PRODUCT.get(what, 12)? as i64, PRODUCT.get(what, 13)? as i64);
            let aux = if epilogue.has(GELU | GELU_GRADIENT) {
                Operand::matrix("aux", kind_of(what, 22, kind_of_d)?, at, [m, n], column).apart(apart)
            } else if column % MASK_ALIGNMENT == 0 {
                // A bit for each element.
                Operand::matrix("aux", I8, at, [(m + 7) / 8, n], column / 8).apart(apart / 8)
            } else {
                return Err(INVALID_VALUE);
            };
            if column < m {
                return Err(INVALID_VALUE);
            }
            epilogue.aux = Some(operands.len());
            operands.push(if epilogue.has(RELU | GELU) { aux.result() } else { aux.reads(When::Always) });
        }
        Ok(epilogue)
    }

    fn has(self, bits: u32) -> bool {
        self.bits & bits != 0
    }

    /// What becomes of the sums.
    pub(super) fn apply<T: Number>(
        self,
        views: &[View],
        mut sums: Matrix<T>,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> Matrix<T> {
        let bias = self.bias.map(|at| &views[at]);
        if let Some(bias) = bias.filter(|_| self.has(BIAS)) {
            let bias = bias.load::<T>();
            let (rows, columns) = (sums.rows, sums.columns);
            sums = sums.plus(&Matrix::new(rows, columns, |row, _| bias.at(row, 0)));
        }
        if let Some(aux) = self.aux.map(|at| &views[at]) {
            sums = self.with_aux(aux, sums);
        }
        let each = |sums: &mut Matrix<T>, of: fn(f64) -> f64| {
            sums.content.iter_mut().for_each(|element| *element = T::narrow(of(element.wide().re).into()));
        };
        if self.has(RELU) {
            each(&mut sums, |number| number.max(0.0));
        } else if self.has(GELU) {
            each(&mut sums, gelu);
        }
        if let Some(bias) = bias.filter(|_| !self.has(BIAS)) {
            let sum = |row: usize, _| match self.bits {
                BIAS_GRADIENT_A => (0..a.columns).map(|column| a.at(row, column).wide()).sum(),
                BIAS_GRADIENT_B => (0..b.rows).map(|middle| b.at(middle, row).wide()).sum(),
                _ => (0..sums.columns).map(|column| sums.at(row, column).wide()).sum::<Wide>(),
            };
            bias.store_by(sum);
        }
        sums
    }

    /// Keeps what a gradient will need, or takes what was kept.
    fn with_aux<T: Number>(self, aux: &View, mut sums: Matrix<T>) -> Matrix<T> {
        if self.has(GELU) {
            aux.store(&sums);
        } else if self.has(RELU) {
            let bit = |row: usize, column: usize| row < sums.rows && sums.at(row, column).wide().re > 0.0;
            let byte =
                |row: usize, column: usize| (0..8).map(|at| u8::from(bit(8 * row + at, column)) << at).sum::<u8>();
            aux.store_by(|row, column| f64::from(byte(row, column) as i8).into());
        } else {
            let kept = aux.load::<Wide>();
            for column in 0..sums.columns {
                for row in 0..sums.rows {
                    let factor = match self.has(GELU_GRADIENT) {
                        true => gelu_gradient(kept.at(row, column).re),
                        false => f64::from((kept.at(row / 8, column).re as i8 as u8) >> (row % 8) & 1),
                    };
                    *sums.at_mut(row, column) *= T::narrow(factor.into());
                }
            }
        }
        sums
    }
}

/// A pointer of a description, which the epilogue needs.
fn given(what: Object, attribute: u32) -> Result<u64> {
    let at = PRODUCT.get(what, attribute)?;
    if at == 0 { Err(INVALID_VALUE) } else { Ok(at) }
}

/// The type in an attribute, or the one that it has otherwise.
fn kind_of(what: Object, attribute: u32, otherwise: Kind) -> Result<Kind> {
    match PRODUCT.get(what, attribute)? as u32 {
        u32::MAX => Ok(if otherwise == I8 { F32 } else { otherwise }),
        number => Kind::of(number).ok_or(NOT_SUPPORTED),
    }
}

const ROOT: f64 = 0.797_884_560_802_865_4;
const CUBE: f64 = 0.044_715;

/// By the hyperbolic tangent.
fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + (ROOT * (x + CUBE * x * x * x)).tanh())
}

fn gelu_gradient(x: f64) -> f64 {
    let tanh = (ROOT * (x + CUBE * x * x * x)).tanh();
    0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * ROOT * (1.0 + 3.0 * CUBE * x * x)
}
