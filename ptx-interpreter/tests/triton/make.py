"""Makes the texts of this folder: kernels in Triton, compiled without a GPU. `pip install triton==3.9.0`, then `python make.py`."""

import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * columns + at, mask=mask, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + at, v / tl.sum(v, 0), mask=mask)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(out + v % 64, 1, mask=at < n)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    from_a = a + m[:, None] * K + k[None, :]
    from_b = b + k[:, None] * N + n[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for _ in tl.range(0, K, BK, num_stages=3):
        sums = tl.dot(tl.load(from_a), tl.load(from_b), sums)
        from_a += BK
        from_b += BK * N
    tl.store(c + m[:, None] * N + n[None, :], sums)


@triton.jit
def matmul_tensor(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    from_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    from_b = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, num_stages=3):
        sums = tl.dot(from_a.load([m, k]), from_b.load([k, n]), sums)
    rows = m + tl.arange(0, BM)
    columns = n + tl.arange(0, BN)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


def make(function, types, constants, gpu):
    signature = types | {name: "constexpr" for name in constants}
    source = ASTSource(fn=function, signature=signature, constexprs=constants)
    kernel = triton.compile(source, target=GPUTarget("cuda", gpu, 32), options={"num_warps": 4})
    lines = kernel.asm["ptx"].split("\t.section")[0].splitlines()
    # Lines of the source, and what is for readers.
    lines = [re.sub(r"\s*//.*", "", line) for line in lines if not re.match(r"\s*\.(loc|file)\b|\$L__(tmp|func)", line)]
    name = f"{function.__name__}_{gpu}.ptx"
    (pathlib.Path(__file__).parent / name).write_text("\n".join(line for line in lines if line.strip()) + "\n")
    print(name, kernel.metadata.shared, "bytes of shared memory")


PRODUCT = (
    {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
    {"BM": 64, "BN": 64, "BK": 32},
)

make(softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256}, 80)
make(histogram, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 512}, 80)
make(scan, {"x": "*i32", "out": "*i32"}, {"BLOCK": 512}, 80)
for gpu in (80, 90, 100):
    make(matmul, *PRODUCT, gpu)
for gpu in (90, 100):
    make(matmul_tensor, *PRODUCT, gpu)
