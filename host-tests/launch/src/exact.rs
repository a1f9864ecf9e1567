//! Memory of the GPU of exactly so many bytes, so that a tool sees an access beyond them, and a read of what nobody wrote.

use std::mem::ManuallyDrop;

use cust::memory::{CopyDestination, DeviceBuffer};
use ptx_build::error::Result;

use crate::gpu::{Gpu, is_gone};
use crate::watch::watched;

/// Such memory; freed when dropped.
pub struct Exact {
    memory: ManuallyDrop<DeviceBuffer<u8>>,
}

impl Drop for Exact {
    fn drop(&mut self) {
        if !is_gone() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

impl Exact {
    /// Where it begins on the GPU.
    pub fn address(&self) -> u64 {
        self.memory.as_device_ptr().as_raw()
    }
}

impl Gpu {
    /// Memory with this content.
    pub fn exact(&self, content: &[u8]) -> Result<Exact> {
        let memory = watched("copying to the GPU", || DeviceBuffer::from_slice(content));
        let memory = memory.map_err(|error| self.failed("copying to the GPU", error as u32))?;
        Ok(Exact { memory: ManuallyDrop::new(memory) })
    }

    /// Memory that nobody has written.
    pub fn unwritten(&self, bytes: usize) -> Result<Exact> {
        // SAFETY: any byte is one, and no reference to them is made.
        let memory = unsafe { DeviceBuffer::uninitialized(bytes) };
        let memory = memory.map_err(|error| self.failed("reserving memory", error as u32))?;
        Ok(Exact { memory: ManuallyDrop::new(memory) })
    }

    /// Its bytes.
    pub fn bytes_of(&self, exact: &Exact) -> Result<Vec<u8>> {
        let mut all = vec![0; exact.memory.len()];
        let copied = watched("copying from the GPU", || exact.memory.copy_to(&mut all[..]));
        copied.map_err(|error| self.failed("copying from the GPU", error as u32))?;
        Ok(all)
    }
}
