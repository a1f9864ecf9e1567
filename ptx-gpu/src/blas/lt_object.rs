//! Descriptions of cuBLASLt: of products, matrices and wishes. Each is memory of the program's or of this library's, with a number of 64
//! bits for each attribute.

use super::library;
use super::status::{INVALID_VALUE, NOT_SUPPORTED};
use crate::call::{put, put_if};
use crate::output::note;
use crate::status::Result;

/// An object in memory.
pub(super) type Object = *mut u64;

/// A class of objects: the numbers of its attributes, and how many bytes each has.
pub(super) struct Class {
    name: &'static str,
    attributes: &'static [(u32, usize)],
}

/// The numbers of an object: `MatmulDesc` has the most.
const ROOM: usize = 32;

pub(super) static PRODUCT: Class = Class {
    name: "CUBLASLT_MATMUL_DESC",
    attributes: &[
        (0, 4),
        (1, 4),
        (2, 4),
        (3, 4),
        (4, 4),
        (5, 4),
        (6, 4),
        (7, 4),
        (8, 8),
        (10, 8),
        (11, 8),
        (12, 8),
        (13, 8),
        (14, 8),
        (15, 4),
        (17, 8),
        (18, 8),
        (19, 8),
        (20, 8),
        (21, 8),
        (22, 4),
        (23, 8),
        (24, 8),
        (25, 1),
        (26, 4),
        (31, 4),
        (32, 4),
        (33, 4),
        (34, 4),
        (35, 4),
        (36, 8),
        (37, 4),
    ],
};

pub(super) static LAYOUT: Class = Class {
    name: "CUBLASLT_MATRIX_LAYOUT",
    attributes: &[(0, 4), (1, 4), (2, 8), (3, 8), (4, 8), (5, 4), (6, 8), (8, 4)],
};

static PREFERENCE: Class = Class {
    name: "CUBLASLT_MATMUL_PREF",
    attributes: &[(0, 4), (1, 8), (3, 4), (5, 4), (6, 4), (7, 4), (8, 4), (9, 4), (12, 8)],
};

pub(super) static TRANSFORM: Class =
    Class { name: "CUBLASLT_MATRIX_TRANSFORM_DESC", attributes: &[(0, 4), (1, 4), (2, 4), (3, 4)] };

impl Class {
    /// Which number an attribute is, and its bytes.
    fn find(&self, attribute: u32) -> Option<(usize, usize)> {
        let at = self.attributes.iter().position(|(number, _)| *number == attribute)?;
        Some((at, self.attributes[at].1))
    }

    /// An attribute of an object.
    pub(super) fn get(&self, object: Object, attribute: u32) -> Result<u64> {
        let (at, _) = self.find(attribute).ok_or(INVALID_VALUE)?;
        if object.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the program hands over an object of this class.
        Ok(unsafe { object.add(at).read_unaligned() })
    }

