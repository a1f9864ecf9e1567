//! Launches.

use std::ffi::c_void;

use crate::call::{calls, get};
use crate::caller::Caller;
use crate::gpu::{Function, Gpu, Handle, live};
use crate::perform::{call_back, submit};
use crate::status::{INVALID_VALUE, Result};
use crate::work::{Arguments, Host, HostFunction, Kernel, Shape, Work};

/// `CUlaunchConfig`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Config {
    blocks: [u32; 3],
    threads: [u32; 3],
    shared: u32,
    stream: Handle,
    pub(super) attributes: *const Attribute,
    pub(super) count: u32,
}

/// `CUlaunchAttribute`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Attribute {
    id: u32,
    padding: u32,
    value: [u32; 16],
}

impl Attribute {
    fn handle(&self) -> Handle {
        (u64::from(self.value[1]) << 32 | u64::from(self.value[0])) as Handle
    }

    /// A cluster without a size is as if nothing were said of clusters.
    fn has_size(&self) -> bool {
        self.value[..3] != [0; 3]
    }
}

/// `CU_LAUNCH_ATTRIBUTE_…`
pub(super) const COOPERATIVE: u32 = 2;
pub(super) const CLUSTER: u32 = 4;
const PROGRAMMATIC_STREAM_SERIALIZATION: u32 = 6;
const PROGRAMMATIC_EVENT: u32 = 7;

/// What ends, and what follows, in the list `extra`.
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

impl Config {
    /// What it asks for.
    fn shape(&self, function: &Function) -> Result<Shape> {
        attributes(self.plain(function), self.attributes, self.count)
    }

    /// The same, without its attributes.
    pub(super) fn plain(&self, function: &Function) -> Shape {
        plain(self.blocks, self.threads, self.shared, function)
    }
}

/// Attributes that change how fast a launch is, and not what it does, are taken as they are.
pub(crate) fn attributes(mut shape: Shape, all: *const Attribute, count: u32) -> Result<Shape> {
    for attribute in each(all, count) {
        let attribute = attribute?;
        match attribute.id {
            COOPERATIVE => shape.is_cooperative = attribute.value[0] != 0,
            CLUSTER if attribute.has_size() => shape.cluster.copy_from_slice(&attribute.value[..3]),
            PROGRAMMATIC_STREAM_SERIALIZATION => shape.is_programmatic = attribute.value[0] != 0,
            PROGRAMMATIC_EVENT => shape.event = attribute.handle(),
            _ => {}
        }
    }
    Ok(shape)
}

/// Whether attributes say how large clusters are.
pub(super) fn names_cluster(all: *const Attribute, count: u32) -> Result<bool> {
    each(all, count).try_fold(false, |found, attribute| {
        let attribute = attribute?;
        Ok(found || attribute.id == CLUSTER && attribute.has_size())
    })
}

fn each(all: *const Attribute, count: u32) -> impl Iterator<Item = Result<Attribute>> {
    (0..count as usize).map(move |at| get(all.wrapping_add(at)))
}

/// A launch without attributes.
pub(crate) fn plain(blocks: [u32; 3], threads: [u32; 3], shared: u32, function: &Function) -> Shape {
    let cluster = function.kernel.cluster.unwrap_or([1; 3]);
    Shape { blocks, threads, shared, cluster, is_cooperative: false, is_programmatic: false, event: 0 }
}

/// The bytes of each argument, from the pointers to them.
fn values(function: &Function, pointers: *const *const u8) -> Result<Vec<Vec<u8>>> {
    let value = |(at, (_, bytes)): (usize, &(usize, usize))| {
        let from = get(pointers.wrapping_add(at))?;
        if from.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the program hands over each argument as long as its parameter.
        Ok(unsafe { std::slice::from_raw_parts(from, *bytes) }.to_vec())
    };
    function.kernel.parameters.iter().enumerate().map(value).collect()
}

