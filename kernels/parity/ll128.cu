// A copy that goes from block to block in lines of 128 bytes, 120 of them data and 8 a flag, as NCCL's protocol LL128 has them.
// Eight threads store a line, 16 bytes each, and the flag is in the last packet of the line.
#include "block.cuh"
#include "ptx.cuh"

constexpr int THREADS = 256, EACH = 4;
constexpr unsigned LINE = 8, PACKETS = EACH * WARP, PIECES = PACKETS / 16 * 15;

__device__ __forceinline__ ulonglong2 load_packet(const ulonglong2 *p) {
    ulonglong2 d;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(d.x), "=l"(d.y) : "l"(p) : "memory");
    return d;
}

__device__ __forceinline__ void send(ulonglong2 *p, ulonglong2 d) {
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(d.x), "l"(d.y) : "memory");
}

__device__ __forceinline__ ulonglong2 load_piece(const ulonglong2 *p) {
    ulonglong2 d;
    asm("ld.global.nc.L1::no_allocate.L2::256B.v2.u64 {%0, %1}, [%2];" : "=l"(d.x), "=l"(d.y) : "l"(p));
    return d;
}

__device__ __forceinline__ ulonglong2 load_piece_if(bool cond, const ulonglong2 *p, ulonglong2 d) {
    asm("{\n.reg .pred %%cond;\nsetp.ne.b32 %%cond, %3, 0;\n"
        "@%%cond ld.global.nc.L1::no_allocate.L2::256B.v2.u64 {%0, %1}, [%2];\n}"
        : "+l"(d.x), "+l"(d.y)
        : "l"(p), "r"(int(cond)));
    return d;
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    ll128(ulonglong2 *__restrict__ out, const ulonglong2 *__restrict__ in, ulonglong2 *inbox, unsigned tiles,
          unsigned long long flag) {
    const unsigned block = blockIdx.x, lane = lane_id(), warps = blockDim.x / WARP;
    const bool first = block == 0, last = block + 1 == gridDim.x, has_flag = lane % LINE == LINE - 1;
    // Its piece of the second line of two: the threads with a flag have none there.
    const unsigned second = WARP + lane - lane / LINE;
    for (unsigned tile = threadIdx.x / WARP; tile < tiles; tile += warps) {
        ulonglong2 *const from = inbox + ((block * tiles + tile) * PACKETS + lane);
        ulonglong2 packets[EACH];
        if (first) {
            const ulonglong2 *const pieces = in + tile * PIECES;
#pragma unroll
            for (int k = 0; k < EACH; ++k) {
                const ulonglong2 *const two = pieces + k / 2 * 60;
                packets[k] = k % 2 == 0 ? load_piece(two + lane)
                                        : load_piece_if(!has_flag, two + second, make_ulonglong2(flag, flag));
            }
            if (has_flag) {
#pragma unroll
                for (int k = 0; k < EACH / 2; ++k) {
                    packets[2 * k + 1].x = packets[2 * k].y;
                    packets[2 * k].y = flag;
                }
            }
        } else {
            bool here;
            do {
                here = true;
#pragma unroll
                for (int k = 0; k < EACH; ++k) packets[k] = load_packet(from + k * WARP);
#pragma unroll
                for (int k = 0; k < EACH; ++k) here &= packets[k].y == flag;
            } while (!__all_sync(~0u, here || !has_flag));
        }
        if (!last) {
            ulonglong2 *const next = from + tiles * PACKETS;
#pragma unroll
            for (int k = 0; k < EACH; ++k) send(next + k * WARP, packets[k]);
        }
        ulonglong2 *const to = out + (block * tiles + tile) * PIECES;
#pragma unroll
        for (int k = 0; k < EACH / 2; ++k) {
            const ulonglong2 even = packets[2 * k], odd = packets[2 * k + 1];
            ulonglong2 *const two = to + k * 60;
            __stcs(reinterpret_cast<longlong2 *>(two + lane), make_longlong2(even.x, has_flag ? odd.x : even.y));
            if (!has_flag) __stcs(reinterpret_cast<longlong2 *>(two + second), make_longlong2(odd.x, odd.y));
        }
    }
}
