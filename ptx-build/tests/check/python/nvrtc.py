"""A kernel that NVRTC compiles for a GPU, as CuPy and others do: its machine code is asked for. The argument is NVRTC's library."""

import ctypes
import sys

nvrtc, cuda = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcuda.so.1")
SOURCE = b'extern "C" __global__ void fill(int* to) { to[threadIdx.x + 1] = threadIdx.x; }'


def do(call, *arguments):
    status = call(*arguments)
    assert status == 0, (call.__name__, status)


program, size = ctypes.c_void_p(), ctypes.c_size_t()
do(nvrtc.nvrtcCreateProgram, ctypes.byref(program), SOURCE, b"fill.cu", 0, None, None)
options = (ctypes.c_char_p * 2)(b"--gpu-architecture=sm_90a", b"-lineinfo")
do(nvrtc.nvrtcCompileProgram, program, 2, options)
do(nvrtc.nvrtcGetCUBINSize, program, ctypes.byref(size))
image = ctypes.create_string_buffer(size.value)
do(nvrtc.nvrtcGetCUBIN, program, image)
do(cuda.cuInit, 0)
context, module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
do(cuda.cuDevicePrimaryCtxRetain, ctypes.byref(context), 0)
do(cuda.cuCtxSetCurrent, context)
do(cuda.cuModuleLoadData, ctypes.byref(module), image)
do(cuda.cuModuleGetFunction, ctypes.byref(function), module, b"fill")
do(cuda.cuMemAlloc_v2, ctypes.byref(memory), ctypes.c_size_t(128))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