/// The same, from one buffer with all of them.
fn packed(function: &Function, extra: *const usize) -> Result<Vec<Vec<u8>>> {
    let (mut buffer, mut size, mut at) = (0, 0, 0);
    loop {
        match get(extra.wrapping_add(at))? {
            END => break,
            BUFFER => buffer = get(extra.wrapping_add(at + 1))?,
            BUFFER_SIZE => size = get(get(extra.wrapping_add(at + 1))? as *const usize)?,
            _ => return Err(INVALID_VALUE),
        }
        at += 2;
    }
    let value = |(place, bytes): &(usize, usize)| {
        if buffer == 0 || place + bytes > size {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the program hands over a buffer of this size.
        Ok(unsafe { std::slice::from_raw_parts((buffer + place) as *const u8, *bytes) }.to_vec())
    };
    function.kernel.parameters.iter().map(value).collect()
}

fn arguments(function: &Function, pointers: *const *const u8, extra: *const usize) -> Result<Vec<Vec<u8>>> {
    match (pointers.is_null(), extra.is_null()) {
        (false, false) => Err(INVALID_VALUE),
        (true, false) => packed(function, extra),
        _ => values(function, pointers),
    }
}

/// A kernel with its arguments, as a program hands them over.
pub(crate) fn kernel(
    gpu: &Gpu,
    function: Handle,
    symbol: usize,
    shape: impl FnOnce(&Function) -> Result<Shape>,
    (pointers, extra): (*const *const u8, *const usize),
) -> Result<Kernel> {
    let of = gpu.function(function)?;
    let arguments = Arguments::new(arguments(of, pointers, extra)?);
    Ok(Kernel { function, symbol, shape: shape(of)?, arguments })
}

fn launch(
    function: Handle,
    stream: Handle,
    shape: impl FnOnce(&Function) -> Result<Shape>,
    pointers: *const *const u8,
    extra: *const usize,
) -> Result {
    let mut gpu = live()?;
    let of_stream = gpu.stream(stream)?;
    let of_stream = gpu.order.gpu_of(of_stream);
    let own = gpu.kernel_of_library(function, of_stream)?;
    let kernel = kernel(&gpu, own, function, shape, (pointers, extra))?;
    drop(gpu);
    submit(stream, Work::Kernel(kernel))
}

calls! {
    #[ptsz]
    fn cuLaunchKernel(
        function: Handle,
        x: u32,
        y: u32,
        z: u32,
        threads_x: u32,
        threads_y: u32,
        threads_z: u32,
        shared: u32,
        stream: Handle,
        pointers: *const *const u8,
        extra: *const usize,
    ) {
        let shape = |function: &Function| {
            Ok(plain([x, y, z], [threads_x, threads_y, threads_z], shared, function))
        };
        launch(function, stream, shape, pointers, extra)
    }

    #[ptsz]
    fn cuLaunchCooperativeKernel(
        function: Handle,
        x: u32,
        y: u32,
        z: u32,
        threads_x: u32,
        threads_y: u32,
        threads_z: u32,
        shared: u32,
        stream: Handle,
        pointers: *const *const u8,
    ) {
        let shape = |function: &Function| {
            let shape = plain([x, y, z], [threads_x, threads_y, threads_z], shared, function);
            Ok(Shape { is_cooperative: true, ..shape })
        };
        launch(function, stream, shape, pointers, std::ptr::null())
    }

    #[ptsz]
    fn cuLaunchKernelEx(
        config: *const Config,
        function: Handle,
        pointers: *const *const u8,
        extra: *const usize,
    ) {
        let config = get(config)?;
        launch(function, config.stream, |function| config.shape(function), pointers, extra)
    }

    #[ptsz]
    fn cuLaunchHostFunc(
        stream: Handle,
        function: Option<HostFunction>,
        data: *mut c_void,
    ) {
        let function = function.ok_or(INVALID_VALUE)?;
        submit(stream, Work::Host(Host { function, data: data as usize, called: None }))
    }

    #[ptsz]
    fn cuStreamAddCallback(
        stream: Handle,
        function: Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>,
        data: *mut c_void,
        _flags: u32,
    ) {
        let function = function.ok_or(INVALID_VALUE)?;
        let point = {
            let mut gpu = live()?;
            let stream = gpu.enter_only(stream)?;
            gpu.order.begin(stream, Caller::default())
        };
        // SAFETY: the program hands over a function and its data.
        call_back(&point, || unsafe { function(stream, 0, data) })
    }
}
