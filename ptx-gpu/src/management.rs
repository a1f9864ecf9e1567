//! The functions of `libnvidia-ml.so.1`, as NVIDIA's manual names and describes them. Programs ask it which GPUs there are, and
//! compilers for which one to compile. This GPU has no sensors, no counters of errors, and no links to others.
#![allow(non_snake_case)]

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::call::{functions, get, put, put_text, text};
use crate::changed::Call;
use crate::device::uuid;
use crate::driver::device::VERSION;
use crate::gpu::any;
use crate::status::{INVALID_VALUE, NOT_FOUND, NOT_INITIALIZED, NOT_SUPPORTED, Result, SUCCESS, Status};
use crate::visible::machine;

/// `NVML_ERROR_INSUFFICIENT_SIZE`
const INSUFFICIENT_SIZE: Status = Status(7);
/// `nvmlReturn_t` of the driver's statuses, and what each means.
const MEANINGS: [(Status, u32, &CStr); 6] = [
    (SUCCESS, 0, c"The operation was successful"),
    (NOT_INITIALIZED, 1, c"NVML was not initialized"),
    (INVALID_VALUE, 2, c"A supplied argument is invalid"),
    (NOT_SUPPORTED, 3, c"The requested operation is not available on this device"),
    (NOT_FOUND, 6, c"A query to find an object was unsuccessful"),
    (INSUFFICIENT_SIZE, 7, c"An input argument is not large enough"),
];
/// `NVML_ERROR_UNKNOWN`
const UNKNOWN: u32 = 999;
/// Programs compare it with the least one that they need.
const DRIVER: &str = "610.00";
/// The handle of the first GPU.
const FIRST: usize = 1;
/// The features of `nvmlDeviceGetVirtualizationMode` and of `nvmlDeviceGetComputeMode`: none, and every process may use it.
const NONE: u32 = 0;
/// The version of `nvmlMemory_v2_t`, beside its size.
const RESERVED: u32 = 2 << 24;

/// How often it was begun and not yet ended.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// `nvmlPciInfo_t`
#[repr(C)]
pub(crate) struct Pci {
    /// Its id, with a domain of four digits.
    legacy: [u8; 16],
    /// Domain, bus, place; which device of which maker, twice.
    numbers: [u32; 5],
    id: [u8; 32],
}

/// `nvmlMemory_t`
#[repr(C)]
pub(crate) struct Memory {
    total: u64,
    free: u64,
    used: u64,
}

