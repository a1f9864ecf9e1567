//! The algorithm of cuBLASLt's products: there is one, and it needs no workspace.

use super::handle::library_of;
use super::library;
use super::lt_object::Object;
use super::lt_product::Product;
use super::status::INVALID_VALUE;
use crate::call::{put, put_if};
use crate::handle::Handle;
use crate::status::Result;

/// `cublasLtMatmulAlgo_t`
type Algorithm = [u64; 8];

const ONLY: Algorithm = [1, 0, 0, 0, 0, 0, 0, 0];

/// `cublasLtMatmulHeuristicResult_t`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Found {
    algorithm: Algorithm,
    workspace: usize,
    status: u32,
    waves: f32,
    reserved: [i32; 4],
}

const FOUND: Found = Found { algorithm: ONLY, workspace: 0, status: 0, waves: 1.0, reserved: [0; 4] };

fn find(handle: Handle, what: Object, layouts: [Object; 4], wanted: i32, found: *mut Found, count: *mut i32) -> Result {
    library_of(handle)?;
    if wanted <= 0 || found.is_null() || count.is_null() {
        return Err(INVALID_VALUE);
    }
    put(count, 0)?;
    Product::of(what, layouts)?;
    put(found, FOUND)?;
    put(count, 1)
}

fn check(handle: Handle, what: Object, layouts: [Object; 4], result: *mut Found) -> Result {
    library_of(handle)?;
    Product::of(what, layouts)?;
    put(result, FOUND).map_err(|_| INVALID_VALUE)
}

/// Gives an attribute that is 0, and of a list nothing.
fn nothing(is_list: bool, to: *mut u8, bytes: usize, written: *mut usize) -> Result {
    if !is_list && !to.is_null() {
        // SAFETY: `to` is writable for `bytes` bytes: the program says so.
        unsafe { to.write_bytes(0, bytes) };
    }
    put_if(written, if is_list { 0 } else { bytes })
}

/// `CUBLASLT_ALGO_CAP_TILE_IDS` and `CUBLASLT_ALGO_CAP_STAGES_IDS`
const LISTS: [u32; 2] = [6, 13];

library! {
    fn cublasLtMatmulAlgoGetHeuristic(
        handle: Handle,
        what: Object,
        a: Object,
        b: Object,
        c: Object,
        d: Object,
        _preference: Object,
        wanted: i32,
        found: *mut Found,
        count: *mut i32,
    ) {
        find(handle, what, [a, b, c, d], wanted, found, count)
    }

    fn cublasLtMatmulAlgoGetHeuristicForStream(
        handle: Handle,
        what: Object,
        a: Object,
        b: Object,
        c: Object,
        d: Object,
        _preference: Object,
        wanted: i32,
        found: *mut Found,
        count: *mut i32,
        _stream: Handle,
    ) {
        find(handle, what, [a, b, c, d], wanted, found, count)
    }

    fn cublasLtMatmulAlgoCheck(
        handle: Handle,
        what: Object,
        a: Object,
        b: Object,
        c: Object,
        d: Object,
        _algorithm: *const Algorithm,
        result: *mut Found,
    ) {
        check(handle, what, [a, b, c, d], result)
    }

    fn cublasLtMatmulAlgoCheckForStream(
        handle: Handle,
        what: Object,
        a: Object,
        b: Object,
        c: Object,
        d: Object,
        _algorithm: *const Algorithm,
        result: *mut Found,
        _stream: Handle,
    ) {
        check(handle, what, [a, b, c, d], result)
    }

    fn cublasLtMatmulAlgoGetIds(
        handle: Handle,
        _compute: u32,
        _scale: u32,
        _a: u32,
        _b: u32,
        _c: u32,
        _d: u32,
        wanted: i32,
        numbers: *mut i32,
        count: *mut i32,
    ) {
        library_of(handle)?;
        if wanted <= 0 || numbers.is_null() {
            return Err(INVALID_VALUE);
        }
        put(numbers, ONLY[0] as i32)?;
        put_if(count, 1)
    }

    fn cublasLtMatmulAlgoInit(
        handle: Handle,
        _compute: u32,
        _scale: u32,
        _a: u32,
        _b: u32,
        _c: u32,
        _d: u32,
        _number: i32,
        algorithm: *mut Algorithm,
    ) {
        library_of(handle)?;
        put(algorithm, ONLY).map_err(|_| INVALID_VALUE)
    }

    fn cublasLtMatmulAlgoCapGetAttribute(
        _algorithm: *const Algorithm,
        attribute: u32,
        to: *mut u8,
        bytes: usize,
        written: *mut usize,
    ) {
        nothing(LISTS.contains(&attribute), to, bytes, written)
    }

    fn cublasLtMatmulAlgoConfigGetAttribute(
        _algorithm: *const Algorithm,
        _attribute: u32,
        to: *mut u8,
        bytes: usize,
        written: *mut usize,
    ) {
        nothing(false, to, bytes, written)
    }

    fn cublasLtMatmulAlgoConfigSetAttribute(
        _algorithm: *mut Algorithm,
        _attribute: u32,
        _from: *const u8,
        _bytes: usize,
    ) {
        Ok(())
    }

    // There is nothing to remember.
    fn cublasLtHeuristicsCacheGetCapacity(capacity: *mut usize) {
        put(capacity, 0).map_err(|_| INVALID_VALUE)
    }

    fn cublasLtHeuristicsCacheSetCapacity(_capacity: usize) {
        Ok(())
    }
}
