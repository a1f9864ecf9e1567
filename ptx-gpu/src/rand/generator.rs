//! Generators, and what they are told.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use super::library;
use super::missing::say;
use super::status::{INITIALIZATION_FAILED, NOT_INITIALIZED, OUT_OF_RANGE, TYPE_ERROR};
use crate::call::put;
use crate::calling::call_name;
use crate::gpu::live;
use crate::handle::{Handle, next};
use crate::status::Result;

/// Of the headers of CUDA 13.
const VERSION: [i32; 3] = [10, 4, 5];

/// `CURAND_RNG_PSEUDO_…`, and those of them that take no offset.
const KINDS: [u32; 6] = [100, 101, 121, MTGP32, MT19937, 161];
const MTGP32: u32 = 141;
const MT19937: u32 = 142;
/// `CURAND_RNG_QUASI_…`
const QUASI: std::ops::RangeInclusive<u32> = 200..=204;
/// `CURAND_ORDERING_PSEUDO_…`
const ORDERINGS: std::ops::RangeInclusive<u32> = 100..=104;

#[derive(Clone)]
pub(super) struct Generator {
    kind: u32,
    pub(super) stream: Handle,
    /// Whether it writes to memory of the host, at once.
    pub(super) is_of_host: bool,
    seed: u64,
    /// The numbers that come next. Work that a graph repeats takes new ones each time.
    pub(super) numbers: Arc<Mutex<ChaCha8Rng>>,
}

static GENERATORS: LazyLock<Mutex<HashMap<Handle, Generator>>> = LazyLock::new(Mutex::default);

pub(super) fn lock<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn generator(handle: Handle) -> Result<Generator> {
    lock(&GENERATORS).get(&handle).cloned().ok_or(NOT_INITIALIZED)
}

fn create(handle: *mut Handle, kind: u32, is_of_host: bool) -> Result {
    drop(live().map_err(|_| INITIALIZATION_FAILED)?);
    if QUASI.contains(&kind) {
        say(&format!("{} for quasirandom numbers", call_name()));
        return Err(TYPE_ERROR);
    }
    if !KINDS.contains(&kind) {
        return Err(TYPE_ERROR);
    }
    let new = next();
    put(handle, new)?;
    let numbers = Arc::new(Mutex::new(ChaCha8Rng::seed_from_u64(0)));
    lock(&GENERATORS).insert(new, Generator { kind, stream: 0, is_of_host, seed: 0, numbers });
    Ok(())
}

/// Numbers begin anew.
fn begin(handle: Handle, seed: Option<u64>, offset: u64) -> Result {
    let mut generators = lock(&GENERATORS);
    let generator = generators.get_mut(&handle).ok_or(NOT_INITIALIZED)?;
    if seed.is_none() && [MTGP32, MT19937].contains(&generator.kind) {
        return Err(TYPE_ERROR);
    }
    generator.seed = seed.unwrap_or(generator.seed);
    let mut numbers = ChaCha8Rng::seed_from_u64(generator.seed);
    numbers.set_word_pos(offset.into());
    *lock(&generator.numbers) = numbers;
    Ok(())
}

library! {
    fn curandCreateGenerator(handle: *mut Handle, kind: u32) {
        create(handle, kind, false)
    }

    fn curandCreateGeneratorHost(handle: *mut Handle, kind: u32) {
        create(handle, kind, true)
    }

    fn curandDestroyGenerator(handle: Handle) {
        lock(&GENERATORS).remove(&handle).map(drop).ok_or(NOT_INITIALIZED)
    }

    fn curandGetVersion(version: *mut i32) {
        let [major, minor, patch] = VERSION;
        put(version, major * 1000 + minor * 100 + patch)
    }

    fn curandGetProperty(which: u32, value: *mut i32) {
        put(value, *VERSION.get(which as usize).ok_or(OUT_OF_RANGE)?)
    }

    fn curandSetStream(handle: Handle, stream: Handle) {
        lock(&GENERATORS).get_mut(&handle).ok_or(NOT_INITIALIZED)?.stream = stream;
        Ok(())
    }

    fn curandSetPseudoRandomGeneratorSeed(handle: Handle, seed: u64) {
        begin(handle, Some(seed), 0)
    }

    fn curandSetGeneratorOffset(handle: Handle, offset: u64) {
        begin(handle, None, offset)
    }

    fn curandSetGeneratorOrdering(handle: Handle, ordering: u32) {
        generator(handle)?;
        if ORDERINGS.contains(&ordering) { Ok(()) } else { Err(OUT_OF_RANGE) }
    }

    // They have no dimensions.
    fn curandSetQuasiRandomGeneratorDimensions(handle: Handle, _dimensions: u32) {
        generator(handle)?;
        Err(TYPE_ERROR)
    }

    fn curandGenerateSeeds(handle: Handle) {
        generator(handle).map(drop)
    }
}
