//! Functions of the library that are missing here.

use super::status::NOT_IMPLEMENTED;
use crate::call::missing;
use crate::output::note_missing;

pub(super) fn say(name: &str) -> u32 {
    note_missing(name, "CUFFT_NOT_IMPLEMENTED");
    NOT_IMPLEMENTED.0
}

missing! {
    say: cufftDebug cufftDescriptionCreate cufftDescriptionDestroy cufftDescriptionGetTraitInt64 cufftDescriptionSetTraitInt64
    cufftDeviceCreate cufftDeviceDestroy cufftDeviceGetDatabaseStr cufftDeviceGetDatabaseStrSize
    cufftDeviceGetDeviceFunctionTraitInt64 cufftDeviceGetDeviceFunctions cufftDeviceGetLTOIRSizes cufftDeviceGetLTOIRs
    cufftDeviceGetNumDeviceFunctions cufftDeviceGetNumLTOIRs cufftDeviceGetSemanticVersion cufftDeviceGetVersion
    cufftDeviceIsSupported cufftXtClearCallback cufftXtExecDescriptor cufftXtExecDescriptorC2C cufftXtExecDescriptorC2R
    cufftXtExecDescriptorD2Z cufftXtExecDescriptorR2C cufftXtExecDescriptorZ2D cufftXtExecDescriptorZ2Z cufftXtFree
    cufftXtMakePlanGuru64 cufftXtMalloc cufftXtMemcpy cufftXtQueryPlan cufftXtSetCallback cufftXtSetCallbackSharedSize
    cufftXtSetGPUs cufftXtSetJITCallback cufftXtSetWorkAreaPolicy
}
