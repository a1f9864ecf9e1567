//! `cudaDeviceProp`, as CUDA 11, 12 and 13 lay it out: most of it is attributes of the device.

use super::error::runtime;
use crate::device::uuid_bytes;
use crate::gpu::live;
use crate::status::{INVALID_VALUE, Result};

/// The bytes of the structure in each release. That of CUDA 11 ends where CUDA 12's has more fields.
const BYTES_11: usize = 728;
const BYTES_12: usize = 1032;
const BYTES_13: usize = 1008;
/// Where the name, the UUID and the bytes of device memory are, and the first attribute.
const NAME: usize = 0;
const UUID: usize = 256;
const MEMORY: usize = 288;
const FIRST: usize = 296;

/// The releases of CUDA whose structure has a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Both,
    To12,
    From13,
}
use Of::{Both, From13, To12};

/// The fields after those, in their order: the bytes of each number, and which attributes they are.
const FIELDS: [(usize, &[u32], Of); 95] = [
    (8, &[8], Both),          // sharedMemPerBlock
    (4, &[12], Both),         // regsPerBlock
    (4, &[10], Both),         // warpSize
    (8, &[11], Both),         // memPitch
    (4, &[1], Both),          // maxThreadsPerBlock
    (4, &[2, 3, 4], Both),    // maxThreadsDim
    (4, &[5, 6, 7], Both),    // maxGridSize
    (4, &[13], To12),         // clockRate
    (8, &[9], Both),          // totalConstMem
    (4, &[75], Both),         // major
    (4, &[76], Both),         // minor
    (8, &[14], Both),         // textureAlignment
    (8, &[51], Both),         // texturePitchAlignment
    (4, &[15], To12),         // deviceOverlap
    (4, &[16], Both),         // multiProcessorCount
    (4, &[17], To12),         // kernelExecTimeoutEnabled
    (4, &[18], Both),         // integrated
    (4, &[19], Both),         // canMapHostMemory
    (4, &[20], To12),         // computeMode
    (4, &[21], Both),         // maxTexture1D
    (4, &[77], Both),         // maxTexture1DMipmap
    (4, &[69], To12),         // maxTexture1DLinear
    (4, &[22, 23], Both),     // maxTexture2D
    (4, &[73, 74], Both),     // maxTexture2DMipmap
    (4, &[70, 71, 72], Both), // maxTexture2DLinear
    (4, &[45, 46], Both),     // maxTexture2DGather
    (4, &[24, 25, 26], Both), // maxTexture3D
    (4, &[47, 48, 49], Both), // maxTexture3DAlt
    (4, &[52], Both),         // maxTextureCubemap
    (4, &[42, 43], Both),     // maxTexture1DLayered
    (4, &[27, 28, 29], Both), // maxTexture2DLayered
    (4, &[53, 54], Both),     // maxTextureCubemapLayered
    (4, &[55], Both),         // maxSurface1D
    (4, &[56, 57], Both),     // maxSurface2D
    (4, &[58, 59, 60], Both), // maxSurface3D
    (4, &[61, 62], Both),     // maxSurface1DLayered
    (4, &[63, 64, 65], Both), // maxSurface2DLayered
    (4, &[66], Both),         // maxSurfaceCubemap
    (4, &[67, 68], Both),     // maxSurfaceCubemapLayered
    (8, &[30], Both),         // surfaceAlignment
    (4, &[31], Both),         // concurrentKernels
    (4, &[32], Both),         // ECCEnabled
    (4, &[33], Both),         // pciBusID
    (4, &[34], Both),         // pciDeviceID
    (4, &[50], Both),         // pciDomainID
    (4, &[35], Both),         // tccDriver
    (4, &[40], Both),         // asyncEngineCount
    (4, &[41], Both),         // unifiedAddressing
    (4, &[36], To12),         // memoryClockRate
    (4, &[37], Both),         // memoryBusWidth
    (4, &[38], Both),         // l2CacheSize
    (4, &[108], Both),        // persistingL2CacheMaxSize
    (4, &[39], Both),         // maxThreadsPerMultiProcessor
    (4, &[78], Both),         // streamPrioritiesSupported
    (4, &[79], Both),         // globalL1CacheSupported
    (4, &[80], Both),         // localL1CacheSupported
    (8, &[81], Both),         // sharedMemPerMultiprocessor
    (4, &[82], Both),         // regsPerMultiprocessor
    (4, &[83], Both),         // managedMemory
    (4, &[84], Both),         // isMultiGpuBoard
    (4, &[85], Both),         // multiGpuBoardGroupID
    (4, &[86], Both),         // hostNativeAtomicSupported
    (4, &[87], To12),         // singleToDoublePrecisionPerfRatio
    (4, &[88], Both),         // pageableMemoryAccess
    (4, &[89], Both),         // concurrentManagedAccess
    (4, &[90], Both),         // computePreemptionSupported
    (4, &[91], Both),         // canUseHostPointerForRegisteredMem
    (4, &[95], Both),         // cooperativeLaunch
    (4, &[96], To12),         // cooperativeMultiDeviceLaunch
    (8, &[97], Both),         // sharedMemPerBlockOptin
    (4, &[100], Both),        // pageableMemoryAccessUsesHostPageTables
    (4, &[101], Both),        // directManagedMemAccessFromHost
    (4, &[106], Both),        // maxBlocksPerMultiProcessor
    (4, &[109], Both),        // accessPolicyMaxWindowSize
    (8, &[111], Both),        // reservedSharedMemPerBlock
    (4, &[99], Both),         // hostRegisterSupported
    (4, &[112], Both),        // sparseCudaArraySupported
    (4, &[113], Both),        // hostRegisterReadOnlySupported
    (4, &[114], Both),        // timelineSemaphoreInteropSupported
    (4, &[115], Both),        // memoryPoolsSupported
    (4, &[116], Both),        // gpuDirectRDMASupported
    (4, &[117], Both),        // gpuDirectRDMAFlushWritesOptions
    (4, &[118], Both),        // gpuDirectRDMAWritesOrdering
    (4, &[119], Both),        // memoryPoolSupportedHandleTypes
    (4, &[121], Both),        // deferredMappingCudaArraySupported
    (4, &[125], Both),        // ipcEventSupported
    (4, &[120], Both),        // clusterLaunch
    (4, &[129], Both),        // unifiedFunctionPointers
    (4, &[130], From13),      // deviceNumaConfig
    (4, &[131], From13),      // deviceNumaId
    (4, &[133], From13),      // mpsEnabled
    (4, &[134], From13),      // hostNumaId
    (4, &[139], From13),      // gpuPciDeviceID
    (4, &[140], From13),      // gpuPciSubsystemID
    (4, &[143], From13),      // hostNumaMultinodeIpcSupported
];

