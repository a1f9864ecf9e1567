//! Functions of the runtime that are missing here.

use super::error::remember;
use crate::output::note;
use crate::status::NOT_SUPPORTED;

macro_rules! missing {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> u32 {
            say(stringify!($name))
        }
    )*};
}

fn say(name: &str) -> u32 {
    note(&format!(
        "{name} is missing here and returns cudaErrorNotSupported: let the program do without it, or run this part on a GPU"
    ));
    remember(NOT_SUPPORTED.0)
}

missing! {
    __cudaGetProcAddress __cudaRegisterHostVar __cudaRegisterUnifiedTable cudaArrayGetMemoryRequirements cudaArrayGetPlane
    cudaArrayGetSparseProperties cudaChooseDevice cudaDestroyExternalMemory cudaDestroyExternalSemaphore
    cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount cudaDeviceFlushGPUDirectRDMAWrites
    cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaDeviceGetGraphMemAttribute cudaDeviceGetHostAtomicCapabilities
    cudaDeviceGetNvSciSyncAttributes cudaDeviceGetP2PAtomicCapabilities cudaDeviceGetP2PAttribute
    cudaDeviceGetSharedMemConfig cudaDeviceGetTexture1DLinearMaxWidth cudaDeviceGraphMemTrim
    cudaDeviceRegisterAsyncNotification cudaDeviceSetGraphMemAttribute cudaDeviceSetSharedMemConfig
    cudaDeviceUnregisterAsyncNotification cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
    cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect cudaEGLStreamConsumerReleaseFrame
    cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaExecutionCtxDestroy cudaExecutionCtxGetDevResource
    cudaExecutionCtxGetDevice cudaExecutionCtxGetId cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate
    cudaExecutionCtxSynchronize cudaExecutionCtxWaitEvent cudaExternalMemoryGetMappedBuffer
    cudaExternalMemoryGetMappedMipmappedArray cudaFreeMipmappedArray cudaFuncGetName cudaFuncGetParamCount
    cudaFuncGetParamInfo cudaFuncSetSharedMemConfig cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync
    cudaGLRegisterBufferObject cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject
    cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject cudaGetDeviceFlags cudaGetDeviceProperties_v1
    cudaGetExportTable cudaGetMipmappedArrayLevel cudaGetTextureObjectResourceViewDesc
    cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode cudaGraphConditionalHandleCreate
    cudaGraphConditionalHandleCreate_v2 cudaGraphExecExternalSemaphoresSignalNodeSetParams
    cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExternalSemaphoresSignalNodeGetParams
    cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
    cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphNodeGetParams cudaGraphicsEGLRegisterImage
    cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources cudaGraphicsResourceGetMappedEglFrame
    cudaGraphicsResourceGetMappedMipmappedArray cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
    cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
    cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaGreenCtxCreate cudaImportExternalMemory
    cudaImportExternalSemaphore cudaInitDevice cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle
    cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaLaunchCooperativeKernelMultiDevice cudaLaunchHostFunc_v2
    cudaLaunchHostFunc_v2_ptsz cudaLibraryGetUnifiedFunction cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory
    cudaLogsRegisterCallback cudaLogsUnregisterCallback cudaMallocMipmappedArray cudaMemDiscardAndPrefetchBatchAsync
    cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync cudaMemDiscardBatchAsync_ptsz cudaMemGetDefaultMemPool
    cudaMemGetLocationInfo cudaMemGetMemPool cudaMemPoolCreate cudaMemPoolExportPointer cudaMemPoolExportToShareableHandle
    cudaMemPoolGetAccess cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer cudaMemPoolSetAccess
    cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz cudaMemRangeGetAttribute cudaMemRangeGetAttributes
    cudaMemSetMemPool cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz cudaMemcpy3DPeer cudaMemcpy3DPeerAsync
    cudaMemcpy3DPeerAsync_ptsz cudaMemcpy3DPeer_ptds cudaMemcpy3DWithAttributesAsync cudaMemcpy3DWithAttributesAsync_ptsz
    cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz cudaMemcpyPeerAsync cudaMemcpyWithAttributesAsync
    cudaMemcpyWithAttributesAsync_ptsz cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties
    cudaSetDoubleForDevice cudaSetDoubleForHost cudaSetValidDevices cudaSignalExternalSemaphoresAsync
    cudaSignalExternalSemaphoresAsync_ptsz cudaSignalExternalSemaphoresAsync_v2 cudaSignalExternalSemaphoresAsync_v2_ptsz
    cudaStreamAttachMemAsync cudaStreamAttachMemAsync_ptsz cudaStreamBeginRecaptureToGraph
    cudaStreamBeginRecaptureToGraph_ptsz cudaStreamGetDevResource cudaStreamGetDevResource_ptsz cudaStreamGetDevice
    cudaStreamGetDevice_ptsz cudaSubgridCreate cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate cudaThreadGetCacheConfig
    cudaThreadGetLimit cudaThreadSetCacheConfig cudaThreadSetLimit cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice
    cudaWaitExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync_ptsz cudaWaitExternalSemaphoresAsync_v2
    cudaWaitExternalSemaphoresAsync_v2_ptsz
}
