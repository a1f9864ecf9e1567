// Numbers of 16 bits by their bits.
#pragma once

__device__ __forceinline__ float to_float(unsigned short half) {
    float d;
    asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(half));
    return d;
}
