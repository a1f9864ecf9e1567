//! `tensormap.replace`: a field of a tensor map becomes another one.

use super::map::{BYTES, TensorMap};

/// A field of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Where the tensor begins.
    GlobalAddress,
    /// The number of dimensions, less one.
    Rank,
    /// Elements of the box in a dimension.
    BoxDim,
    /// Elements of the tensor in a dimension.
    GlobalDim,
    /// Bytes from one element to the next of a dimension, from the second dimension on.
    GlobalStride,
    /// Every how many-th element of a dimension is copied.
    ElementStride,
    /// The type of the elements.
    Elemtype,
    /// The interleave.
    InterleaveLayout,
    /// The swizzle.
    SwizzleMode,
    /// What is outside of the tensor.
    FillMode,
    /// What the swizzle moves.
    SwizzleAtomicity,
}

/// The numbers of PTX's table of element types as those of the driver.
const ELEMENTS: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15];

impl Field {
    /// The field of PTX's word, without the dot.
    pub fn named(word: &str) -> Option<Field> {
        Some(match word {
            "global_address" => Field::GlobalAddress,
            "rank" => Field::Rank,
            "box_dim" => Field::BoxDim,
            "global_dim" => Field::GlobalDim,
            "global_stride" => Field::GlobalStride,
            "element_stride" => Field::ElementStride,
            "elemtype" => Field::Elemtype,
            "interleave_layout" => Field::InterleaveLayout,
            "swizzle_mode" => Field::SwizzleMode,
            "fill_mode" => Field::FillMode,
            "swizzle_atomicity" => Field::SwizzleAtomicity,
            _ => return None,
        })
    }
}

impl TensorMap {
    /// The map in which a field is replaced. Where all bytes are zero nothing is set yet: Triton's kernels make their maps so, field by
    /// field.
    #[must_use]
    pub fn decode_to_replace(bytes: &[u8]) -> Option<TensorMap> {
        let is_cleared = bytes.len() == BYTES && bytes.iter().all(|byte| *byte == 0);
        if is_cleared { Some(TensorMap::default()) } else { TensorMap::decode(bytes) }
    }

    /// The map with another value in a field, of a field with several numbers in that place; none if there is no such place or value.
    #[must_use]
    pub fn replaced(mut self, field: Field, place: usize, value: u64) -> Option<TensorMap> {
        let number = u32::try_from(value);
        let at_most = |most: u32| number.ok().filter(|number| *number <= most);
        match field {
            Field::GlobalAddress => self.address = value,
            Field::Rank => self.rank = at_most(4)? + 1,
            Field::BoxDim => *self.tile.get_mut(place)? = at_most(256)?,
            Field::GlobalDim => *self.sizes.get_mut(place)? = number.ok()?.into(),
            Field::GlobalStride => *self.strides.get_mut(place)? = value,
            Field::ElementStride => *self.steps.get_mut(place)? = at_most(8)?,
            Field::Elemtype => self.element = *ELEMENTS.get(value as usize)?,
            Field::InterleaveLayout => self.interleave = at_most(2)?,
            Field::SwizzleMode => self.swizzle = at_most(3)?,
            Field::FillMode => self.fill = at_most(1)?,
            Field::SwizzleAtomicity => self.atom = at_most(3)?,
        }
        Some(self)
    }
}

/// Replaces a field of the map at `map`.
///
/// # Safety
/// The 128 bytes at `map` are readable and writable.
pub(crate) unsafe fn replace(map: *mut u8, field: Field, place: u32, value: u64) {
    assert!(map.addr().is_multiple_of(64), "the tensor map at {map:p} is not aligned to 64 bytes: a GPU faults there");
    let bytes = map.cast::<[u8; BYTES]>();
    // SAFETY: the caller's promise.
    let old = TensorMap::decode_to_replace(unsafe { &*bytes })
        .unwrap_or_else(|| panic!("at {map:p} is no tensor map of a CPU: `ptx_kernel::TensorMap::tiled` makes one"));
    let new = old
        .replaced(field, place as usize, value)
        .unwrap_or_else(|| panic!("{field:?} of a tensor map has no place {place}, or cannot be {value}"));
    // SAFETY: the caller's promise.
    unsafe { bytes.write(new.encode()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_its_places_and_values() {
        let map = TensorMap { rank: 2, sizes: [64, 32, 0, 0, 0], ..TensorMap::default() };
        let after = |field, place, value| map.replaced(field, place, value);
        assert_eq!(after(Field::Rank, 0, 4), Some(TensorMap { rank: 5, ..map }));
        assert_eq!(after(Field::GlobalDim, 1, 7).map(|map| map.sizes), Some([64, 7, 0, 0, 0]));
        assert_eq!(after(Field::Elemtype, 0, 8).map(|map| map.element), Some(10), "f32 that flushes");
        assert_eq!(after(Field::Elemtype, 0, 10).map(|map| map.element), Some(9), "bf16");
        for (field, place, value) in [
            (Field::Rank, 0, 5),
            (Field::BoxDim, 5, 1),
            (Field::BoxDim, 0, 257),
            (Field::GlobalStride, 4, 16),
            (Field::Elemtype, 0, 16),
        ] {
            assert_eq!(after(field, place, value), None, "{field:?} {place} {value}");
        }
    }

    #[test]
    fn a_field_is_found_by_its_word() {
        assert_eq!(Field::named("swizzle_atomicity"), Some(Field::SwizzleAtomicity));
        assert_eq!(Field::named("swizzle"), None);
    }
}
