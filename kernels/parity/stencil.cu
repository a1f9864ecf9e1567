// A seven-point stencil: a thread walks along z and keeps what it has read of its own column in registers.
#include "ptx.cuh"

extern "C" __global__ void stencil(float *__restrict__ out, const float *__restrict__ in, unsigned nx, unsigned ny,
                                   unsigned nz, float centre, float neighbour) {
    const unsigned x = thread_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x + 1 >= nx || y + 1 >= ny || nz < 3) return;
    const unsigned plane = nx * ny;
    unsigned at = y * nx + x;
    float below = __ldg(&in[at]), here = __ldg(&in[at + plane]);
    at += plane;
#pragma unroll 2
    for (unsigned z = 2; z < nz; ++z) {
        const float *from = &in[at];
        const float beside = __ldg(from - 1) + __ldg(from + 1) + __ldg(&in[at - nx]) + __ldg(&in[at + nx]);
        const float above = __ldg(&in[at + plane]);
        __stcs(&out[at], centre * here + neighbour * (beside + below + above));
        below = here;
        here = above;
        at += plane;
    }
}
