//! The types of elements, and those in which sums are taken.

use std::sync::LazyLock;

use num_complex::Complex;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half};
use rustc_apfloat::{Float, FloatConvert};

/// Every element has its value in this type, without rounding.
pub(super) type Wide = Complex<f64>;

/// `cudaDataType_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    F32,
    F64,
    F16,
    Bf16,
    C32,
    C64,
    I8,
    I32,
    I64,
    E4m3,
    E5m2,
    /// A pointer to device memory.
    Pointer,
}

use Kind::*;

/// In which type products are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compute {
    F32,
    F64,
    C32,
    C64,
    I32,
}

impl Compute {
    /// The type of `alpha` and `beta`.
    pub(super) fn kind(self) -> Kind {
        match self {
            Compute::F32 => F32,
            Compute::F64 => F64,
            Compute::C32 => C32,
            Compute::C64 => C64,
            Compute::I32 => I32,
        }
    }
}

impl Kind {
    /// By the number of `cudaDataType_t`.
    pub(super) fn of(number: u32) -> Option<Kind> {
        Some(match number {
            0 => F32,
            1 => F64,
            2 => F16,
            3 => I8,
            4 => C32,
            5 => C64,
            10 => I32,
            14 => Bf16,
            28 => E4m3,
            29 => E5m2,
            _ => return None,
        })
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            I8 | E4m3 | E5m2 => 1,
            F16 | Bf16 => 2,
            F32 | I32 => 4,
            F64 | C32 | I64 | Pointer => 8,
            C64 => 16,
        }
    }

    pub(super) fn is_complex(self) -> bool {
        matches!(self, C32 | C64)
    }

    /// The type of a part of a complex number.
    pub(super) fn real(self) -> Kind {
        match self {
            C32 => F32,
            C64 => F64,
            real => real,
        }
    }

    /// In what a routine computes whose elements are all of this type.
    pub(super) fn compute(self) -> Compute {
        match self {
            F64 => Compute::F64,
            C32 => Compute::C32,
            C64 => Compute::C64,
            _ => Compute::F32,
        }
    }

    /// # Safety
    /// There is an element at the address.
    pub(super) unsafe fn read(self, at: u64) -> Wide {
        // SAFETY: the caller's promise.
        unsafe {
            let real = |number: f64| Complex::new(number, 0.0);
            match self {
                F32 => real((at as *const f32).read_unaligned().into()),
                F64 => real((at as *const f64).read_unaligned()),
                F16 => real(F16S[usize::from((at as *const u16).read_unaligned())].into()),
                Bf16 => real(f32::from_bits(u32::from((at as *const u16).read_unaligned()) << 16).into()),
                C32 => {
                    let number = (at as *const Complex<f32>).read_unaligned();
                    Complex::new(number.re.into(), number.im.into())
                }
                C64 => (at as *const Wide).read_unaligned(),
                I8 => real((at as *const i8).read().into()),
                I32 => real((at as *const i32).read_unaligned().into()),
                I64 => real((at as *const i64).read_unaligned() as f64),
                E4m3 => real(E4M3S[usize::from((at as *const u8).read())].into()),
                E5m2 => real(E5M2S[usize::from((at as *const u8).read())].into()),
                Pointer => real(0.0),
            }
        }
    }

    /// Rounds to the nearest. Floats of 8 bits and integers are the greatest, where a number is greater.
    ///
    /// # Safety
    /// There is room for an element at the address, which nobody else uses now.
    pub(super) unsafe fn write(self, at: u64, number: Wide) {
        let Wide { re, im } = number;
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                F32 => (at as *mut f32).write_unaligned(re as f32),
                F64 => (at as *mut f64).write_unaligned(re),
                F16 => (at as *mut u16).write_unaligned(rounded::<Half>(re) as u16),
                Bf16 => (at as *mut u16).write_unaligned(rounded::<BFloat>(re) as u16),
                C32 => (at as *mut Complex<f32>).write_unaligned(Complex::new(re as f32, im as f32)),
                C64 => (at as *mut Wide).write_unaligned(number),
                I8 => (at as *mut i8).write(re.round_ties_even() as i8),
                I32 => (at as *mut i32).write_unaligned(re.round_ties_even() as i32),
                I64 => (at as *mut i64).write_unaligned(re.round_ties_even() as i64),
                E4m3 => (at as *mut u8).write(rounded::<Float8E4M3FN>(re.clamp(-448.0, 448.0)) as u8),
                E5m2 => (at as *mut u8).write(rounded::<Float8E5M2>(re.clamp(-57344.0, 57344.0)) as u8),
                Pointer => {}
            }
        }
    }
}

static F16S: LazyLock<Vec<f32>> = LazyLock::new(|| all::<Half>(1 << 16));
static E4M3S: LazyLock<Vec<f32>> = LazyLock::new(|| all::<Float8E4M3FN>(1 << 8));
static E5M2S: LazyLock<Vec<f32>> = LazyLock::new(|| all::<Float8E5M2>(1 << 8));

/// The values of all floats of a small type.
fn all<F: Float + FloatConvert<Double>>(count: u128) -> Vec<f32> {
    let value = |bits: u128| f64::from_bits(F::from_bits(bits).convert(&mut false).value.to_bits() as u64);
    (0..count).map(|bits| value(bits) as f32).collect()
}

/// The bits of the nearest float of a small type.
fn rounded<F: Float>(number: f64) -> u128
where
    Double: FloatConvert<F>,
{
    let near: F = Double::from_bits(number.to_bits().into()).convert(&mut false).value;
    near.to_bits()
}
