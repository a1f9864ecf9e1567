//! Transforms are given to streams.

use rustfft::FftDirection;

use super::compute::transform;
use super::library;
use super::plan::{Number, plan};
use super::status::{EXEC_FAILED, INVALID_PLAN, INVALID_VALUE, NO_WORKSPACE};
use super::types::{C2C, C2R, D2Z, Form, R2C, Type, Z2D, Z2Z};
use crate::blas::grid;
use crate::status::Result;

/// `CUFFT_FORWARD` and `CUFFT_INVERSE`
fn direction(number: i32) -> Result<FftDirection> {
    match number {
        -1 => Ok(FftDirection::Forward),
        1 => Ok(FftDirection::Inverse),
        _ => Err(INVALID_VALUE),
    }
}

/// Of a type, if the call is for one alone.
fn execute(number: Number, kind: Option<Type>, [from, to]: [u64; 2], way: i32) -> Result {
    let plan = plan(number)?;
    let shape = plan.shape.ok_or(INVALID_PLAN)?;
    if kind.is_some_and(|kind| kind != shape.kind) || from == 0 || to == 0 {
        return Err(INVALID_VALUE);
    }
    // The others have one direction each.
    let direction = if shape.kind.form == Form::Complex { direction(way)? } else { FftDirection::Forward };
    let size = shape.work_size();
    if plan.has_own_area && plan.area == 0 {
        return Err(NO_WORKSPACE);
    }
    let area = plan.has_own_area.then_some((plan.area, size));
    let does = move |values| transform(&shape, direction, values);
    grid::transform(plan.stream, shape.grids([from, to]), area, does).map_err(|_| EXEC_FAILED)
}

library! {
    fn cufftExecC2C(number: Number, from: u64, to: u64, direction: i32) {
        execute(number, Some(C2C), [from, to], direction)
    }

    fn cufftExecR2C(number: Number, from: u64, to: u64) {
        execute(number, Some(R2C), [from, to], 0)
    }

    fn cufftExecC2R(number: Number, from: u64, to: u64) {
        execute(number, Some(C2R), [from, to], 0)
    }

    fn cufftExecZ2Z(number: Number, from: u64, to: u64, direction: i32) {
        execute(number, Some(Z2Z), [from, to], direction)
    }

    fn cufftExecD2Z(number: Number, from: u64, to: u64) {
        execute(number, Some(D2Z), [from, to], 0)
    }

    fn cufftExecZ2D(number: Number, from: u64, to: u64) {
        execute(number, Some(Z2D), [from, to], 0)
    }

    fn cufftXtExec(number: Number, from: u64, to: u64, direction: i32) {
        execute(number, None, [from, to], direction)
    }
}
