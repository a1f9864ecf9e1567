//! What nvcc calls where a kernel has `<<<…>>>` (dynamic parallelism): a buffer for the arguments, and the launch.
//!
//! The launch is only noted. Whoever runs the kernel runs what it has launched: see [`Report::launched`](crate::Report::launched).

use crate::machine::Machine;
use crate::machine::group::{Group, Thread};
use crate::machine::launch::{Asked, DeviceLaunch};
use crate::machine::stop::{Result, gap, wrong};
use crate::memory::spaces::function_at;
use crate::ptx::access::How;

const ALONE: &str = "the kernel launches kernels (dynamic parallelism): `cargo ptx check` alone runs what it launches";

/// `cudaStreamTailLaunch`: when the kernel and all that it launches have ended.
const TAIL: u64 = 3;
/// `cudaErrorMemoryAllocation`
const NO_MEMORY: u32 = 2;
/// What the streams and events of a kernel are: nothing else has this handle.
const HANDLE: u64 = 0x100;

impl Machine<'_> {
    /// A function of the runtime on the device. None if there is no such one here.
    pub(crate) fn call_runtime(
        &mut self,
        group: Group,
        name: &str,
        results: &[u64],
        arguments: &[u64],
    ) -> Option<Result<()>> {
        let name = name.strip_prefix("__cudaCDP2").or_else(|| name.strip_prefix("cuda"))?;
        let call = match (name, arguments, results) {
            ("GetParameterBufferV2", [_, _, _, _], [_]) => Self::parameter_buffer,
            ("LaunchDeviceV2", [_, _], [_]) => Self::launch_from_device,
            ("StreamCreateWithFlags" | "EventCreateWithFlags", [_, _], [_]) => Self::create_handle,
            ("Malloc", [_, _], [_]) => Self::device_malloc,
            ("Free", [_], [_]) => Self::device_free,
            ("StreamDestroy" | "EventDestroy", [_], [_]) => Self::nothing_to_do,
            ("EventRecord" | "EventRecordWithFlags" | "StreamWaitEvent", _, [_]) => Self::nothing_to_do,
            ("GetLastError" | "PeekAtLastError", [], [_]) => Self::nothing_to_do,
            _ => return None,
        };
        let all = group.threads().try_for_each(|thread| {
            let result = call(self, thread, arguments).map_err(|stop| stop.by(thread.lane))?;
            self.answer(thread, results[0], &result);
            Ok(())
        });
        Some(all)
    }

    /// `cudaGetParameterBufferV2`: the kernel, its grid, its blocks, and its dynamic shared memory. Null if there is no room.
    fn parameter_buffer(&mut self, thread: Thread, arguments: &[u64]) -> Result<Vec<u8>> {
        let [kernel, blocks, threads, shared] = arguments else { unreachable!("the call has four arguments") };
        let address = self.argument(thread, *kernel, 8);
        let kernel = function_at(address).and_then(|number| self.program.names.get(number));
        let code = kernel.and_then(|kernel| self.program.functions.get(kernel)).filter(|code| code.is_entry);
        let (Some(kernel), Some(code)) = (kernel, code) else {
            return Err(wrong(format!("no kernel is at {address:#x}, which is launched")));
        };
        let ends = code.places.iter().zip(&code.parameters).map(|(place, parameter)| place + parameter.bytes as u64);
        let buffer = self.allocate(ends.max().unwrap_or_default());
        let dimensions = |at: u64| [0, 4, 8].map(|of| self.argument(thread, at + of, 4) as u32);
        let asked = Asked {
            kernel: kernel.clone(),
            blocks: dimensions(*blocks),
            threads: dimensions(*threads),
            shared: self.argument(thread, *shared, 4) as u32,
        };
        self.asked.insert(buffer, asked);
        Ok(buffer.to_le_bytes().to_vec())
    }

    /// `cudaLaunchDeviceV2`: the buffer, and the stream.
    fn launch_from_device(&mut self, thread: Thread, arguments: &[u64]) -> Result<Vec<u8>> {
        if !self.launch.takes_launched {
            return Err(gap(&[ALONE]));
        }
        let [buffer, stream] = [0, 1].map(|at| self.argument(thread, arguments[at], 8));
        let Some(Asked { kernel, blocks, threads, shared }) = self.asked.remove(&buffer) else {
            return Err(wrong(format!("no buffer for arguments is at {buffer:#x}")));
        };
        let (code, mut arguments) = (&self.program.functions[&kernel], Vec::new());
        for (place, parameter) in code.places.iter().zip(&code.parameters) {
            arguments.push(self.read(buffer + place, parameter.bytes)?);
        }
        self.heap.heap.free(buffer);
        self.tell(|checks, machine| checks.launches_kernel(machine.actor(thread)));
        let place = self.program.place((self.actor(thread), self.site, "launches it".into()), &self.paths);
        let is_tail = stream == TAIL;
        self.launched.push(DeviceLaunch { kernel, blocks, threads, shared, arguments, is_tail, place });
        Ok(vec![0; 4])
    }

    /// `cudaMalloc` on the device: where the pointer goes, and how many bytes.
    fn device_malloc(&mut self, thread: Thread, arguments: &[u64]) -> Result<Vec<u8>> {
        let [to, bytes] = [0, 1].map(|at| self.argument(thread, arguments[at], 8));
        let place = self.allocate(bytes);
        self.watch_one(thread, to, 8, How::WRITE)?;
        self.write_number(to, 8, place)?;
        let status = if place == 0 { NO_MEMORY } else { 0 };
        Ok(status.to_le_bytes().to_vec())
    }

    /// `cudaFree` on the device.
    fn device_free(&mut self, thread: Thread, arguments: &[u64]) -> Result<Vec<u8>> {
        let place = self.argument(thread, arguments[0], 8);
        self.free(thread, place)?;
        Ok(vec![0; 4])
    }

    /// A stream or an event is created: where its handle goes, and flags.
    fn create_handle(&mut self, thread: Thread, arguments: &[u64]) -> Result<Vec<u8>> {
        let place = self.argument(thread, arguments[0], 8);
        self.watch_one(thread, place, 8, How::WRITE)?;
        self.write_number(place, 8, HANDLE)?;
        Ok(vec![0; 4])
    }

    /// What a kernel launches runs after it, one after the other.
    fn nothing_to_do(&mut self, _: Thread, _: &[u64]) -> Result<Vec<u8>> {
        Ok(vec![0; 4])
    }
}
