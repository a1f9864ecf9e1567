//! Virtual memory management: addresses are reserved, memory is made without an address, and mapped.

use super::memory::{DEVICE, device_of};
use crate::call::{calls, get, put};
use crate::gpu::{Gpu, Handle, live};
use crate::mapped::{GRANULARITY, gpu_of};
use crate::status::{INVALID_DEVICE, INVALID_VALUE, OUT_OF_MEMORY, Result};

/// `CUmemAccessDesc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Access {
    pub(super) kind: u32,
    pub(super) id: i32,
    pub(super) access: u32,
}

/// `CUmemAllocationProp`: memory of a GPU, which no other process gets.
fn properties(gpu: &Gpu, place: *const [u64; 4]) -> Result<[u64; 4]> {
    let all = get(place)?;
    let (kind, shared) = (all[0] as u32, (all[0] >> 32) as u32);
    match (kind, all[1] as u32) {
        (1, DEVICE) => gpu.named(gpu_of(&all) as i32).and(if shared <= 1 { Ok(all) } else { Err(INVALID_VALUE) }),
        _ => Err(INVALID_VALUE),
    }
}

/// What may be accessed around an address is other memory now.
fn changed(gpu: &mut Gpu, address: u64, call: &str) {
    if let Some(accessible) = gpu.mapped.accessible(address) {
        gpu.memory.accessible_changed(&accessible, call);
        gpu.mapped.kept().for_each(|kept| gpu.memory.write(kept.start, kept.end - kept.start));
    }
}

fn is_whole(bytes: usize) -> Result<u64> {
    let bytes = bytes as u64;
    if bytes > 0 && bytes.is_multiple_of(GRANULARITY) { Ok(bytes) } else { Err(INVALID_VALUE) }
}

calls! {
    fn cuMemGetAllocationGranularity(bytes: *mut usize, what: *const [u64; 4], _option: u32) {
        properties(&*live()?, what)?;
        put(bytes, GRANULARITY as usize)
    }

    // An address that the program wishes for is a hint.
    fn cuMemAddressReserve(address: *mut u64, bytes: usize, alignment: usize, _wish: u64, _flags: u64) {
        let (bytes, alignment) = (is_whole(bytes)?, (alignment as u64).max(GRANULARITY));
        if !alignment.is_power_of_two() {
            return Err(INVALID_VALUE);
        }
        let mut gpu = live()?;
        let (begin, number) = gpu.memory.reserve_addresses(bytes, alignment)?;
        gpu.mapped.reserve(begin, bytes, number);
        put(address, begin)
    }

    fn cuMemAddressFree(address: u64, bytes: usize) {
        live()?.mapped.free_addresses(address, bytes as u64)
    }

    fn cuMemCreate(handle: *mut Handle, bytes: usize, what: *const [u64; 4], _flags: u64) {
        let mut gpu = live()?;
        let what = properties(&gpu, what)?;
        let (bytes, of) = (is_whole(bytes)?, gpu_of(&what));
        if bytes > gpu.free_memory(of) as u64 {
            return Err(OUT_OF_MEMORY);
        }
        let piece = gpu.mapped.create(bytes, what)?;
        gpu.memory.uses(of, bytes as usize);
        put(handle, piece)
    }

    fn cuMemRelease(handle: Handle) {
        let mut gpu = live()?;
        let (of, bytes) = gpu.mapped.release(handle)?;
        gpu.memory.gives_back(of, bytes as usize);
        Ok(())
    }

    fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: Handle, _flags: u64) {
        live()?.mapped.map(address, bytes as u64, offset as u64, handle)
    }

    fn cuMemUnmap(address: u64, bytes: usize) {
        let mut gpu = live()?;
        for (of, bytes) in gpu.mapped.unmap(address, bytes as u64)? {
            gpu.memory.gives_back(of, bytes as usize);
        }
        changed(&mut gpu, address, "cuMemUnmap");
        gpu.waits_for_all();
        gpu.order.forget(address, address + bytes as u64);
        Ok(())
    }

    fn cuMemSetAccess(address: u64, bytes: usize, who: *const Access, count: usize) {
        for at in 0..count {
            let Access { kind, id, access } = get(who.wrapping_add(at))?;
            if kind != DEVICE {
                return Err(INVALID_DEVICE);
            }
            let mut gpu = live()?;
            let who = gpu.named(id)?;
            gpu.mapped.set_access(address, bytes as u64, who, access)?;
            changed(&mut gpu, address, "cuMemSetAccess");
        }
        Ok(())
    }

    fn cuMemGetAccess(access: *mut u64, location: *const u64, address: u64) {
        let gpu = live()?;
        let who = gpu.named(device_of(get(location)?))?;
        let found = gpu.mapped.access_of(address, who)?;
        put(access, u64::from(found))
    }

    fn cuMemRetainAllocationHandle(handle: *mut Handle, address: u64) {
        let found = live()?.mapped.retain(address)?;
        put(handle, found)
    }

    fn cuMemGetAllocationPropertiesFromHandle(what: *mut [u64; 4], handle: Handle) {
        let found = live()?.mapped.properties_of(handle)?;
        put(what, found)
    }
}
