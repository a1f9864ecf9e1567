//! `FAKE_LATE=1`: a copy to the GPU, within it, or a fill takes effect no earlier than the next thing on its stream; new memory is not
//! zeros.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptx_gpu::Call;

use crate::driver::{Body, SUCCESS, bytes_from, is_alone};
use crate::settings;

/// An address, and the bytes that will be there.
type Late = (u64, Vec<u8>);

/// Copies and fills that have not taken effect yet, by the stream that they are on.
static LATE: Mutex<BTreeMap<u64, Late>> = Mutex::new(BTreeMap::new());

/// The stream that every stream waits for, but for one that was made not to.
const LEGACY: u64 = 0;

fn is_set() -> bool {
    settings::of("FAKE_LATE").is_some()
}

/// The stream whose order work on a stream is in.
fn order_of(stream: u64) -> u64 {
    if stream != LEGACY && is_alone(stream) { stream } else { LEGACY }
}

/// What was late on the stream of a call is there before the call is made.
pub(crate) fn before(Call { name, arguments }: Call<'_>) {
    if !is_set() {
        return;
    }
    match name {
        "cuLaunchKernel" => arrive(arguments[8]),
        "cuStreamSynchronize" | "cuStreamQuery" => arrive(arguments[0]),
        "cuMemcpyDtoH_v2" => arrive(LEGACY),
        "cuMemFree_v2" | "cuMemFreeHost" | "cuModuleUnload" | "cuCtxSynchronize" => {
            std::mem::take(&mut *LATE.lock().unwrap()).into_values().for_each(take_effect);
        }
        _ => {}
    }
}

fn arrive(stream: u64) {
    let late = LATE.lock().unwrap().remove(&order_of(stream));
    late.into_iter().for_each(take_effect);
}

fn take_effect((to, mut bytes): Late) {
    exchange(to, &mut bytes);
}

/// Makes a call. What it writes to device memory comes late.
pub(crate) fn around(Call { name, arguments }: Call<'_>, body: Body<'_>) -> u32 {
    let stream = match name {
        _ if !is_set() => return body(),
        "cuMemAlloc_v2" | "cuMemAllocHost_v2" => return allocated(arguments, body),
        "cuMemcpyHtoD_v2" | "cuMemsetD8_v2" => LEGACY,
        "cuMemcpyHtoDAsync_v2" | "cuMemcpyDtoDAsync_v2" | "cuMemsetD8Async" => arguments[3],
        _ => return body(),
    };
    let (to, bytes) = (arguments[0], arguments[2] as usize);
    if bytes_from(to).is_none_or(|room| room < bytes) {
        return body();
    }
    arrive(stream);
    let mut content = vec![0; bytes];
    // SAFETY: the device memory has these bytes.
    unsafe { std::ptr::copy_nonoverlapping(to as *const u8, content.as_mut_ptr(), bytes) };
    let status = body();
    if status == SUCCESS {
        exchange(to, &mut content);
        LATE.lock().unwrap().insert(order_of(stream), (to, content));
    }
    status
}

/// New memory is not zeros.
fn allocated(arguments: &[u64], body: Body<'_>) -> u32 {
    let status = body();
    if status == SUCCESS {
        // SAFETY: the call has written an address there, and the memory at it has `arguments[1]` bytes.
        unsafe { std::ptr::write_bytes(*(arguments[0] as *const *mut u8), 0xa5, arguments[1] as usize) };
    }
    status
}

/// Exchanges bytes for those in device memory, which is there: what is late arrives before memory is freed.
fn exchange(at: u64, bytes: &mut [u8]) {
    // SAFETY: the memory has these bytes, and nothing is launched meanwhile.
    bytes.swap_with_slice(unsafe { std::slice::from_raw_parts_mut(at as *mut u8, bytes.len()) });
}
