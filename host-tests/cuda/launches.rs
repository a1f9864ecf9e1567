//! Launches, streams and events.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use super::hostile::{all_arrive, arrive, code_of, launched, names};
use super::{FAULT, KERNELS, Kernel, LAUNCHER, NOT_READY, SUCCESS, note, setting};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: usize,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    stream: *mut c_void,
    arguments: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> u32 {
    let (module, name, last) = {
        let Kernel { module, name, parameters, .. } = &KERNELS.lock().unwrap()[function - 1];
        (*module, name.clone(), parameters.as_ref().and_then(|sizes| sizes.len().checked_sub(1)))
    };
    let sizes = [grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes];
    note(format!("cuLaunchKernel {} {:?} {shared_bytes}", name.to_str().unwrap(), &sizes[..6]));
    let fault = *FAULT.lock().unwrap();
    let is_this = |kernel: &str| name.to_bytes() == kernel.as_bytes();
    launched(&name);
    arrive(stream);
    LAUNCHED.fetch_add(1, Relaxed);
    if names("FAKE_HANG", &name) {
        *FAULT.lock().unwrap() = NOT_READY;
        return SUCCESS;
    }
    if let Some(code) = code_of("FAKE_LAUNCH", is_this) {
        return code;
    }
    if let Some(code) = code_of("FAKE_FAULT", is_this) {
        *FAULT.lock().unwrap() = code;
        return fault;
    }
    let launcher = *LAUNCHER.lock().unwrap();
    if let (Some(launch), SUCCESS) = (launcher, fault) {
        let ended = unsafe { launch(module, name.as_ptr(), sizes.as_ptr(), arguments) };
        *FAULT.lock().unwrap() = ended;
    }
    if names("FAKE_FLIP", &name) {
        unsafe { flip(last, arguments) };
    }
    fault
}

/// Changes the lowest bit where an argument points to.
unsafe fn flip(argument: Option<usize>, arguments: *mut *mut c_void) {
    let argument = argument.expect("the kernel has parameters");
    unsafe {
        let place = (*arguments.add(argument)).cast::<*mut u8>().read();
        *place ^= 1;
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> u32 {
    arrive(stream);
    *FAULT.lock().unwrap()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(stream: *mut c_void) -> u32 {
    arrive(stream);
    *FAULT.lock().unwrap()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> u32 {
    all_arrive();
    *FAULT.lock().unwrap()
}

/// A GPU as new.
#[unsafe(no_mangle)]
pub extern "C" fn fake_forget_fault() {
    *FAULT.lock().unwrap() = SUCCESS;
}

/// The handle of a stream is 0xe0 and its flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, _priority: i32) -> u32 {
    unsafe { stream.write((0xe0 | flags as usize) as *mut c_void) };
    SUCCESS
}

/// How many kernels were launched.
static LAUNCHED: AtomicUsize = AtomicUsize::new(0);
/// How many there were when an event was recorded; its handle is the place here plus one.
static EVENTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _flags: u32) -> u32 {
    let mut events = EVENTS.lock().unwrap();
    events.push(0);
    unsafe { event.write(events.len() as *mut c_void) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: usize, _stream: *mut c_void) -> u32 {
    EVENTS.lock().unwrap()[event - 1] = LAUNCHED.load(Relaxed);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, stop: usize) -> u32 {
    let events = EVENTS.lock().unwrap();
    let elapsed = match setting("FAKE_MICROSECONDS", 0) {
        0 => 2.0,
        each => (events[stop - 1] - events[start - 1]).max(1) as f32 * each as f32 / 1e3,
    };
    unsafe { milliseconds.write(elapsed) };
    SUCCESS
}
