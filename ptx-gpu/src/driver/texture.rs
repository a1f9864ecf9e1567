//! Texture objects and surface objects.

use super::array::{element_of, format_of};
use crate::call::{calls, get, put};
use crate::gpu::{Handle, live};
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, Result};
use crate::texture::{Object, Sampling, Source};

/// `CU_RESOURCE_TYPE_…`
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCH: u32 = 3;

/// `CU_TRSF_…`
const AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
const SRGB: u32 = 16;

/// The beginning of `CUDA_RESOURCE_DESC`: what is behind it is reserved.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Described {
    kind: u32,
    start: u64,
    format: u32,
    channels: u32,
    sizes: [usize; 3],
}

/// `CUDA_TEXTURE_DESC`, without what is reserved behind it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Sampled {
    outer: [u32; 3],
    filter: u32,
    flags: u32,
    // Of levels, which no texture has here.
    levels: [u32; 5],
    border: [f32; 4],
}

impl Described {
    fn source(&self, call: &str) -> Result<Source> {
        let (begin, [first, height, pitch]) = (self.start, self.sizes);
        let element = || element_of(self.format, self.channels);
        Ok(match self.kind {
            ARRAY => Source::Array(begin as Handle),
            LINEAR => Source::Linear { begin, element: element()?, bytes: first },
            PITCH => Source::Pitch { begin, element: element()?, width: first, height, pitch },
            MIPMAPPED => {
                note(&format!("{call}: arrays with several levels (mipmaps) are missing here"));
                return Err(NOT_SUPPORTED);
            }
            _ => return Err(INVALID_VALUE),
        })
    }

    fn of(source: &Source) -> Described {
        match *source {
            Source::Array(array) => {
                Described { kind: ARRAY, start: array as u64, format: 0, channels: 0, sizes: [0; 3] }
            }
            Source::Linear { begin, element, bytes } => {
                let (format, channels) = format_of(element);
                Described { kind: LINEAR, start: begin, format, channels, sizes: [bytes, 0, 0] }
            }
            Source::Pitch { begin, element, width, height, pitch } => {
                let (format, channels) = format_of(element);
                Described { kind: PITCH, start: begin, format, channels, sizes: [width, height, pitch] }
            }
        }
    }
}

impl Sampled {
    fn sampling(&self) -> Result<Sampling> {
        if self.outer.iter().any(|mode| *mode > 3) || self.filter > 1 {
            return Err(INVALID_VALUE);
        }
        Ok(Sampling {
            outer: self.outer,
            is_linear: self.filter == 1,
            is_normalized: self.flags & NORMALIZED != 0,
            reads_floats: self.flags & AS_INTEGER == 0,
            is_srgb: self.flags & SRGB != 0,
            border: self.border,
        })
    }

    fn of(sampling: &Sampling) -> Sampled {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(!sampling.reads_floats, AS_INTEGER)
            | flag(sampling.is_normalized, NORMALIZED)
            | flag(sampling.is_srgb, SRGB);
        let (outer, filter, border) = (sampling.outer, sampling.is_linear.into(), sampling.border);
        Sampled { outer, filter, flags, levels: [0; 5], border }
    }
}

calls! {
    fn cuTexObjectCreate(place: *mut Handle, of: *const Described, by: *const Sampled, view: *const u32) {
        let call = "cuTexObjectCreate";
        // A view without a format of its own changes nothing but levels and layers.
        if !view.is_null() && get(view)? != 0 {
            note(&format!("{call}: views of a resource (CUDA_RESOURCE_VIEW_DESC) are missing here"));
            return Err(NOT_SUPPORTED);
        }
        let (source, sampling) = (get(of)?.source(call)?, get(by)?.sampling()?);
        let mut gpu = live()?;
        if sampling.weighs_integers(gpu.element_of(&source)?) && !matches!(source, Source::Linear { .. }) {
            return Err(INVALID_VALUE);
        }
        put(place, gpu.create_object(Object { source, sampling: Some(sampling) }, call)?)
    }

    fn cuTexObjectDestroy(object: Handle) {
        live()?.destroy_object(object, false)
    }

    fn cuTexObjectGetResourceDesc(place: *mut Described, of: Handle) {
        put(place, Described::of(&live()?.object(of, false)?.source))
    }

    fn cuTexObjectGetTextureDesc(place: *mut Sampled, of: Handle) {
        let sampling = live()?.object(of, false)?.sampling.ok_or(INVALID_VALUE)?;
        put(place, Sampled::of(&sampling))
    }

    fn cuSurfObjectCreate(place: *mut Handle, of: *const Described) {
        let call = "cuSurfObjectCreate";
        let source = get(of)?.source(call)?;
        put(place, live()?.create_object(Object { source, sampling: None }, call)?)
    }

    fn cuSurfObjectDestroy(object: Handle) {
        live()?.destroy_object(object, true)
    }

    fn cuSurfObjectGetResourceDesc(place: *mut Described, of: Handle) {
        put(place, Described::of(&live()?.object(of, true)?.source))
    }
}
