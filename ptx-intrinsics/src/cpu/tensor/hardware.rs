//! Tensor maps in the format of the GPU, as CuTe DSL 4.8 writes them without the driver. No document of NVIDIA says what is in them: each
//! field was found by maps of CuTe DSL that differ in one thing. Only the first 64 bytes count.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 to 7 | the address |
//! | 8 to 11 | flags, see below |
//! | 12 to 27 | the strides from the second dimension on, in units of 16 bytes: 32 bits each |
//! | 28, 29 | bits 32 to 35 of these strides, the first one lowest |
//! | 32 to 51 | the size of each dimension, less one: 32 bits each |
//! | 55 to 59 | the side of the box in each dimension, less one |
//!
//! | bits of the flags | what |
//! | --- | --- |
//! | 0 | columns of an image |
//! | 1 | always set |
//! | 4 to 6 | the rank, less one |
//! | 7 to 10 | the type of the elements; the numbers are PTX's up to 10, and then those of packed elements |
//! | 13 to 15 | the swizzle: 0 to 3 |
//! | 16 | elements are rounded to tf32 |
//! | 18 | always set |
//! | 19, 20 | what the swizzle moves: 0, 1 and 3 were seen |
//! | 21 | whether the tensor has 128 KiB or more, which changes no copy |
//!
//! All else was 0. What is not 0 there is refused with its bits, as columns are: how they are written is not known.

use alloc::format;

use super::map::{BYTES, TensorMap};
use super::refused::{Refused, Result};

/// Bits of the flags.
const COLUMNS: u32 = 1;
const SET: u32 = 1 << 1 | 1 << 18;
const TF32: u32 = 1 << 16;
const LARGE: u32 = 1 << 21;
/// Fields of the flags that are known.
const KNOWN: u32 = SET | 7 << 4 | 15 << 7 | 7 << 13 | TF32 | 3 << 19 | LARGE;
/// Bytes of zeros.
const ZEROS: [core::ops::Range<usize>; 3] = [30..32, 52..55, 60..64];
/// `CUtensorMapDataType` of each type of elements.
const ELEMENTS: [u32; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 13, 14, 15];
/// `f32` and tf32, among those of the driver.
const FLOAT: u32 = 7;
const FLOAT_TF32: u32 = 11;

/// What the bytes describe, with what they say of dimensions past the rank; none if they are no such map.
pub(super) fn decode(bytes: &[u8; BYTES]) -> Option<Result<TensorMap>> {
    let flags = word(bytes, 8);
    let looks_so = flags & 0xe == 2 && flags & SET == SET && flags >> 22 == 0;
    looks_so.then(|| described(bytes, flags))
}

fn described(bytes: &[u8; BYTES], flags: u32) -> Result<TensorMap> {
    let refused = |what: &str, bits: u32| {
        Err(Refused::Unknown(format!(
            "a tensor map of the hardware's format, with {what} that are not known: {bits:#x}"
        )))
    };
    if flags & COLUMNS != 0 {
        return refused("columns of an image", flags);
    }
    if flags & !KNOWN != 0 {
        return refused("flags", flags & !KNOWN);
    }
    for zeros in ZEROS {
        if bytes[zeros.clone()].iter().any(|byte| *byte != 0) {
            let bits = bytes[zeros].iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
            return refused("bytes from 30, 52 or 60 on", bits);
        }
    }
    let Some(element) = element(flags) else { return refused("elements", flags) };
    let (rank, swizzle, atom) = (1 + (flags >> 4 & 7), flags >> 13 & 7, flags >> 19 & 3);
    if rank > 5 || swizzle > 3 || atom == 2 || atom != 0 && swizzle != 3 {
        return refused("a rank or a swizzle", flags);
    }
    let high = |at: usize| u64::from(bytes[28 + at / 2] >> (4 * (at % 2)) & 15);
    Ok(TensorMap {
        rank,
        element,
        swizzle,
        atom,
        address: u64::from(word(bytes, 4)) << 32 | u64::from(word(bytes, 0)),
        sizes: core::array::from_fn(|at| 1 + u64::from(word(bytes, 32 + 4 * at))),
        strides: core::array::from_fn(|at| (high(at) << 32 | u64::from(word(bytes, 12 + 4 * at))) << 4),
        tile: core::array::from_fn(|at| 1 + u32::from(bytes[55 + at])),
        steps: [1; 5],
        ..TensorMap::default()
    })
}

/// The bytes with another map in them; none if the format has no known place for what it describes.
pub(super) fn encode(bytes: &[u8; BYTES], map: &TensorMap) -> Option<[u8; BYTES]> {
    let is_tf32 = map.element == FLOAT_TF32;
    let sought = if is_tf32 { FLOAT } else { map.element };
    let element = ELEMENTS.iter().position(|one| *one == sought)? as u32;
    let of_tf32 = if is_tf32 { TF32 } else { 0 };
    let kept = word(bytes, 8) & LARGE;
    let flags =
        SET | kept | of_tf32 | map.rank.checked_sub(1)? << 4 | element << 7 | map.swizzle << 13 | map.atom << 19;
    let mut new = *bytes;
    new[..8].copy_from_slice(&map.address.to_le_bytes());
    new[8..12].copy_from_slice(&flags.to_le_bytes());
    new[28..30].fill(0);
    for (at, stride) in map.strides.iter().enumerate() {
        new[12 + 4 * at..][..4].copy_from_slice(&((stride >> 4) as u32).to_le_bytes());
        new[28 + at / 2] |= ((stride >> 36 & 15) as u8) << (4 * (at % 2));
    }
    for at in 0..5 {
        new[32 + 4 * at..][..4].copy_from_slice(&(map.sizes[at].wrapping_sub(1) as u32).to_le_bytes());
        new[55 + at] = map.tile[at].wrapping_sub(1) as u8;
    }
    // What has no place, or not enough bits, is not read again.
    let read = decode(&new)?.ok()?;
    (read == *map).then_some(new)
}

/// `CUtensorMapDataType`, if the flags have one.
fn element(flags: u32) -> Option<u32> {
    let element = *ELEMENTS.get((flags >> 7 & 15) as usize)?;
    match (flags & TF32 != 0, element) {
        (false, _) => Some(element),
        (true, FLOAT) => Some(FLOAT_TF32),
        _ => None,
    }
}

fn word(bytes: &[u8; BYTES], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}