/// `nvmlMemory_v2_t`
#[repr(C)]
pub(crate) struct ReservedMemory {
    version: u32,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

macro_rules! calls {
    ($($all:tt)*) => { functions! { $crate::management::answer; $($all)* } };
}

/// Questions about what it does not have.
macro_rules! lacking {
    ($($name:ident)*) => { calls! {$(
        fn $name(device: usize) {
            number(device)?;
            Err(NOT_SUPPORTED)
        }
    )*} };
}

fn answer(call: Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    let status = Status(crate::call::answer(call, body));
    MEANINGS.iter().find(|(of, ..)| *of == status).map_or(UNKNOWN, |(_, code, _)| *code)
}

fn begun() -> Result {
    if BEGUN.load(Ordering::Relaxed) > 0 { Ok(()) } else { Err(NOT_INITIALIZED) }
}

/// The number of a GPU by its handle.
fn number(device: usize) -> Result<usize> {
    begun()?;
    device.checked_sub(FIRST).filter(|number| *number < machine()).ok_or(INVALID_VALUE)
}

fn put_handle(device: *mut usize, is_this: impl Fn(usize) -> bool, otherwise: Status) -> Result {
    begun()?;
    let found = (0..machine()).find(|number| is_this(*number));
    put(device, FIRST + found.ok_or(otherwise)?)
}

fn put_whole(place: *mut c_char, room: u32, text: &str) -> Result {
    if (room as usize) <= text.len() {
        return Err(INSUFFICIENT_SIZE);
    }
    put_text(place, room.min(i32::MAX as u32) as i32, text)
}

fn padded<const ROOM: usize>(text: &str) -> [u8; ROOM] {
    std::array::from_fn(|at| text.as_bytes().get(at).copied().unwrap_or_default())
}

fn memory(number: usize) -> Memory {
    let gpu = any();
    let used = gpu.gpus.iter().position(|one| one.number == number).map_or(0, |at| gpu.memory.used(at));
    let free = gpu.device.memory.saturating_sub(used);
    let [total, free, used] = [gpu.device.memory, free, used].map(|bytes| bytes as u64);
    Memory { total, free, used }
}

calls! {
    #[also(nvmlInit, nvmlInitWithFlags)]
    fn nvmlInit_v2() {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn nvmlShutdown() {
        begun()?;
        BEGUN.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    fn nvmlSystemGetDriverVersion(version: *mut c_char, room: u32) {
        begun()?;
        put_whole(version, room, DRIVER)
    }

    fn nvmlSystemGetNVMLVersion(version: *mut c_char, room: u32) {
        begun()?;
        put_whole(version, room, &format!("{}.{DRIVER}", VERSION / 1000))
    }

    #[also(nvmlSystemGetCudaDriverVersion)]
    fn nvmlSystemGetCudaDriverVersion_v2(version: *mut i32) {
        put(version, VERSION)
    }

    #[also(nvmlDeviceGetCount)]
    fn nvmlDeviceGetCount_v2(count: *mut u32) {
        begun()?;
        put(count, machine() as u32)
    }

    #[also(nvmlDeviceGetHandleByIndex)]
    fn nvmlDeviceGetHandleByIndex_v2(index: u32, device: *mut usize) {
        put_handle(device, |number| number == index as usize, INVALID_VALUE)
    }

    fn nvmlDeviceGetHandleByUUID(name: *const c_char, device: *mut usize) {
        let name = text(name)?;
        put_handle(device, |number| uuid(number) == name, NOT_FOUND)
    }

    #[also(nvmlDeviceGetHandleByPciBusId)]
    fn nvmlDeviceGetHandleByPciBusId_v2(id: *const c_char, device: *mut usize) {
        let (gpu, id) = (any(), text(id)?);
        put_handle(device, |number| gpu.device.is_at(number, id), NOT_FOUND)
    }

    #[also(nvmlDeviceGetMinorNumber)]
    fn nvmlDeviceGetIndex(device: usize, index: *mut u32) {
        put(index, number(device)? as u32)
    }

    fn nvmlDeviceGetName(device: usize, name: *mut c_char, room: u32) {
        number(device)?;
        put_whole(name, room, &any().device.name)
    }

    fn nvmlDeviceGetUUID(device: usize, name: *mut c_char, room: u32) {
        put_whole(name, room, &uuid(number(device)?))
    }

    #[also(nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v2)]
    fn nvmlDeviceGetPciInfo_v3(device: usize, found: *mut Pci) {
        let number = number(device)?;
        let [domain, bus, place] = any().device.place(number);
        let id = |digits| format!("{domain:0digits$X}:{bus:02X}:{place:02X}.0");
        put(found, Pci { legacy: padded(&id(4)), numbers: [domain, bus, place, 0, 0], id: padded(&id(8)) })
    }

    fn nvmlDeviceGetCudaComputeCapability(device: usize, major: *mut i32, minor: *mut i32) {
        number(device)?;
        let sm = any().device.sm as i32;
        put(major, sm / 10)?;
        put(minor, sm % 10)
    }

    fn nvmlDeviceGetMemoryInfo(device: usize, found: *mut Memory) {
        put(found, memory(number(device)?))
    }

    fn nvmlDeviceGetMemoryInfo_v2(device: usize, found: *mut ReservedMemory) {
        let number = number(device)?;
        let version = get(found.cast::<u32>())?;
        if version != size_of::<ReservedMemory>() as u32 | RESERVED {
            return Err(INVALID_VALUE);
        }
        let Memory { total, free, used } = memory(number);
        put(found, ReservedMemory { version, total, reserved: 0, free, used })
    }

    #[also(nvmlDeviceGetVirtualizationMode)]
    fn nvmlDeviceGetComputeMode(device: usize, mode: *mut u32) {
        number(device)?;
        put(mode, NONE)
    }

    #[also(nvmlDeviceGetCurrentClocksEventReasons)]
    fn nvmlDeviceGetCurrentClocksThrottleReasons(device: usize, reasons: *mut u64) {
        number(device)?;
        put(reasons, 0)
    }

    #[also(
        nvmlDeviceGetComputeRunningProcesses,
        nvmlDeviceGetComputeRunningProcesses_v2,
        nvmlDeviceGetGraphicsRunningProcesses_v3
    )]
    fn nvmlDeviceGetComputeRunningProcesses_v3(device: usize, count: *mut u32, _processes: usize) {
        number(device)?;
        put(count, 0)
    }
}

lacking! {
    nvmlDeviceGetClockInfo nvmlDeviceGetGpuFabricInfo nvmlDeviceGetGpuFabricInfoV nvmlDeviceGetMaxClockInfo nvmlDeviceGetMigMode
    nvmlDeviceGetCurrPcieLinkGeneration nvmlDeviceGetCurrPcieLinkWidth nvmlDeviceGetNvLinkCapability
    nvmlDeviceGetNumaNodeId nvmlDeviceGetNvLinkRemoteDeviceType nvmlDeviceGetNvLinkRemotePciInfo_v2 nvmlDeviceGetNvLinkState
    nvmlDeviceGetP2PStatus nvmlDeviceGetPowerUsage nvmlDeviceGetTemperature nvmlDeviceGetTotalEccErrors
    nvmlDeviceGetUtilizationRates
}

/// What a status means.
#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(status: u32) -> *const c_char {
    MEANINGS.iter().find(|(_, code, _)| *code == status).map_or(c"Unknown error", |(.., words)| words).as_ptr()
}
