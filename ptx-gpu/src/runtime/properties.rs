//! `cudaDeviceProp`, as CUDA 13 lays it out: most of it is attributes of the device.

use super::error::runtime;
use crate::gpu::live;
use crate::status::{INVALID_DEVICE, INVALID_VALUE};

/// The bytes of the structure, and where the name, the UUID and the bytes of device memory are.
const BYTES: usize = 1008;
const NAME: usize = 0;
const UUID: usize = 256;
const MEMORY: usize = 288;

/// Where attributes are: the first byte, the bytes of each, and their numbers.
const PLACES: [(usize, usize, &[u32]); 87] = [
    (296, 8, &[8]),          // sharedMemPerBlock
    (304, 4, &[12]),         // regsPerBlock
    (308, 4, &[10]),         // warpSize
    (312, 8, &[11]),         // memPitch
    (320, 4, &[1]),          // maxThreadsPerBlock
    (324, 4, &[2, 3, 4]),    // maxThreadsDim
    (336, 4, &[5, 6, 7]),    // maxGridSize
    (352, 8, &[9]),          // totalConstMem
    (360, 4, &[75]),         // major
    (364, 4, &[76]),         // minor
    (368, 8, &[14]),         // textureAlignment
    (376, 8, &[51]),         // texturePitchAlignment
    (384, 4, &[16]),         // multiProcessorCount
    (388, 4, &[18]),         // integrated
    (392, 4, &[19]),         // canMapHostMemory
    (396, 4, &[21]),         // maxTexture1D
    (400, 4, &[77]),         // maxTexture1DMipmap
    (404, 4, &[22, 23]),     // maxTexture2D
    (412, 4, &[73, 74]),     // maxTexture2DMipmap
    (420, 4, &[70, 71, 72]), // maxTexture2DLinear
    (432, 4, &[45, 46]),     // maxTexture2DGather
    (440, 4, &[24, 25, 26]), // maxTexture3D
    (452, 4, &[47, 48, 49]), // maxTexture3DAlt
    (464, 4, &[52]),         // maxTextureCubemap
    (468, 4, &[42, 43]),     // maxTexture1DLayered
    (476, 4, &[27, 28, 29]), // maxTexture2DLayered
    (488, 4, &[53, 54]),     // maxTextureCubemapLayered
    (496, 4, &[55]),         // maxSurface1D
    (500, 4, &[56, 57]),     // maxSurface2D
    (508, 4, &[58, 59, 60]), // maxSurface3D
    (520, 4, &[61, 62]),     // maxSurface1DLayered
    (528, 4, &[63, 64, 65]), // maxSurface2DLayered
    (540, 4, &[66]),         // maxSurfaceCubemap
    (544, 4, &[67, 68]),     // maxSurfaceCubemapLayered
    (552, 8, &[30]),         // surfaceAlignment
    (560, 4, &[31]),         // concurrentKernels
    (564, 4, &[32]),         // ECCEnabled
    (568, 4, &[33]),         // pciBusID
    (572, 4, &[34]),         // pciDeviceID
    (576, 4, &[50]),         // pciDomainID
    (580, 4, &[35]),         // tccDriver
    (584, 4, &[40]),         // asyncEngineCount
    (588, 4, &[41]),         // unifiedAddressing
    (592, 4, &[37]),         // memoryBusWidth
    (596, 4, &[38]),         // l2CacheSize
    (600, 4, &[108]),        // persistingL2CacheMaxSize
    (604, 4, &[39]),         // maxThreadsPerMultiProcessor
    (608, 4, &[78]),         // streamPrioritiesSupported
    (612, 4, &[79]),         // globalL1CacheSupported
    (616, 4, &[80]),         // localL1CacheSupported
    (624, 8, &[81]),         // sharedMemPerMultiprocessor
    (632, 4, &[82]),         // regsPerMultiprocessor
    (636, 4, &[83]),         // managedMemory
    (640, 4, &[84]),         // isMultiGpuBoard
    (644, 4, &[85]),         // multiGpuBoardGroupID
    (648, 4, &[86]),         // hostNativeAtomicSupported
    (652, 4, &[88]),         // pageableMemoryAccess
    (656, 4, &[89]),         // concurrentManagedAccess
    (660, 4, &[90]),         // computePreemptionSupported
    (664, 4, &[91]),         // canUseHostPointerForRegisteredMem
    (668, 4, &[95]),         // cooperativeLaunch
    (672, 8, &[97]),         // sharedMemPerBlockOptin
    (680, 4, &[100]),        // pageableMemoryAccessUsesHostPageTables
    (684, 4, &[101]),        // directManagedMemAccessFromHost
    (688, 4, &[106]),        // maxBlocksPerMultiProcessor
    (692, 4, &[109]),        // accessPolicyMaxWindowSize
    (696, 8, &[111]),        // reservedSharedMemPerBlock
    (704, 4, &[99]),         // hostRegisterSupported
    (708, 4, &[112]),        // sparseCudaArraySupported
    (712, 4, &[113]),        // hostRegisterReadOnlySupported
    (716, 4, &[114]),        // timelineSemaphoreInteropSupported
    (720, 4, &[115]),        // memoryPoolsSupported
    (724, 4, &[116]),        // gpuDirectRDMASupported
    (728, 4, &[117]),        // gpuDirectRDMAFlushWritesOptions
    (732, 4, &[118]),        // gpuDirectRDMAWritesOrdering
    (736, 4, &[119]),        // memoryPoolSupportedHandleTypes
    (740, 4, &[121]),        // deferredMappingCudaArraySupported
    (744, 4, &[125]),        // ipcEventSupported
    (748, 4, &[120]),        // clusterLaunch
    (752, 4, &[129]),        // unifiedFunctionPointers
    (756, 4, &[130]),        // deviceNumaConfig
    (760, 4, &[131]),        // deviceNumaId
    (764, 4, &[133]),        // mpsEnabled
    (768, 4, &[134]),        // hostNumaId
    (772, 4, &[139]),        // gpuPciDeviceID
    (776, 4, &[140]),        // gpuPciSubsystemID
    (780, 4, &[143]),        // hostNumaMultinodeIpcSupported
];

runtime! {
    fn cudaGetDeviceProperties(place: *mut u8, device: i32) {
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        if place.is_null() {
            return Err(INVALID_VALUE);
        }
        let gpu = live()?;
        let mut all = [0u8; BYTES];
        let name = gpu.device.name.as_bytes();
        all[NAME..name.len()].copy_from_slice(name);
        all[UUID..UUID + 16].copy_from_slice(b"ptx-interpreter\0");
        all[MEMORY..MEMORY + 8].copy_from_slice(&(gpu.device.memory as u64).to_le_bytes());
        for (begin, bytes, numbers) in PLACES {
            for (at, number) in numbers.iter().enumerate() {
                let value = i64::from(gpu.device.attribute(*number).unwrap_or(0));
                let begin = begin + at * bytes;
                all[begin..begin + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
        }
        // SAFETY: the program hands over a place for the structure.
        unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), place, BYTES) };
        Ok(())
    }
}
