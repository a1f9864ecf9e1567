//! A tensor map that a program hands over, in one of two formats.

use super::hardware;
use super::map::{BYTES, TensorMap};
use super::refused::{Refused, Result, unknown};
use super::replace::Field;

/// The 128 bytes of a tensor map: of the interpreter's own format, which has a mark in the last bytes, or else of the hardware's.
#[derive(Clone, Copy, Debug)]
pub struct Given([u8; BYTES]);

impl Given {
    /// Bytes of a program; none if there are not 128.
    pub fn new(bytes: &[u8]) -> Option<Given> {
        bytes.try_into().ok().map(Given)
    }

    /// What they describe.
    ///
    /// # Errors
    /// If they are no tensor map, or one with something that is not known.
    pub fn described(&self) -> Result<TensorMap> {
        let mut map = match TensorMap::decode(&self.0) {
            Some(map) => return Ok(map),
            None => self.of_hardware()?,
        };
        let rank = map.rank as usize;
        map.sizes[rank..].fill(0);
        map.tile[rank..].fill(0);
        map.steps[rank..].fill(0);
        map.strides[rank - 1..].fill(0);
        Ok(map)
    }

    /// The bytes of the same format in which a field is replaced; none if there is no such place or value.
    ///
    /// # Errors
    /// If they are no tensor map, or one with something that is not known.
    pub fn replaced(&self, field: Field, place: usize, value: u64) -> Result<Option<[u8; BYTES]>> {
        if let Some(map) = TensorMap::decode_to_replace(&self.0) {
            return Ok(map.replaced(field, place, value).map(|new| new.encode()));
        }
        let Some(new) = self.of_hardware()?.replaced(field, place, value) else { return Ok(None) };
        let told = "tensormap.replace of a tensor map of the hardware's format, where this value's place is not known";
        hardware::encode(&self.0, &new).map_or_else(|| unknown(told), |bytes| Ok(Some(bytes)))
    }

    fn of_hardware(&self) -> Result<TensorMap> {
        let none = || Refused::Wrong("no tensor map of the driver or of CuTe DSL".into());
        hardware::decode(&self.0).ok_or_else(none)?
    }
}
