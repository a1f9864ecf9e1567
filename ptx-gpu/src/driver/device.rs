//! The driver itself and its device.

use std::ffi::{CStr, c_char};

use crate::call::{calls, put, put_if, put_text, text};
use crate::device::UUID;
use crate::gpu::{any, begun};
use crate::status::{INVALID_DEVICE, INVALID_VALUE, Result, Status};

/// The release that this library is like: 13.5.
pub(crate) const VERSION: i32 = 13050;

pub(crate) fn only(device: i32) -> Result {
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
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
        any().is_initialized = true;
        Ok(())
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
        begun().map(drop)?;
        put(count, 1)
    }

    fn cuDeviceGet(device: *mut i32, ordinal: i32) {
        begun().map(drop)?;
        only(ordinal)?;
        put(device, 0)
    }

    fn cuDeviceGetName(name: *mut c_char, room: i32, device: i32) {
        only(device)?;
        put_text(name, room, &begun()?.device.name)
    }

    #[also(cuDeviceGetUuid_v2)]
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: i32) {
        only(device)?;
        put(uuid, UUID)
    }

    fn cuDeviceGetLuid(luid: *mut [u8; 8], mask: *mut u32, device: i32) {
        only(device)?;
        put(luid, [0; 8])?;
        put(mask, 1)
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) {
        only(device)?;
        put(bytes, begun()?.device.memory)
    }

    fn cuDeviceGetAttribute(value: *mut i32, which: u32, device: i32) {
        let gpu = begun()?;
        only(device)?;
        put(value, gpu.device.attribute(which).ok_or(INVALID_VALUE)?)
    }

    fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, device: i32) {
        only(device)?;
        let sm = begun()?.device.sm as i32;
        put(major, sm / 10)?;
        put(minor, sm % 10)
    }

    fn cuDeviceGetPCIBusId(text: *mut c_char, room: i32, device: i32) {
        only(device)?;
        let [domain, bus, place] = any().device.place();
        put_text(text, room, &format!("{domain:04x}:{bus:02x}:{place:02x}.0"))
    }

    fn cuDeviceGetByPCIBusId(device: *mut i32, id: *const c_char) {
        if !any().device.is_at(text(id)?) {
            return Err(INVALID_DEVICE);
        }
        put(device, 0)
    }

    fn cuDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) {
        only(device)?;
        only(peer)?;
        put(can, 0)
    }

    fn cuProfilerStart() {
        Ok(())
    }

    fn cuProfilerStop() {
        Ok(())
    }

    fn cuDeviceGetExecAffinitySupport(supported: *mut i32, _kind: u32, device: i32) {
        only(device)?;
        put_if(supported, 0)
    }
}