/// Writes the structure without the fields that only the other release has.
fn write<const BYTES: usize>(place: *mut u8, device: i32, without: Of) -> Result {
    if place.is_null() {
        return Err(INVALID_VALUE);
    }
    let gpu = live()?;
    let number = gpu.gpus[gpu.named(device)?].number;
    let mut all = [0u8; BYTES];
    let name = gpu.device.name.as_bytes();
    all[NAME..name.len()].copy_from_slice(name);
    all[UUID..UUID + 16].copy_from_slice(&uuid_bytes(number));
    all[MEMORY..MEMORY + 8].copy_from_slice(&(gpu.device.memory as u64).to_le_bytes());
    let mut at = FIRST;
    for (bytes, numbers, _) in FIELDS.into_iter().filter(|(_, _, of)| *of != without) {
        at = at.next_multiple_of(bytes);
        if at == BYTES {
            break;
        }
        for which in numbers {
            let value = i64::from(gpu.device.attribute_of(number, *which).unwrap_or(0));
            all[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            at += bytes;
        }
    }
    // SAFETY: the program hands over a place for the structure.
    unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), place, BYTES) };
    Ok(())
}

runtime! {
    fn cudaGetDeviceProperties(place: *mut u8, device: i32) {
        write::<BYTES_13>(place, device, To12)
    }

    // What a program for CUDA 11 calls.
    fn cudaGetDeviceProperties_v1(place: *mut u8, device: i32) {
        write::<BYTES_11>(place, device, From13)
    }

    // What a program for CUDA 12 calls.
    fn cudaGetDeviceProperties_v2(place: *mut u8, device: i32) {
        write::<BYTES_12>(place, device, From13)
    }
}
