//! `--arg map:…`: the map of a tensor.

use ptx_build::error::{Error, Result};
use ptx_interpreter::Trial;
use ptx_interpreter::tensor_map::TensorMap;

use super::argument::Content;

/// A tensor whose elements are one after the other, and the box that a copy moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Map {
    tensor: Tensor,
    /// All but the address.
    shape: TensorMap,
}

/// The memory of a tensor.
#[derive(Clone, Debug, PartialEq)]
enum Tensor {
    /// Memory that no other argument has.
    Own(Content),
    /// The buffer of an argument.
    Of(usize),
}

/// `CU_TENSOR_MAP_DATA_TYPE_TFLOAT32`: in PTX its elements are `f32`.
const TF32: u32 = 11;

impl Map {
    /// `random_f32:f32:64x32:16x8:128`
    pub(crate) fn parse(text: &str) -> Option<Map> {
        let parts: Vec<&str> = text.split(':').collect();
        let (tensor, ty, sizes, tile, swizzle) = match parts[..] {
            [tensor, ty, sizes, tile] => (tensor, ty, sizes, tile, "0"),
            [tensor, ty, sizes, tile, swizzle] => (tensor, ty, sizes, tile, swizzle),
            _ => return None,
        };
        let tensor = tensor.parse().map_or_else(|_| Tensor::Own(Content::of(tensor)), Tensor::Of);
        let element = if ty == "tf32" { TF32 } else { TensorMap::element_of(ty)? };
        let swizzle = ["0", "32", "64", "128"].iter().position(|bytes| *bytes == swizzle)? as u32;
        let (sizes, tile) = (numbers(sizes)?, numbers(tile)?);
        let rank = sizes.len() as u32;
        if rank as usize != tile.len() || rank > 5 {
            return None;
        }
        let mut shape = TensorMap { rank, element, swizzle, steps: [0; 5], ..TensorMap::default() };
        shape.steps[..sizes.len()].fill(1);
        shape.sizes[..sizes.len()].copy_from_slice(&sizes);
        shape.tile.iter_mut().zip(&tile).for_each(|(side, size)| *side = u32::try_from(*size).unwrap_or(u32::MAX));
        let mut stride = shape.element()?.0 as u64;
        for (at, size) in sizes.iter().enumerate().take(sizes.len() - 1) {
            stride = stride.checked_mul(*size)?;
            shape.strides[at] = stride;
        }
        Some(Map { tensor, shape })
    }

    /// Bytes of the tensor.
    fn bytes(&self) -> Option<usize> {
        let element = self.shape.element()?.0;
        let count = |all: usize, size: &u64| all.checked_mul(usize::try_from(*size).ok()?);
        self.shape.sizes[..self.shape.rank as usize].iter().try_fold(element, count)
    }

    /// Gives the kernel the map, and this its address.
    pub(crate) fn give(&self, trial: &mut Trial<'_>, number: usize) -> Result<u64> {
        let here = |error: Error| error.at(format_args!("--arg {number}"));
        let bytes =
            self.bytes().filter(|bytes| *bytes as u64 <= ptx_interpreter::available_memory().unwrap_or(u64::MAX));
        let bytes = bytes.ok_or_else(|| here(Error::new("there is no memory for the tensor").fix("ask for less")))?;
        let address = match &self.tensor {
            Tensor::Own(content) => {
                let content = content.bytes(bytes, number)?.unwrap_or_else(|| vec![0; bytes]);
                trial.memory(&content).map_err(|error| here(Error::new(error).fix("ask for less")))?
            }
            Tensor::Of(argument) if trial.content(*argument).len() >= bytes => trial.content(*argument).as_ptr() as u64,
            Tensor::Of(argument) => {
                let has = trial.content(*argument).len();
                return Err(here(
                    Error::new(format_args!("the tensor has {bytes} bytes, and argument {argument} {has}"))
                        .fix("name a buffer before it that is as large"),
                ));
            }
        };
        let map = TensorMap { address, ..self.shape };
        map.check().map_err(|rule| {
            here(Error::new(rule).fix("give it a shape that the driver's cuTensorMapEncodeTiled takes"))
        })?;
        trial.value(&map.encode());
        Ok(address)
    }
}

/// `64x32`
fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split('x').map(|number| number.parse().ok().filter(|number| *number > 0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_as_it_is_written() {
        let map = Map::parse("zeros:f16:64x32x3:16x8x1:64").expect("it is right");
        assert_eq!((map.shape.rank, map.shape.element, map.shape.swizzle), (3, 6, 2));
        assert_eq!((map.shape.strides, map.bytes()), ([128, 4096, 0, 0], Some(12_288)));
        assert_eq!(Map::parse("2:f32:64:16").map(|map| map.tensor), Some(Tensor::Of(2)));
        for wrong in ["zeros:f16:64x32", "zeros:f16:64x32:8", "zeros:f17:64:8", "zeros:f32:64:8:16", "zeros:f32:0:8"] {
            assert_eq!(Map::parse(wrong), None, "{wrong}");
        }
    }
}
