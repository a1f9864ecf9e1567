//! Functions that are missing here.

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
        "{name} is missing here and returns CUDA_ERROR_NOT_SUPPORTED: let the program do without it, or run this part on a GPU"
    ));
    NOT_SUPPORTED.0
}

missing! {
    cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor cuArrayGetMemoryRequirements cuArrayGetPlane
    cuArrayGetSparseProperties cuCheckpointOperationComplete cuCheckpointProcessCheckpoint
    cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock cuCheckpointProcessRestore
    cuCheckpointProcessUnlock cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback cuCoredumpGetAttribute
    cuCoredumpGetAttributeGlobal cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback cuCoredumpSetAttribute
    cuCoredumpSetAttributeGlobal cuCtxAttach cuCtxCreate cuCtxDestroy cuCtxDetach cuCtxFromGreenCtx cuCtxGetDevResource
    cuCtxGetExecAffinity cuCtxPopCurrent cuCtxPushCurrent cuCtxRecordEvent cuCtxWaitEvent cuDestroyExternalMemory
    cuDestroyExternalSemaphore cuDevResourceGenerateDesc cuDevSmResourceSplit cuDevSmResourceSplitByCount
    cuDeviceGetCliqueCount cuDeviceGetCliqueInfo cuDeviceGetDevResource cuDeviceGetFabricClusterUuid
    cuDeviceGetGraphMemAttribute cuDeviceGetHostAtomicCapabilities cuDeviceGetNvSciSyncAttributes
    cuDeviceGetP2PAtomicCapabilities cuDeviceGetP2PAttribute cuDeviceGetProperties cuDeviceGetTexture1DLinearMaxWidth
    cuDeviceRegisterAsyncNotification cuDeviceSetGraphMemAttribute cuDeviceTotalMem cuDeviceUnregisterAsyncNotification
    cuEventDestroy cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray cuFabricCpyBatchAsync
    cuFabricCpyBatchAsync_ptsz cuFlushGPUDirectRDMAWrites cuFuncSetBlockShape cuFuncSetSharedSize cuGraphAddBatchMemOpNode
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphBatchMemOpNodeGetParams
    cuGraphBatchMemOpNodeSetParams cuGraphConditionalHandleCreate cuGraphExecBatchMemOpNodeSetParams
    cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
    cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams cuGraphNodeGetParams
    cuGraphicsMapResources cuGraphicsMapResources_ptsz cuGraphicsResourceGetMappedMipmappedArray
    cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags
    cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
    cuGraphicsUnmapResources_ptsz cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource
    cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuImportExternalMemory
    cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle
    cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 cuLaunch cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync
    cuLaunchHostFunc_v2 cuLaunchHostFunc_v2_ptsz cuLibraryGetUnifiedFunction cuLinkAddData cuLinkAddFile cuLinkCreate
    cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem cuLogicalEndpointCreate
    cuLogicalEndpointDestroy cuLogicalEndpointExport cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease
    cuLogicalEndpointIdReserve cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind cuLogsCurrent
    cuLogsDumpToFile cuLogsDumpToMemory cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemBatchDecompressAsync
    cuMemBatchDecompressAsync_ptsz cuMemDiscardAndPrefetchBatchAsync cuMemDiscardAndPrefetchBatchAsync_ptsz
    cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz cuMemExportToShareableHandle cuMemFree cuMemGetAddressRange
    cuMemGetHandleForAddressRange cuMemGetInfo cuMemGetLocationInfo cuMemHostGetDevicePointer cuMemHostRegister
    cuMemImportFromShareableHandle cuMemMapArrayAsync cuMemMapArrayAsync_ptsz cuMemPoolExportPointer
    cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemRangeGetAttributes
    cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz
    cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3DPeerAsync_ptsz
    cuMemcpy3DPeer_ptds cuMemcpy3DWithAttributesAsync cuMemcpy3DWithAttributesAsync_ptsz cuMemcpyAtoA cuMemcpyAtoD
    cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA
    cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32
    cuMemsetD8 cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements
    cuMipmappedArrayGetSparseProperties cuModuleGetGlobal cuModuleGetSurfRef cuModuleGetTexRef cuMulticastAddDevice
    cuMulticastBindAddr cuMulticastBindAddr_v2 cuMulticastBindMem cuMulticastBindMem_v2 cuMulticastCreate
    cuMulticastGetGranularity cuMulticastUnbind cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv
    cuSignalExternalSemaphoresAsync cuSignalExternalSemaphoresAsync_ptsz cuStreamBatchMemOp cuStreamBatchMemOp_ptsz
    cuStreamBatchMemOp_v2 cuStreamBatchMemOp_v2_ptsz cuStreamBeginCaptureToCig cuStreamBeginCaptureToCig_ptsz
    cuStreamBeginRecaptureToGraph cuStreamBeginRecaptureToGraph_ptsz cuStreamDestroy cuStreamEndCaptureToCig
    cuStreamEndCaptureToCig_ptsz cuStreamGetCtx_v2 cuStreamGetCtx_v2_ptsz cuStreamGetDevResource cuStreamGetDevResource_ptsz
    cuStreamGetGreenCtx cuSurfRefGetArray cuSurfRefSetArray cuTensorMapSetAllocationClass cuTexObjectGetResourceViewDesc
    cuTexRefCreate cuTexRefDestroy cuTexRefGetAddress cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray
    cuTexRefGetBorderColor cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy
    cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray
    cuTexRefSetAddress cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode
    cuTexRefSetAddress_v2 cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat
    cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp
    cuTexRefSetMipmappedArray cuWaitExternalSemaphoresAsync cuWaitExternalSemaphoresAsync_ptsz
}
