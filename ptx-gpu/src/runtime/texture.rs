//! Texture objects and surface objects, for the runtime.

use super::array::Channels;
use super::error::{INVALID_FILTER, INVALID_NORM, forward, runtime};
use crate::call::{get, put};
use crate::driver::texture as driver;
use crate::gpu::{Handle, live};
use crate::status::{INVALID_VALUE, Result};
use crate::texture::{Described, Object, Sampling, Source};

/// The beginning of `cudaResourceDesc`: what is behind it is reserved.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Description {
    kind: u32,
    start: u64,
    channels: Channels,
    sizes: [usize; 3],
}

/// `cudaTextureDesc`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Sampled {
    outer: [u32; 3],
    filter: u32,
    read: u32,
    is_srgb: i32,
    border: [f32; 4],
    is_normalized: i32,
    // Of levels, which no texture has here.
    levels: [u32; 7],
}

impl Description {
    fn source(&self, call: &str) -> Result<Source> {
        let Description { kind, start, channels, sizes } = *self;
        Described { kind, start, sizes }.source(|| channels.element(), call)
    }

    fn of(source: Source) -> Description {
        let (Described { kind, start, sizes }, element) = source.described();
        Description { kind, start, channels: element.map_or(Channels::none(), Channels::of), sizes }
    }
}

impl Sampled {
    fn sampling(&self) -> Result<Sampling> {
        if self.outer.iter().any(|mode| *mode > 3) || self.filter > 1 || self.read > 1 {
            return Err(INVALID_VALUE);
        }
        Ok(Sampling {
            outer: self.outer,
            is_linear: self.filter == 1,
            is_normalized: self.is_normalized != 0,
            reads_floats: self.read == 1,
            is_srgb: self.is_srgb != 0,
            border: self.border,
        })
    }

    fn of(sampling: &Sampling) -> Sampled {
        Sampled {
            outer: sampling.outer,
            filter: sampling.is_linear.into(),
            read: sampling.reads_floats.into(),
            is_srgb: sampling.is_srgb.into(),
            border: sampling.border,
            is_normalized: sampling.is_normalized.into(),
            levels: [0; 7],
        }
    }
}

runtime! {
    fn cudaCreateTextureObject(place: *mut Handle, of: *const Description, by: *const Sampled, view: *const u32) {
        let call = "cudaCreateTextureObject";
        driver::is_no_view(view, "cudaResourceViewDesc", call)?;
        let (source, sampling) = (get(of)?.source(call)?, get(by)?.sampling()?);
        let mut gpu = live()?;
        let element = gpu.element_of(&source)?;
        if sampling.reads_floats && element.bytes == 4 && element.number != ptx_interpreter::Number::Float {
            return Err(INVALID_NORM);
        }
        if sampling.weighs_integers(element) && !matches!(source, Source::Linear { .. }) {
            return Err(INVALID_FILTER);
        }
        put(place, gpu.create_object(Object { source, sampling: Some(sampling) }, call)?)
    }

    fn cudaGetTextureObjectResourceDesc(place: *mut Description, of: Handle) {
        put(place, Description::of(live()?.object(of, false)?.source))
    }

    fn cudaGetTextureObjectTextureDesc(place: *mut Sampled, of: Handle) {
        let sampling = live()?.object(of, false)?.sampling.ok_or(INVALID_VALUE)?;
        put(place, Sampled::of(&sampling))
    }

    fn cudaCreateSurfaceObject(place: *mut Handle, of: *const Description) {
        let call = "cudaCreateSurfaceObject";
        let source = get(of)?.source(call)?;
        put(place, live()?.create_object(Object { source, sampling: None }, call)?)
    }

    fn cudaGetSurfaceObjectResourceDesc(place: *mut Description, of: Handle) {
        put(place, Description::of(live()?.object(of, true)?.source))
    }
}

forward! {
    cudaDestroyTextureObject(object: Handle) => driver::cuTexObjectDestroy, object;
    cudaDestroySurfaceObject(object: Handle) => driver::cuSurfObjectDestroy, object;
}
