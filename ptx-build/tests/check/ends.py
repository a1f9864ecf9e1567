# Memory is set while the interpreter ends.
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")


class Memory:
    def __init__(self):
        self.set = cuda.cuMemsetD8_v2
        self.place = ctypes.c_uint64()
        print(cuda.cuMemAlloc_v2(ctypes.byref(self.place), ctypes.c_size_t(4)))

    def __del__(self):
        print(self.set(self.place, ctypes.c_ubyte(1), ctypes.c_size_t(4)))


context = ctypes.c_void_p()
print(cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context))
memory = Memory()
