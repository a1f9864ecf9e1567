"""Kernels of XLA, of Pallas by Triton, and of Pallas by Mosaic, which forgets to wait if it is told so."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas import triton as pltriton

numbers = np.arange(1024, dtype=np.float32).reshape(4, 256)
shape = jax.ShapeDtypeStruct(numbers.shape, numbers.dtype)


def twice(given, made):
    made[...] = given[...] * 2


def more(given, made, stage, barrier):
    plgpu.copy_gmem_to_smem(given, stage, barrier)
    if sys.argv[1:] != ["early"]:
        plgpu.barrier_wait(barrier)
    made[...] = stage[...] + 1
    if sys.argv[1:] == ["early"]:
        plgpu.barrier_wait(barrier)


row = pl.BlockSpec((1, 256), lambda i: (i, 0))
by_triton = pl.pallas_call(
    twice, out_shape=shape, grid=(4,), in_specs=[row], out_specs=row, compiler_params=pltriton.CompilerParams(num_warps=4)
)
by_mosaic = plgpu.kernel(more, out_type=shape, scratch_types=[plgpu.SMEM((4, 256), jnp.float32), plgpu.Barrier()])
assert jax.devices()[0].platform == "gpu"
np.testing.assert_allclose(jax.jit(jax.nn.softmax)(numbers).sum(axis=1), np.ones(4), rtol=1e-6)
np.testing.assert_array_equal(by_triton(numbers), numbers * 2)
if sys.argv[1:] != ["early"]:
    np.testing.assert_array_equal(by_mosaic(numbers), numbers + 1)
    print("right")
else:
    by_mosaic(numbers).block_until_ready()
