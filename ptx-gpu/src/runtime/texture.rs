//! Texture objects and surface objects, for the runtime.

use super::array::Channels;
use super::error::runtime;
use crate::call::{get, put};
use crate::gpu::{Handle, live};
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, Result, Status};
use crate::texture::{Object, Sampling, Source};

/// `cudaErrorInvalidFilterSetting` and `cudaErrorInvalidNormSetting`
const INVALID_FILTER: Status = Status(26);
const INVALID_NORM: Status = Status(27);

/// `cudaResourceType…`
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCH: u32 = 3;

/// The beginning of `cudaResourceDesc`: what is behind it is reserved.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Described {
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

impl Described {
    fn source(&self, call: &str) -> Result<Source> {
        let (begin, [first, height, pitch]) = (self.start, self.sizes);
        Ok(match self.kind {
            ARRAY => Source::Array(begin as Handle),
            LINEAR => Source::Linear { begin, element: self.channels.element()?, bytes: first },
            PITCH => Source::Pitch { begin, element: self.channels.element()?, width: first, height, pitch },
            MIPMAPPED => {
                note(&format!("{call}: arrays with several levels (mipmaps) are missing here"));
                return Err(NOT_SUPPORTED);
            }
            _ => return Err(INVALID_VALUE),
        })
    }

    fn of(source: &Source) -> Described {
        let nothing = Channels::none();
        match *source {
            Source::Array(array) => Described { kind: ARRAY, start: array as u64, channels: nothing, sizes: [0; 3] },
            Source::Linear { begin, element, bytes } => {
                Described { kind: LINEAR, start: begin, channels: Channels::of(element), sizes: [bytes, 0, 0] }
            }
            Source::Pitch { begin, element, width, height, pitch } => {
                let (channels, sizes) = (Channels::of(element), [width, height, pitch]);
                Described { kind: PITCH, start: begin, channels, sizes }
            }
        }
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
    fn cudaCreateTextureObject(place: *mut Handle, of: *const Described, by: *const Sampled, view: *const u32) {
        let call = "cudaCreateTextureObject";
        // A view without a format of its own changes nothing but levels and layers.
        if !view.is_null() && get(view)? != 0 {
            note(&format!("{call}: views of a resource (cudaResourceViewDesc) are missing here"));
            return Err(NOT_SUPPORTED);
        }
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

    fn cudaDestroyTextureObject(object: Handle) {
        live()?.destroy_object(object, false)
    }

    fn cudaGetTextureObjectResourceDesc(place: *mut Described, of: Handle) {
        put(place, Described::of(&live()?.object(of, false)?.source))
    }

    fn cudaGetTextureObjectTextureDesc(place: *mut Sampled, of: Handle) {
        let sampling = live()?.object(of, false)?.sampling.ok_or(INVALID_VALUE)?;
        put(place, Sampled::of(&sampling))
    }

    fn cudaCreateSurfaceObject(place: *mut Handle, of: *const Described) {
        let call = "cudaCreateSurfaceObject";
        let source = get(of)?.source(call)?;
        put(place, live()?.create_object(Object { source, sampling: None }, call)?)
    }

    fn cudaDestroySurfaceObject(object: Handle) {
        live()?.destroy_object(object, true)
    }

    fn cudaGetSurfaceObjectResourceDesc(place: *mut Described, of: Handle) {
        put(place, Described::of(&live()?.object(of, true)?.source))
    }
}
