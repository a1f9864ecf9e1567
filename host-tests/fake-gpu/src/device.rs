//! What the GPU says of itself: that of `ptx-gpu` with another name, and smaller. So the buffers of the laboratory are small.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use ptx_gpu::Call;

use crate::settings::number;

const NAME: &[u8] = b"Fake GPU\0";
const MEMORY: usize = 1 << 30;
/// Bytes of L2.
const L2: i32 = 1 << 14;

/// How many kernels were launched, and how many when an event was recorded.
static LAUNCHED: AtomicUsize = AtomicUsize::new(0);
static EVENTS: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

/// Puts an answer in the place of what a call has answered.
///
/// # Safety
/// The argument points to a `T`.
unsafe fn put<T>(argument: u64, answer: Option<T>) {
    if let Some(answer) = answer {
        // SAFETY: by this function's contract.
        unsafe { (argument as *mut T).write_unaligned(answer) };
    }
}

/// A call has been answered; what the GPU says otherwise is written over it.
pub(crate) fn after(Call { name, arguments }: Call<'_>) {
    match name {
        "cuLaunchKernel" => _ = LAUNCHED.fetch_add(1, Relaxed),
        "cuEventRecord" => _ = EVENTS.lock().unwrap().insert(arguments[0], LAUNCHED.load(Relaxed)),
        "cuDeviceGetName" if arguments[1] >= NAME.len() as u64 => {
            // SAFETY: there is room for it.
            unsafe { std::ptr::copy_nonoverlapping(NAME.as_ptr(), arguments[0] as *mut u8, NAME.len()) };
        }
        // SAFETY: the calls have written values of these types there.
        _ => unsafe {
            match name {
                "cuDriverGetVersion" => put(arguments[0], number::<i32>("FAKE_VERSION")),
                "cuDeviceGetCount" => put(arguments[0], number::<i32>("FAKE_DEVICES")),
                "cuDeviceTotalMem_v2" => put(arguments[0], Some(MEMORY)),
                "cuDeviceGetAttribute" => put(arguments[0], attribute(arguments[1])),
                "cuEventElapsedTime" => put(arguments[0], elapsed(arguments[1], arguments[2])),
                _ => {}
            }
        },
    }
}

fn attribute(which: u64) -> Option<i32> {
    match which {
        16 => Some(4),       // multiprocessors
        38 => Some(L2),      // bytes of L2
        108 => Some(L2 / 2), // those that can be set aside
        _ => None,
    }
}

/// Milliseconds between two events, if each launch takes so long as is set.
fn elapsed(start: u64, stop: u64) -> Option<f32> {
    let each: f32 = number("FAKE_MICROSECONDS")?;
    let events = EVENTS.lock().unwrap();
    let launches = events.get(&stop)? - events.get(&start)?;
    Some(launches.max(1) as f32 * each / 1e3)
}
