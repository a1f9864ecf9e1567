//! Functions of the library that are missing here.

use super::status::NOT_SUPPORTED;
use crate::call::missing;
use crate::output::note_missing;

fn say(name: &str) -> u32 {
    note_missing(name, "CUBLAS_STATUS_NOT_SUPPORTED");
    NOT_SUPPORTED.0
}

missing! {
    say: cublasAlloc cublasCaxpy cublasCcopy cublasCdotc cublasCdotu cublasCgbmv cublasCgelsBatched cublasCgemm cublasCgemv
    cublasCgeqrfBatched cublasCgerc cublasCgeru cublasCgetrfBatched cublasCgetriBatched cublasCgetrsBatched cublasChbmv
    cublasChemm cublasChemv cublasCher cublasCher2 cublasCher2k cublasCherk cublasChpmv cublasChpr cublasChpr2
    cublasCmatinvBatched cublasCrot cublasCrotg cublasCscal cublasCsrot cublasCsscal cublasCswap cublasCsymm
    cublasCsyr2k cublasCsyrk cublasCtbmv cublasCtbsv cublasCtpmv cublasCtpsv cublasCtrmm cublasCtrmv cublasCtrsm
    cublasCtrsv cublasDasum cublasDaxpy cublasDcopy cublasDdot cublasDgbmv cublasDgelsBatched cublasDgemm cublasDgemv
    cublasDgeqrfBatched cublasDger cublasDgetrfBatched cublasDgetriBatched cublasDgetrsBatched cublasDmatinvBatched
    cublasDnrm2 cublasDrot cublasDrotg cublasDrotm cublasDrotmg cublasDsbmv cublasDscal cublasDspmv cublasDspr
    cublasDspr2 cublasDswap cublasDsymm cublasDsymv cublasDsyr cublasDsyr2 cublasDsyr2k cublasDsyrk cublasDtbmv
    cublasDtbsv cublasDtpmv cublasDtpsv cublasDtrmm cublasDtrmv cublasDtrsm cublasDtrsv cublasDzasum cublasDznrm2
    cublasFree cublasGetEmulationSpecialValuesSupport cublasGetEmulationStrategy cublasGetError
    cublasGetFixedPointEmulationMantissaBitCountPointer cublasGetFixedPointEmulationMantissaBitOffset
    cublasGetFixedPointEmulationMantissaControl cublasGetFixedPointEmulationMaxMantissaBitCount cublasGetVersion
    cublasIcamax cublasIcamin cublasIdamax cublasIdamin cublasInit cublasIsamax cublasIsamin cublasIzamax cublasIzamin
    cublasLtEmulationDescCreate cublasLtEmulationDescDestroy cublasLtEmulationDescGetAttribute
    cublasLtEmulationDescInit_internal cublasLtEmulationDescSetAttribute cublasLtGroupedMatrixLayoutCreate
    cublasLtGroupedMatrixLayoutInit_internal cublasSasum cublasSaxpy cublasScasum cublasScnrm2 cublasScopy cublasSdot
    cublasSetEmulationSpecialValuesSupport cublasSetEmulationStrategy
    cublasSetFixedPointEmulationMantissaBitCountPointer cublasSetFixedPointEmulationMantissaBitOffset
    cublasSetFixedPointEmulationMantissaControl cublasSetFixedPointEmulationMaxMantissaBitCount cublasSetKernelStream
    cublasSgbmv cublasSgelsBatched cublasSgemm cublasSgemv cublasSgeqrfBatched cublasSger cublasSgetrfBatched
    cublasSgetriBatched cublasSgetrsBatched cublasShutdown cublasSmatinvBatched cublasSnrm2 cublasSrot cublasSrotg
    cublasSrotm cublasSrotmg cublasSsbmv cublasSscal cublasSspmv cublasSspr cublasSspr2 cublasSswap cublasSsymm
    cublasSsymv cublasSsyr cublasSsyr2 cublasSsyr2k cublasSsyrk cublasStbmv cublasStbsv cublasStpmv cublasStpsv
    cublasStrmm cublasStrmv cublasStrsm cublasStrsv cublasUint8gemmBias cublasXerbla cublasXtCgemm cublasXtChemm
    cublasXtCher2k cublasXtCherk cublasXtCherkx cublasXtCreate cublasXtCspmm cublasXtCsymm cublasXtCsyr2k cublasXtCsyrk
    cublasXtCsyrkx cublasXtCtrmm cublasXtCtrsm cublasXtDestroy cublasXtDeviceSelect cublasXtDgemm cublasXtDspmm
    cublasXtDsymm cublasXtDsyr2k cublasXtDsyrk cublasXtDsyrkx cublasXtDtrmm cublasXtDtrsm cublasXtGetBlockDim
    cublasXtGetNumBoards cublasXtGetPinningMemMode cublasXtMaxBoards cublasXtSetBlockDim cublasXtSetCpuRatio
    cublasXtSetCpuRoutine cublasXtSetPinningMemMode cublasXtSgemm cublasXtSspmm cublasXtSsymm cublasXtSsyr2k
    cublasXtSsyrk cublasXtSsyrkx cublasXtStrmm cublasXtStrsm cublasXtZgemm cublasXtZhemm cublasXtZher2k cublasXtZherk
    cublasXtZherkx cublasXtZspmm cublasXtZsymm cublasXtZsyr2k cublasXtZsyrk cublasXtZsyrkx cublasXtZtrmm cublasXtZtrsm
    cublasZaxpy cublasZcopy cublasZdotc cublasZdotu cublasZdrot cublasZdscal cublasZgbmv cublasZgelsBatched cublasZgemm
    cublasZgemv cublasZgeqrfBatched cublasZgerc cublasZgeru cublasZgetrfBatched cublasZgetriBatched cublasZgetrsBatched
    cublasZhbmv cublasZhemm cublasZhemv cublasZher cublasZher2 cublasZher2k cublasZherk cublasZhpmv cublasZhpr
    cublasZhpr2 cublasZmatinvBatched cublasZrot cublasZrotg cublasZscal cublasZswap cublasZsymm cublasZsyr2k cublasZsyrk
    cublasZtbmv cublasZtbsv cublasZtpmv cublasZtpsv cublasZtrmm cublasZtrmv cublasZtrsm cublasZtrsv
}
