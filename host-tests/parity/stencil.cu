// A seven-point stencil: a thread walks along z and keeps what it has read of its own column in registers.
#include "ptx.cuh"

extern "C" __global__ void stencil(float *__restrict__ out, const float *__restrict__ in, unsigned nx, unsigned ny,
                                   unsigned nz, float centre, float neighbour) {
    const unsigned x = thread_index(), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x + 1 >= nx || y + 1 >= ny || nz < 3) return;
    const ptrdiff_t row = nx, plane = row * ny;
    const float *from = in + y * row + x;
    float *to = out + y * row + x + plane;
    float below = __ldg(from), here = __ldg(from + plane);
    from += plane;
#pragma unroll 1
    for (unsigned z = 2; z < nz; ++z) {
        const float above = __ldg(from + plane);
        const float beside = __ldg(from - 1) + __ldg(from + 1) + __ldg(from - row) + __ldg(from + row);
        __stcs(to, centre * here + neighbour * (beside + below + above));
        below = here;
        here = above;
        from += plane;
        to += plane;
    }
}
