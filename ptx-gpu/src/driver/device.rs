//! The driver itself and its device.

use std::ffi::{CStr, c_char};

use crate::call::{calls, put, put_if, put_text, text};
use crate::device::uuid_bytes;
use crate::gpu::{Gpu, any, begun};
use crate::output;
use crate::status::{INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, Result, Status};

/// The release that this library is like: 13.5.
pub(crate) const VERSION: i32 = 13050;

/// Errors: the program has no such GPU.
pub(crate) fn is_named(device: i32) -> Result {
    any().named(device).map(drop)
}

/// The number in the machine of a GPU that the program names.
fn number(gpu: &Gpu, device: i32) -> Result<usize> {
    Ok(gpu.gpus[gpu.named(device)?].number)
}

/// `CU_DEVICE_P2P_ATTRIBUTE_…`: how slow it is, whether one reaches the other, with atomics, with its arrays; some atomics alone.
fn between(gpu: &Gpu, which: u32, device: i32, peer: i32) -> Result<i32> {
    if gpu.named(device)? == gpu.named(peer)? {
        return Err(INVALID_DEVICE);
    }
    match which {
        1 | 5 => Ok(0),
        2..=4 => Ok(1),
        _ => Err(INVALID_VALUE),
    }
}

fn said(text: *mut *const c_char, words: Option<&CStr>) -> Result {
    put(text, words.map_or(std::ptr::null(), CStr::as_ptr))?;
    words.map_or(Err(INVALID_VALUE), |_| Ok(()))
}

calls! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let mut gpu = any();
        if !std::mem::replace(&mut gpu.is_initialized, true) {
            output::begin();
        }
        if gpu.gpus.is_empty() { Err(NO_DEVICE) } else { Ok(()) }
    }

    fn cuDriverGetVersion(version: *mut i32) {
        put(version, VERSION)
    }

    fn cuGetErrorName(code: u32, text: *mut *const c_char) {
        said(text, Status(code).words().and_then(|words| words.driver.as_deref()))
    }

    fn cuGetErrorString(code: u32, text: *mut *const c_char) {
        said(text, Status(code).words().filter(|words| words.driver.is_some()).map(|words| words.text.as_c_str()))
    }

    fn cuDeviceGetCount(count: *mut i32) {
        put(count, begun()?.gpus.len() as i32)
    }

    fn cuDeviceGet(device: *mut i32, ordinal: i32) {
        begun()?.named(ordinal)?;
        put(device, ordinal)
    }

    fn cuDeviceGetName(name: *mut c_char, room: i32, device: i32) {
        let gpu = begun()?;
        gpu.named(device)?;
        put_text(name, room, &gpu.device.name)
    }

    #[also(cuDeviceGetUuid_v2)]
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: i32) {
        put(uuid, uuid_bytes(number(&any(), device)?))
    }

    fn cuDeviceGetLuid(luid: *mut [u8; 8], mask: *mut u32, device: i32) {
        let number = number(&any(), device)?;
        put(luid, (number as u64).to_le_bytes())?;
        put(mask, 1)
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) {
        let gpu = begun()?;
        gpu.named(device)?;
        put(bytes, gpu.device.memory)
    }

    fn cuDeviceGetAttribute(value: *mut i32, which: u32, device: i32) {
        let gpu = begun()?;
        let number = number(&gpu, device)?;
        put(value, gpu.device.attribute_of(number, which).ok_or(INVALID_VALUE)?)
    }

    fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, device: i32) {
        let gpu = begun()?;
        gpu.named(device)?;
        let sm = gpu.device.sm as i32;
        put(major, sm / 10)?;
        put(minor, sm % 10)
    }

    fn cuDeviceGetPCIBusId(text: *mut c_char, room: i32, device: i32) {
        let gpu = any();
        let [domain, bus, place] = gpu.device.place(number(&gpu, device)?);
        put_text(text, room, &format!("{domain:04x}:{bus:02x}:{place:02x}.0"))
    }

    fn cuDeviceGetByPCIBusId(device: *mut i32, id: *const c_char) {
        let (gpu, id) = (any(), text(id)?);
        let found = gpu.gpus.iter().position(|one| gpu.device.is_at(one.number, id));
        put(device, found.ok_or(INVALID_DEVICE)? as i32)
    }

    fn cuDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) {
        let gpu = any();
        put(can, i32::from(gpu.named(device)? != gpu.named(peer)?))
    }

    fn cuDeviceGetP2PAttribute(value: *mut i32, which: u32, device: i32, peer: i32) {
        put(value, between(&any(), which, device, peer)?)
    }

    fn cuProfilerStart() {
        Ok(())
    }

    fn cuProfilerStop() {
        Ok(())
    }

    fn cuDeviceGetExecAffinitySupport(supported: *mut i32, _kind: u32, device: i32) {
        is_named(device)?;
        put_if(supported, 0)
    }
}
