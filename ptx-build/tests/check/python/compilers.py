"""A kernel of Warp and one of CuTe DSL. The one that is named goes beyond the end."""

import sys

import cutlass
import cutlass.cute as cute
import numpy
import warp
from cuda.bindings import driver

BEYOND = {name: int(name in sys.argv) for name in ("warp", "cute")}
N = 1000


@warp.kernel
def double(numbers: warp.array(dtype=float)):
    at = warp.tid()
    numbers[at] = 2.0 * numbers[at]


numbers = warp.array(numpy.arange(N, dtype=numpy.float32), device="cuda")
warp.launch(double, dim=N + BEYOND["warp"], inputs=[numbers], device="cuda")
if not BEYOND["warp"]:
    assert numbers.numpy().tolist() == [2 * at for at in range(N)]


@cute.kernel
def increment(numbers: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    numbers[thread] = numbers[thread] + 1


@cute.jit
def launch(place: cutlass.Int64, threads: cutlass.Int32):
    pointer = cute.make_ptr(cutlass.Int32, place, cute.AddressSpace.gmem)
    increment(cute.make_tensor(pointer, cute.make_layout(2048))).launch(grid=(1, 1, 1), block=(threads, 1, 1))


cutlass.cuda.initialize_cuda_context()
result, place = driver.cuMemAlloc(4 * 64)
assert result == driver.CUresult.CUDA_SUCCESS
driver.cuMemsetD32(place, 41, 64)
launch(int(place), 64 + BEYOND["cute"])
found = numpy.zeros(64, dtype=numpy.int32)
driver.cuMemcpyDtoH(found.ctypes.data, place, 4 * 64)
assert found.tolist() == [42] * 64


class Fill:
    """Its kernels have one name, whatever the number is."""

    def __init__(self, number):
        self.number = number

    @cute.kernel
    def fill(self, numbers: cute.Tensor):
        thread, _, _ = cute.arch.thread_idx()
        numbers[thread] = cutlass.Int32(self.number)

    @cute.jit
    def __call__(self, place: cutlass.Int64):
        pointer = cute.make_ptr(cutlass.Int32, place, cute.AddressSpace.gmem)
        self.fill(cute.make_tensor(pointer, cute.make_layout(64))).launch(grid=(1, 1, 1), block=(64, 1, 1))


compiled = {number: cute.compile(Fill(number), int(place)) for number in (5, 7)}
for number, fill in compiled.items():
    fill(int(place))
    driver.cuMemcpyDtoH(found.ctypes.data, place, 4 * 64)
    assert found.tolist() == [number] * 64
# It names a folder of its own for what it compiles.
assert cutlass.utils.HardwareInfo().get_max_active_clusters(1) > 0
print("right")
