//! Functions by their names.

use std::ffi::{CString, c_char, c_void};
use std::sync::{LazyLock, Once};

use crate::call::{calls, get, put, put_if, text};
use crate::gpu::has_stream_of_thread;
use crate::handle::{Handle, next};
use crate::output::note;
use crate::status::{INVALID_VALUE, NOT_FOUND, Result};

/// The table that NVRTC asks for, and does without.
const OF_NVRTC: [u8; 16] = 0xda91_51d3_3ae6_cc41_a5c0_4f26_d533_e328_u128.to_be_bytes();
/// Versions that a function of a later release has: a caller of an older one expects the one before.
const LATER: [(&str, i32); 36] = [
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    ("cuCtxGetDevice_v2", 13000),
    ("cuCtxSynchronize_v2", 13000),
    ("cuDeviceGetUuid_v2", 11040),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuGraphAddNode_v2", 12030),
    ("cuGraphAddNode_v3", 13040),
    ("cuGraphExecKernelNodeSetParams_v2", 12000),
    ("cuGraphExecUpdate_v2", 12000),
    ("cuGraphGetEdges_v2", 12030),
    ("cuGraphKernelNodeGetParams_v2", 12000),
    ("cuGraphKernelNodeSetParams_v2", 12000),
    ("cuGraphNodeGetDependencies_v2", 12030),
    ("cuGraphNodeGetDependentNodes_v2", 12030),
    ("cuGraphNodeSetParams_v2", 13040),
    ("cuGraphRemoveDependencies_v2", 12030),
    ("cuLaunchHostFunc_v2", 13010),
    ("cuMemAdvise_v2", 12020),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuMemcpy3DBatchAsync_v2", 13000),
    ("cuMemcpyBatchAsync_v2", 13000),
    ("cuMulticastBindAddr_v2", 13010),
    ("cuMulticastBindMem_v2", 13010),
    ("cuStreamBatchMemOp_v2", 11070),
    ("cuStreamGetCaptureInfo_v2", 11030),
    ("cuStreamGetCaptureInfo_v3", 12030),
    ("cuStreamGetCtx_v2", 12050),
    ("cuStreamUpdateCaptureDependencies_v2", 12030),
    ("cuStreamWaitValue32_v2", 11070),
    ("cuStreamWaitValue64_v2", 11070),
    ("cuStreamWriteValue32_v2", 11070),
    ("cuStreamWriteValue64_v2", 11070),
];

/// From this release on `cuGraphInstantiate` is another function.
const WITH_FLAGS: i32 = 12000;

/// `CU_GET_PROC_ADDRESS_LEGACY_STREAM` and `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const LEGACY: u64 = 1;
const PER_THREAD: u64 = 2;

/// This library, as the system's loader knows it.
static LIBRARY: LazyLock<usize> = LazyLock::new(|| {
    let mut place = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is of this library, so its path comes back, and it is open already.
    unsafe {
        libc::dladdr((&raw const LIBRARY).cast(), &raw mut place);
        libc::dlopen(place.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD) as usize
    }
});

/// A function of this library.
fn symbol(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the library stays open.
    let found = unsafe { libc::dlsym(*LIBRARY as *mut c_void, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The newest function of a name that a release of the driver has. A caller whose default stream is the thread's own gets
/// functions with that stream, if it does not ask for others.
pub(crate) fn find(name: &str, release: i32, flags: u64) -> Option<*mut c_void> {
    let flags = if flags & LEGACY == 0 && has_stream_of_thread() { flags | PER_THREAD } else { flags };
    let name = if name == "cuGraphInstantiate" && release >= WITH_FLAGS { "cuGraphInstantiateWithFlags" } else { name };
    let versions = ["_v4", "_v3", "_v2", ""];
    let in_time = |name: &str| LATER.iter().all(|(other, since)| *other != name || *since <= release);
    let threads = if flags & PER_THREAD != 0 { &["_ptsz", "_ptds", ""][..] } else { &[""] };
    let names = versions.iter().map(|version| format!("{name}{version}")).filter(|name| in_time(name));
    names.flat_map(|name| threads.iter().map(move |thread| format!("{name}{thread}"))).find_map(|name| symbol(&name))
}

fn address(name: *const c_char, place: *mut *mut c_void, release: i32, flags: u64, status: *mut u32) -> Result {
    let found = find(text(name)?, release, flags);
    // Found, or not known.
    put_if(status, if found.is_some() { 0 } else { 1 })?;
    put(place, found.unwrap_or(std::ptr::null_mut()))?;
    found.map(drop).ok_or(NOT_FOUND)
}

static SAID: Once = Once::new();

calls! {
    fn cuGetProcAddress(name: *const c_char, place: *mut *mut c_void, release: i32, flags: u64) {
        address(name, place, release, flags, std::ptr::null_mut())
    }

    #[ptsz]
    fn cuGetProcAddress_v2(
        name: *const c_char,
        place: *mut *mut c_void,
        release: i32,
        flags: u64,
        status: *mut u32,
    ) {
        address(name, place, release, flags, status)
    }

    // Messages about errors: none is written here, so that nobody is called.
    fn cuLogsRegisterCallback(call: *const c_void, _data: *mut c_void, registered: *mut Handle) {
        if call.is_null() {
            return Err(INVALID_VALUE);
        }
        put(registered, next())
    }

    fn cuLogsUnregisterCallback(_registered: Handle) {
        Ok(())
    }

    // Tables that no document describes. NVIDIA's own libraries ask for them.
    fn cuGetExportTable(table: *mut *const c_void, which: *const [u8; 16]) {
        if get(which)? != OF_NVRTC {
            SAID.call_once(|| {
                note(
                    "cuGetExportTable is missing here: a stripped library has a runtime in it that is older than CUDA 12.8; link that with \
                     `-cudart shared`, or leave its symbols",
                );
            });
        }
        put(table, std::ptr::null())?;
        Err(NOT_FOUND)
    }
}
