//! Plans, and what they are told.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::shape::Shape;
use super::status::{INVALID_PLAN, INVALID_VALUE, SETUP_FAILED};
use super::{library, put};
use crate::gpu::live;
use crate::handle::Handle;
use crate::status::Result;

/// Of the headers of CUDA 13.
const VERSION: [i32; 3] = [12, 5, 0];
/// `NVFFT_PLAN_PROPERTY_…`
const PROPERTIES: usize = 4;

/// `cufftHandle`
pub(super) type Number = i32;

#[derive(Clone, Copy, Default)]
pub(super) struct Plan {
    pub(super) shape: Option<Shape>,
    pub(super) stream: Handle,
    /// Whether the program gives it the memory that it works in.
    pub(super) has_own_area: bool,
    pub(super) area: u64,
    properties: [i64; PROPERTIES],
}

#[derive(Default)]
struct Plans {
    all: HashMap<Number, Plan>,
    last: Number,
}

static PLANS: LazyLock<Mutex<Plans>> = LazyLock::new(Mutex::default);

fn plans() -> MutexGuard<'static, Plans> {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn plan(number: Number) -> Result<Plan> {
    plans().all.get(&number).copied().ok_or(INVALID_PLAN)
}

fn change(number: Number, change: impl FnOnce(&mut Plan)) -> Result {
    plans().all.get_mut(&number).map(change).ok_or(INVALID_PLAN)
}

pub(super) fn create(place: *mut Number, shape: Option<Shape>) -> Result {
    drop(live().map_err(|_| SETUP_FAILED)?);
    let mut plans = plans();
    plans.last += 1;
    let number = plans.last;
    put(place, number)?;
    plans.all.insert(number, Plan { shape, ..Plan::default() });
    Ok(())
}

/// A plan is made once.
pub(super) fn make(number: Number, shape: Shape, work_size: *mut usize) -> Result {
    if plan(number)?.shape.is_some() {
        return Err(INVALID_PLAN);
    }
    put(work_size, shape.work_size())?;
    change(number, |plan| plan.shape = Some(shape))
}

fn property(number: u32) -> Result<usize> {
    let at = (number as usize).checked_sub(1).filter(|at| *at < PROPERTIES);
    at.ok_or(INVALID_VALUE)
}

fn set_property(number: Number, which: u32, value: i64) -> Result {
    let at = property(which)?;
    change(number, |plan| plan.properties[at] = value)
}

fn set_area(number: Number, area: u64) -> Result {
    change(number, |plan| (plan.has_own_area, plan.area) = (true, area))
}

library! {
    fn cufftCreate(place: *mut Number) {
        create(place, None)
    }

    fn cufftDestroy(number: Number) {
        plans().all.remove(&number).map(drop).ok_or(INVALID_PLAN)
    }

    fn cufftSetStream(number: Number, stream: Handle) {
        change(number, |plan| plan.stream = stream)
    }

    fn cufftSetAutoAllocation(number: Number, is_automatic: i32) {
        change(number, |plan| plan.has_own_area = is_automatic == 0)
    }

    fn cufftSetWorkArea(number: Number, area: u64) {
        set_area(number, area)
    }

    fn cufftXtSetWorkArea(number: Number, areas: *const u64) {
        set_area(number, crate::call::get(areas).map_err(|_| INVALID_VALUE)?)
    }

    fn cufftGetSize(number: Number, place: *mut usize) {
        put(place, plan(number)?.shape.ok_or(INVALID_PLAN)?.work_size())
    }

    fn cufftGetVersion(version: *mut i32) {
        let [major, minor, patch] = VERSION;
        put(version, major * 1000 + minor * 100 + patch)
    }

    fn cufftGetProperty(which: u32, value: *mut i32) {
        put(value, *VERSION.get(which as usize).ok_or(INVALID_VALUE)?)
    }

    fn cufftSetPlanPropertyInt64(number: Number, which: u32, value: i64) {
        set_property(number, which, value)
    }

    fn cufftGetPlanPropertyInt64(number: Number, which: u32, value: *mut i64) {
        put(value, plan(number)?.properties[property(which)?])
    }

    fn cufftResetPlanProperty(number: Number, which: u32) {
        set_property(number, which, 0)
    }
}
