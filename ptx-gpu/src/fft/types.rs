//! What is made of what.

use super::missing::say;
use super::status::{INVALID_VALUE, NOT_IMPLEMENTED};
use crate::blas::Kind;
use crate::calling::call_name;
use crate::status::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Complex,
    /// Half of the result, of which the other half are the conjugates.
    FromReal,
    ToReal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) form: Form,
    pub(super) is_double: bool,
}

pub(super) const C2C: Type = Type { form: Form::Complex, is_double: false };
pub(super) const R2C: Type = Type { form: Form::FromReal, is_double: false };
pub(super) const C2R: Type = Type { form: Form::ToReal, is_double: false };
pub(super) const Z2Z: Type = Type { form: Form::Complex, is_double: true };
pub(super) const D2Z: Type = Type { form: Form::FromReal, is_double: true };
pub(super) const Z2D: Type = Type { form: Form::ToReal, is_double: true };

impl Type {
    /// By the number of `cufftType`.
    pub(super) fn of(number: u32) -> Result<Type> {
        Ok(match number {
            0x29 => C2C,
            0x2a => R2C,
            0x2c => C2R,
            0x69 => Z2Z,
            0x6a => D2Z,
            0x6c => Z2D,
            _ => return Err(INVALID_VALUE),
        })
    }

    /// By the numbers of `cudaDataType_t`: of the input, of the output, and in which it is computed.
    pub(super) fn of_data(numbers: [u32; 3]) -> Result<Type> {
        Ok(match numbers {
            [4, 4, 4] => C2C,
            [0, 4, 4] => R2C,
            [4, 0, 4] => C2R,
            [5, 5, 5] => Z2Z,
            [1, 5, 5] => D2Z,
            [5, 1, 5] => Z2D,
            // `CUDA_R_16F`, `CUDA_C_16F` and those of `bf16`.
            [2 | 6 | 14 | 15, ..] => {
                say(&format!("{} for numbers of 16 bits", call_name()));
                return Err(NOT_IMPLEMENTED);
            }
            _ => return Err(INVALID_VALUE),
        })
    }

    /// The types of the input's elements and of the output's.
    pub(super) fn kinds(self) -> [Kind; 2] {
        let (real, complex) = if self.is_double { (Kind::F64, Kind::C64) } else { (Kind::F32, Kind::C32) };
        match self.form {
            Form::Complex => [complex, complex],
            Form::FromReal => [real, complex],
            Form::ToReal => [complex, real],
        }
    }
}
