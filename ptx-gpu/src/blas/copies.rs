//! Copies of vectors and matrices between host and device.

use super::exports;
use super::status::{INVALID_VALUE, MAPPING_ERROR};
use crate::calling::call_name;
use crate::driver::copy::Sides;
use crate::handle::Handle;
use crate::perform::{submit, submit_and_wait};
use crate::status::Result;
use crate::work::{Side, Transfer, Work};

/// A copy of rows. `from` and `to` are the address of the first row, and the bytes from one row to the next.
fn rows(sides: Sides, size: [usize; 2], from: (u64, usize), to: (u64, usize)) -> Work {
    let [to_device, from_device] = sides.are_device();
    let side = |(start, row): (u64, usize), is_device| Side { start, is_device, row, plane: 0 };
    let [width, height] = size;
    let (to, from) = (side(to, to_device), side(from, from_device));
    Work::Copy(Transfer { to, from, size: [width, height, 1], call: call_name() })
}

/// Copies in a stream, or waits for it.
fn give(stream: Option<Handle>, work: Work) -> Result {
    let done = match stream {
        Some(stream) => submit(stream, work),
        None => submit_and_wait(&work),
    };
    done.map_err(|_| MAPPING_ERROR)
}

fn matrix(
    sides: Sides,
    rows_and_columns: [i64; 2],
    element: i64,
    from: u64,
    from_column: i64,
    to: u64,
    to_column: i64,
    stream: Option<Handle>,
) -> Result {
    let [row_count, columns] = rows_and_columns;
    let is_wrong = |column: i64| column < row_count.max(1);
    if row_count < 0 || columns < 0 || element <= 0 || is_wrong(from_column) || is_wrong(to_column) {
        return Err(INVALID_VALUE);
    }
    if row_count == 0 || columns == 0 {
        return Ok(());
    }
    let bytes = |count: i64| (count * element) as usize;
    let size = [bytes(row_count), columns as usize];
    give(stream, rows(sides, size, (from, bytes(from_column)), (to, bytes(to_column))))
}

fn matrix_now(
    sides: Sides,
    row_count: i64,
    columns: i64,
    element: i64,
    from: u64,
    from_column: i64,
    to: u64,
    to_column: i64,
) -> Result {
    matrix(sides, [row_count, columns], element, from, from_column, to, to_column, None)
}

fn matrix_in(
    sides: Sides,
    row_count: i64,
    columns: i64,
    element: i64,
    from: u64,
    from_column: i64,
    to: u64,
    to_column: i64,
    stream: Handle,
) -> Result {
    matrix(sides, [row_count, columns], element, from, from_column, to, to_column, Some(stream))
}

fn vector(
    sides: Sides,
    count: i64,
    element: i64,
    from: u64,
    from_step: i64,
    to: u64,
    to_step: i64,
    stream: Option<Handle>,
) -> Result {
    if element <= 0 || from_step <= 0 || to_step <= 0 {
        return Err(INVALID_VALUE);
    }
    if count <= 0 {
        return Ok(());
    }
    let bytes = |count: i64| (count * element) as usize;
    let is_dense = from_step == 1 && to_step == 1;
    let size = if is_dense { [bytes(count), 1] } else { [bytes(1), count as usize] };
    give(stream, rows(sides, size, (from, bytes(from_step)), (to, bytes(to_step))))
}

fn vector_now(sides: Sides, count: i64, element: i64, from: u64, from_step: i64, to: u64, to_step: i64) -> Result {
    vector(sides, count, element, from, from_step, to, to_step, None)
}

fn vector_in(
    sides: Sides,
    count: i64,
    element: i64,
    from: u64,
    from_step: i64,
    to: u64,
    to_step: i64,
    stream: Handle,
) -> Result {
    vector(sides, count, element, from, from_step, to, to_step, Some(stream))
}

exports! {
    matrix_now(rows: Int, columns: Int, element: Int, from: u64, lda: Int, to: u64, ldb: Int) {
        cublasSetMatrix(Sides::To)
        cublasGetMatrix(Sides::From)
    }
    matrix_in(rows: Int, columns: Int, element: Int, from: u64, lda: Int, to: u64, ldb: Int, stream: Handle) {
        cublasSetMatrixAsync(Sides::To)
        cublasGetMatrixAsync(Sides::From)
    }
    vector_now(count: Int, element: Int, from: u64, incx: Int, to: u64, incy: Int) {
        cublasSetVector(Sides::To)
        cublasGetVector(Sides::From)
    }
    vector_in(count: Int, element: Int, from: u64, incx: Int, to: u64, incy: Int, stream: Handle) {
        cublasSetVectorAsync(Sides::To)
        cublasGetVectorAsync(Sides::From)
    }
}