    fn put(&self, object: Object, attribute: u32, value: u64) -> Result {
        let (at, _) = self.find(attribute).ok_or(INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { object.add(at).write_unaligned(value) };
        Ok(())
    }

    /// Gives an object values; others are 0.
    fn init(&self, object: Object, bytes: usize, values: &[(u32, u64)]) -> Result {
        if object.is_null() || bytes < size_of_val(&0u64) * self.attributes.len() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the object has these bytes.
        unsafe { object.cast::<u8>().write_bytes(0, bytes) };
        values.iter().try_for_each(|(attribute, value)| self.put(object, *attribute, *value))
    }

    fn create(&self, place: *mut Object, values: &[(u32, u64)]) -> Result {
        let object = Box::into_raw(Box::new([0u64; ROOM])).cast::<u64>();
        self.init(object, size_of::<[u64; ROOM]>(), values)?;
        put(place, object).map_err(|_| INVALID_VALUE)
    }

    fn set(&self, object: Object, attribute: u32, from: *const u8, bytes: usize) -> Result {
        let Some((_, room)) = self.find(attribute) else {
            note(&format!("attribute {attribute} of {} is missing here", self.name));
            return Err(NOT_SUPPORTED);
        };
        if object.is_null() || from.is_null() || bytes != room {
            return Err(INVALID_VALUE);
        }
        let mut value = [0; 8];
        // SAFETY: `from` is readable for `bytes` bytes, which the program says, and which are at most 8.
        unsafe { from.copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
        self.put(object, attribute, u64::from_le_bytes(value))
    }

    fn ask(&self, object: Object, attribute: u32, to: *mut u8, bytes: usize, written: *mut usize) -> Result {
        let (_, room) = self.find(attribute).ok_or(INVALID_VALUE)?;
        put_if(written, room)?;
        if bytes == 0 {
            return Ok(());
        }
        if to.is_null() || bytes < room {
            return Err(INVALID_VALUE);
        }
        let value = self.get(object, attribute)?.to_le_bytes();
        // SAFETY: `to` is writable for `bytes` bytes, which the program says, and which are at least `room`.
        unsafe { value.as_ptr().copy_to_nonoverlapping(to, room) };
        Ok(())
    }
}

fn destroy(object: Object) -> Result {
    if !object.is_null() {
        // SAFETY: `create` has made it.
        drop(unsafe { Box::from_raw(object.cast::<[u64; ROOM]>()) });
    }
    Ok(())
}

/// The attributes of a new product: the whole matrix, no epilogue, and types that follow from others.
fn product(compute: u32, scale: u32) -> [(u32, u64); 6] {
    [(0, compute.into()), (1, scale.into()), (6, 2), (7, 1), (22, u32::MAX.into()), (26, u32::MAX.into())]
}

fn layout(kind: u32, rows: u64, columns: u64, column: i64) -> [(u32, u64); 5] {
    [(0, kind.into()), (2, rows), (3, columns), (4, column as u64), (5, 1)]
}

library! {
    fn cublasLtMatmulDescCreate(place: *mut Object, compute: u32, scale: u32) {
        PRODUCT.create(place, &product(compute, scale))
    }

    fn cublasLtMatmulDescInit_internal(object: Object, bytes: usize, compute: u32, scale: u32) {
        PRODUCT.init(object, bytes, &product(compute, scale))
    }

    fn cublasLtMatmulDescDestroy(object: Object) {
        destroy(object)
    }

    fn cublasLtMatmulDescSetAttribute(object: Object, attribute: u32, from: *const u8, bytes: usize) {
        PRODUCT.set(object, attribute, from, bytes)
    }

    fn cublasLtMatmulDescGetAttribute(object: Object, attribute: u32, to: *mut u8, bytes: usize, written: *mut usize) {
        PRODUCT.ask(object, attribute, to, bytes, written)
    }

    fn cublasLtMatrixLayoutCreate(place: *mut Object, kind: u32, rows: u64, columns: u64, column: i64) {
        LAYOUT.create(place, &layout(kind, rows, columns, column))
    }

    fn cublasLtMatrixLayoutInit_internal(object: Object, bytes: usize, kind: u32, rows: u64, columns: u64, column: i64) {
        LAYOUT.init(object, bytes, &layout(kind, rows, columns, column))
    }

    fn cublasLtMatrixLayoutDestroy(object: Object) {
        destroy(object)
    }

    fn cublasLtMatrixLayoutSetAttribute(object: Object, attribute: u32, from: *const u8, bytes: usize) {
        LAYOUT.set(object, attribute, from, bytes)
    }

    fn cublasLtMatrixLayoutGetAttribute(object: Object, attribute: u32, to: *mut u8, bytes: usize, written: *mut usize) {
        LAYOUT.ask(object, attribute, to, bytes, written)
    }

    fn cublasLtMatmulPreferenceCreate(place: *mut Object) {
        PREFERENCE.create(place, &[])
    }

    fn cublasLtMatmulPreferenceInit_internal(object: Object, bytes: usize) {
        PREFERENCE.init(object, bytes, &[])
    }

    fn cublasLtMatmulPreferenceDestroy(object: Object) {
        destroy(object)
    }

    fn cublasLtMatmulPreferenceSetAttribute(object: Object, attribute: u32, from: *const u8, bytes: usize) {
        PREFERENCE.set(object, attribute, from, bytes)
    }

    fn cublasLtMatmulPreferenceGetAttribute(
        object: Object,
        attribute: u32,
        to: *mut u8,
        bytes: usize,
        written: *mut usize,
    ) {
        PREFERENCE.ask(object, attribute, to, bytes, written)
    }

    fn cublasLtMatrixTransformDescCreate(place: *mut Object, scale: u32) {
        TRANSFORM.create(place, &[(0, scale.into())])
    }

    fn cublasLtMatrixTransformDescInit_internal(object: Object, bytes: usize, scale: u32) {
        TRANSFORM.init(object, bytes, &[(0, scale.into())])
    }

    fn cublasLtMatrixTransformDescDestroy(object: Object) {
        destroy(object)
    }

    fn cublasLtMatrixTransformDescSetAttribute(object: Object, attribute: u32, from: *const u8, bytes: usize) {
        TRANSFORM.set(object, attribute, from, bytes)
    }

    fn cublasLtMatrixTransformDescGetAttribute(
        object: Object,
        attribute: u32,
        to: *mut u8,
        bytes: usize,
        written: *mut usize,
    ) {
        TRANSFORM.ask(object, attribute, to, bytes, written)
    }
}
