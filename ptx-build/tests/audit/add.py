"""Compiles a kernel with Triton for a GPU that need not be there. Its cache is the folder that TRITON_CACHE_DIR names."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    within = i < n
    a = tl.load(x + i, mask=within, eviction_policy="evict_first")
    b = tl.load(y + i, mask=within, eviction_policy="evict_last")
    tl.store(out + i, a + b, mask=within, cache_modifier=".cs")


signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=add, signature=signature, constexprs={"BLOCK": 1024})
triton.compile(source, target=GPUTarget("cuda", 90, 32))
