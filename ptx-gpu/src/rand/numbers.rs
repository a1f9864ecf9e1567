//! Numbers are drawn.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;
use rand_distr::{Distribution, Normal, Poisson};

use super::generator::{generator, lock};
use super::library;
use super::status::{LAUNCH_FAILURE, LENGTH_NOT_MULTIPLE, OUT_OF_RANGE, PREEXISTING_FAILURE, TYPE_ERROR};
use crate::blas::Kind;
use crate::blas::filled::fill;
use crate::gpu::live;
use crate::handle::Handle;
use crate::status::Result;

/// Fills memory with numbers, of the device or of the host.
fn give<T>(
    handle: Handle,
    at: u64,
    count: usize,
    kind: Kind,
    number: impl Fn(&mut ChaCha8Rng) -> T + Send + Sync + 'static,
) -> Result {
    let generator = generator(handle)?;
    drop(live().map_err(|_| PREEXISTING_FAILURE)?);
    let numbers = generator.numbers;
    let draw = move |at: u64| {
        let mut numbers = lock(&numbers);
        for place in 0..count {
            // SAFETY: the call was given room for so many: that of the device was looked at.
            unsafe { (at as *mut T).add(place).write_unaligned(number(&mut numbers)) };
        }
    };
    if generator.is_of_host {
        draw(at);
        return Ok(());
    }
    fill(generator.stream, "outputPtr", kind, (at, count), draw).map_err(|_| LAUNCH_FAILURE)
}

/// A number above 0, up to 1.
fn uniform(numbers: &mut ChaCha8Rng) -> f32 {
    ((numbers.next_u32() >> 8) + 1) as f32 / (1u32 << 24) as f32
}

fn uniform_double(numbers: &mut ChaCha8Rng) -> f64 {
    ((numbers.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Pairs of numbers are drawn.
fn normal(count: usize, mean: f64, deviation: f64) -> Result<Normal<f64>> {
    if !count.is_multiple_of(2) {
        return Err(LENGTH_NOT_MULTIPLE);
    }
    Normal::new(mean, deviation).map_err(|_| OUT_OF_RANGE)
}

fn poisson(handle: Handle, at: u64, count: usize, mean: f64) -> Result {
    let numbers = Poisson::new(mean).map_err(|_| OUT_OF_RANGE)?;
    give(handle, at, count, Kind::I32, move |rng| numbers.sample(rng) as u32)
}

library! {
    fn curandGenerate(handle: Handle, to: u64, count: usize) {
        give(handle, to, count, Kind::I32, Rng::next_u32)
    }

    // Only quasirandom numbers have 64 bits.
    fn curandGenerateLongLong(handle: Handle, _to: u64, _count: usize) {
        generator(handle)?;
        Err(TYPE_ERROR)
    }

    fn curandGenerateUniform(handle: Handle, to: u64, count: usize) {
        give(handle, to, count, Kind::F32, uniform)
    }

    fn curandGenerateUniformDouble(handle: Handle, to: u64, count: usize) {
        give(handle, to, count, Kind::F64, uniform_double)
    }

    fn curandGenerateNormal(handle: Handle, to: u64, count: usize, mean: f32, deviation: f32) {
        let numbers = normal(count, mean.into(), deviation.into())?;
        give(handle, to, count, Kind::F32, move |rng| numbers.sample(rng) as f32)
    }

    fn curandGenerateNormalDouble(handle: Handle, to: u64, count: usize, mean: f64, deviation: f64) {
        let numbers = normal(count, mean, deviation)?;
        give(handle, to, count, Kind::F64, move |rng| numbers.sample(rng))
    }

    fn curandGenerateLogNormal(handle: Handle, to: u64, count: usize, mean: f32, deviation: f32) {
        let numbers = normal(count, mean.into(), deviation.into())?;
        give(handle, to, count, Kind::F32, move |rng| numbers.sample(rng).exp() as f32)
    }

    fn curandGenerateLogNormalDouble(handle: Handle, to: u64, count: usize, mean: f64, deviation: f64) {
        let numbers = normal(count, mean, deviation)?;
        give(handle, to, count, Kind::F64, move |rng| numbers.sample(rng).exp())
    }

    fn curandGeneratePoisson(handle: Handle, to: u64, count: usize, mean: f64) {
        poisson(handle, to, count, mean)
    }

    fn curandGeneratePoissonMethod(handle: Handle, to: u64, count: usize, mean: f64, _method: u32) {
        poisson(handle, to, count, mean)
    }
}
