//! Streams and events, for the runtime.

use super::error::forward;
use crate::driver::stream as driver;
use crate::gpu::Handle;
use crate::stream::StreamValue;

forward! {
    cudaStreamCreate(stream: *mut Handle) => driver::cuStreamCreate, stream, 0;
    cudaStreamCreateWithFlags(stream: *mut Handle, flags: u32) => driver::cuStreamCreate, stream, flags;
    cudaStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32)
        => driver::cuStreamCreateWithPriority, stream, flags, priority;
    cudaStreamDestroy(stream: Handle) => driver::cuStreamDestroy_v2, stream;
    #[ptsz]
    cudaStreamSynchronize(stream: Handle) => driver::cuStreamSynchronize, stream;
    #[ptsz]
    cudaStreamQuery(stream: Handle) => driver::cuStreamQuery, stream;
    #[ptsz]
    cudaStreamWaitEvent(stream: Handle, event: Handle, flags: u32) => driver::cuStreamWaitEvent, stream, event, flags;
    #[ptsz]
    cudaStreamGetFlags(stream: Handle, flags: *mut u32) => driver::cuStreamGetFlags, stream, flags;
    #[ptsz]
    cudaStreamGetPriority(stream: Handle, priority: *mut i32) => driver::cuStreamGetPriority, stream, priority;
    #[ptsz]
    cudaStreamGetDevice(stream: Handle, device: *mut i32) => driver::cuStreamGetDevice, stream, device;
    #[ptsz]
    cudaStreamGetId(stream: Handle, id: *mut u64) => driver::cuStreamGetId, stream, id;
    #[ptsz]
    cudaStreamSetAttribute(stream: Handle, which: u32, value: *const StreamValue)
        => driver::cuStreamSetAttribute, stream, which, value;
    #[ptsz]
    cudaStreamGetAttribute(stream: Handle, which: u32, value: *mut StreamValue)
        => driver::cuStreamGetAttribute, stream, which, value;
    #[ptsz]
    cudaStreamCopyAttributes(to: Handle, from: Handle) => driver::cuStreamCopyAttributes, to, from;
    cudaEventCreate(event: *mut Handle) => driver::cuEventCreate, event, 0;
    cudaEventCreateWithFlags(event: *mut Handle, flags: u32) => driver::cuEventCreate, event, flags;
    cudaEventDestroy(event: Handle) => driver::cuEventDestroy_v2, event;
    #[ptsz]
    cudaEventRecord(event: Handle, stream: Handle) => driver::cuEventRecord, event, stream;
    #[ptsz]
    cudaEventRecordWithFlags(event: Handle, stream: Handle, flags: u32)
        => driver::cuEventRecordWithFlags, event, stream, flags;
    cudaEventSynchronize(event: Handle) => driver::cuEventSynchronize, event;
    cudaEventQuery(event: Handle) => driver::cuEventQuery, event;
    #[also(cudaEventElapsedTime_v2)]
    cudaEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle)
        => driver::cuEventElapsedTime, milliseconds, start, end;
}
