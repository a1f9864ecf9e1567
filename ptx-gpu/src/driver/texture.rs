//! Texture objects and surface objects.

use super::array::{element_of, format_of};
use crate::call::{calls, get, put};
use crate::gpu::{Handle, live};
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_SUPPORTED, Result};
use crate::texture::{Described, Object, Sampling, Source};

/// `CU_TRSF_…`
const AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
const SRGB: u32 = 16;

/// The beginning of `CUDA_RESOURCE_DESC`: what is behind it is reserved.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Description {
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

impl Description {
    fn source(&self, call: &str) -> Result<Source> {
        let Description { kind, start, format, channels, sizes } = *self;
        Described { kind, start, sizes }.source(|| element_of(format, channels), call)
    }

    fn of(source: Source) -> Description {
        let (Described { kind, start, sizes }, element) = source.described();
        let (format, channels) = element.map_or((0, 0), format_of);
        Description { kind, start, format, channels, sizes }
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

/// A view of a resource without a format of its own changes nothing but levels and layers. Others are missing.
pub(crate) fn is_no_view(view: *const u32, kind: &str, call: &str) -> Result {
    if view.is_null() || get(view)? == 0 {
        return Ok(());
    }
    note(&format!("{call}: views of a resource ({kind}) are missing here"));
    Err(NOT_SUPPORTED)
}

calls! {
    fn cuTexObjectCreate(place: *mut Handle, of: *const Description, by: *const Sampled, view: *const u32) {
        let call = "cuTexObjectCreate";
        is_no_view(view, "CUDA_RESOURCE_VIEW_DESC", call)?;
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

    fn cuTexObjectGetResourceDesc(place: *mut Description, of: Handle) {
        put(place, Description::of(live()?.object(of, false)?.source))
    }

    fn cuTexObjectGetTextureDesc(place: *mut Sampled, of: Handle) {
        let sampling = live()?.object(of, false)?.sampling.ok_or(INVALID_VALUE)?;
        put(place, Sampled::of(&sampling))
    }

    fn cuSurfObjectCreate(place: *mut Handle, of: *const Description) {
        let call = "cuSurfObjectCreate";
        let source = get(of)?.source(call)?;
        put(place, live()?.create_object(Object { source, sampling: None }, call)?)
    }

    fn cuSurfObjectDestroy(object: Handle) {
        live()?.destroy_object(object, true)
    }

    fn cuSurfObjectGetResourceDesc(place: *mut Description, of: Handle) {
        put(place, Description::of(live()?.object(of, true)?.source))
    }
}
