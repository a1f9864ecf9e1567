//! Plans are made, and asked how much memory they work in.

use super::plan::{Number, create, make, plan};
use super::shape::{Given, Shape, after_ones};
use super::status::{INVALID_PLAN, INVALID_VALUE};
use super::types::Type;
use super::{library, put};
use crate::call::all;
use crate::status::Result;

/// Numbers in memory of the program.
struct Side<T> {
    embed: *const T,
    stride: T,
    distance: T,
}

fn simple(kind: u32, sizes: &[i32], batch: i32) -> Result<Shape> {
    let sizes: Vec<i64> = sizes.iter().copied().map(i64::from).collect();
    Shape::new(Type::of(kind)?, &sizes, batch.into(), None)
}

/// `rank` numbers.
fn numbers<T: Copy + Into<i64>>(rank: i32, first: *const T) -> Result<Vec<i64>> {
    if !(1..=3).contains(&rank) {
        return Err(INVALID_VALUE);
    }
    let numbers = all(first, rank as usize).map_err(|_| INVALID_VALUE)?;
    Ok(numbers.into_iter().map(Into::into).collect())
}

/// Where one side has no sizes of storage, all else that is said of places does not count.
fn many<T: Copy + Into<i64>>(kind: Type, rank: i32, sizes: *const T, sides: [Side<T>; 2], batch: T) -> Result<Shape> {
    let given = |side: &Side<T>| {
        let embed = after_ones(&numbers(rank, side.embed)?)?;
        Ok(Given { embed, stride: side.stride.into(), distance: side.distance.into() })
    };
    let is_said = sides.iter().all(|side| !side.embed.is_null());
    let given = if is_said { Some([given(&sides[0])?, given(&sides[1])?]) } else { None };
    Shape::new(kind, &numbers(rank, sizes)?, batch.into(), given)
}

fn side<T>(embed: *const T, stride: T, distance: T) -> Side<T> {
    Side { embed, stride, distance }
}

/// Answers how much memory a plan would work in.
fn size(number: Number, shape: Result<Shape>, place: *mut usize) -> Result {
    plan(number).map_err(|_| INVALID_PLAN)?;
    put(place, shape?.work_size())
}

library! {
    fn cufftPlan1d(place: *mut Number, x: i32, kind: u32, batch: i32) {
        create(place, Some(simple(kind, &[x], batch)?))
    }

    fn cufftPlan2d(place: *mut Number, x: i32, y: i32, kind: u32) {
        create(place, Some(simple(kind, &[x, y], 1)?))
    }

    fn cufftPlan3d(place: *mut Number, x: i32, y: i32, z: i32, kind: u32) {
        create(place, Some(simple(kind, &[x, y, z], 1)?))
    }

    fn cufftPlanMany(place: *mut Number, rank: i32, sizes: *const i32, iembed: *const i32, istride: i32, idist: i32,
        oembed: *const i32, ostride: i32, odist: i32, kind: u32, batch: i32) {
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        create(place, Some(many(Type::of(kind)?, rank, sizes, sides, batch)?))
    }

    fn cufftMakePlan1d(number: Number, x: i32, kind: u32, batch: i32, size: *mut usize) {
        make(number, simple(kind, &[x], batch)?, size)
    }

    fn cufftMakePlan2d(number: Number, x: i32, y: i32, kind: u32, size: *mut usize) {
        make(number, simple(kind, &[x, y], 1)?, size)
    }

    fn cufftMakePlan3d(number: Number, x: i32, y: i32, z: i32, kind: u32, size: *mut usize) {
        make(number, simple(kind, &[x, y, z], 1)?, size)
    }

    fn cufftMakePlanMany(number: Number, rank: i32, sizes: *const i32, iembed: *const i32, istride: i32, idist: i32,
        oembed: *const i32, ostride: i32, odist: i32, kind: u32, batch: i32, size: *mut usize) {
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        make(number, many(Type::of(kind)?, rank, sizes, sides, batch)?, size)
    }

    fn cufftMakePlanMany64(number: Number, rank: i32, sizes: *const i64, iembed: *const i64, istride: i64, idist: i64,
        oembed: *const i64, ostride: i64, odist: i64, kind: u32, batch: i64, size: *mut usize) {
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        make(number, many(Type::of(kind)?, rank, sizes, sides, batch)?, size)
    }

    fn cufftXtMakePlanMany(number: Number, rank: i32, sizes: *const i64, iembed: *const i64, istride: i64, idist: i64,
        input: u32, oembed: *const i64, ostride: i64, odist: i64, output: u32, batch: i64, size: *mut usize, computed: u32) {
        let kind = Type::of_data([input, output, computed])?;
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        make(number, many(kind, rank, sizes, sides, batch)?, size)
    }

    fn cufftEstimate1d(x: i32, kind: u32, batch: i32, place: *mut usize) {
        put(place, simple(kind, &[x], batch)?.work_size())
    }

    fn cufftEstimate2d(x: i32, y: i32, kind: u32, place: *mut usize) {
        put(place, simple(kind, &[x, y], 1)?.work_size())
    }

    fn cufftEstimate3d(x: i32, y: i32, z: i32, kind: u32, place: *mut usize) {
        put(place, simple(kind, &[x, y, z], 1)?.work_size())
    }

    fn cufftEstimateMany(rank: i32, sizes: *const i32, iembed: *const i32, istride: i32, idist: i32,
        oembed: *const i32, ostride: i32, odist: i32, kind: u32, batch: i32, place: *mut usize) {
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        put(place, many(Type::of(kind)?, rank, sizes, sides, batch)?.work_size())
    }

    fn cufftGetSize1d(number: Number, x: i32, kind: u32, batch: i32, place: *mut usize) {
        size(number, simple(kind, &[x], batch), place)
    }

    fn cufftGetSize2d(number: Number, x: i32, y: i32, kind: u32, place: *mut usize) {
        size(number, simple(kind, &[x, y], 1), place)
    }

    fn cufftGetSize3d(number: Number, x: i32, y: i32, z: i32, kind: u32, place: *mut usize) {
        size(number, simple(kind, &[x, y, z], 1), place)
    }

    fn cufftGetSizeMany(number: Number, rank: i32, sizes: *const i32, iembed: *const i32, istride: i32, idist: i32,
        oembed: *const i32, ostride: i32, odist: i32, kind: u32, batch: i32, place: *mut usize) {
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        size(number, many(Type::of(kind)?, rank, sizes, sides, batch), place)
    }

    fn cufftGetSizeMany64(number: Number, rank: i32, sizes: *const i64, iembed: *const i64, istride: i64, idist: i64,
        oembed: *const i64, ostride: i64, odist: i64, kind: u32, batch: i64, place: *mut usize) {
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        size(number, many(Type::of(kind)?, rank, sizes, sides, batch), place)
    }

    fn cufftXtGetSizeMany(number: Number, rank: i32, sizes: *const i64, iembed: *const i64, istride: i64, idist: i64,
        input: u32, oembed: *const i64, ostride: i64, odist: i64, output: u32, batch: i64, place: *mut usize, computed: u32) {
        let kind = Type::of_data([input, output, computed])?;
        let sides = [side(iembed, istride, idist), side(oembed, ostride, odist)];
        size(number, many(kind, rank, sizes, sides, batch), place)
    }
}
