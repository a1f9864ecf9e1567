// What a copy, a triad and look-ups in a hash table reach on a GPU, by their loads, their stores and the form of their loops.
// Built by nvcc -O2 -std=c++17 -arch=sm_90. `streams.txt` is what an H100 gave.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#define LOAD(NAME, TEXT)                                                                                \
  struct NAME {                                                                                         \
    static __device__ __forceinline__ uint4 get(const uint4 *p) {                                       \
      uint4 d;                                                                                          \
      asm volatile(TEXT " {%0,%1,%2,%3}, [%4];" : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w) : "l"(p)); \
      return d;                                                                                         \
    }                                                                                                   \
    static constexpr const char *name = TEXT;                                                           \
  }
#define STORE(NAME, TEXT)                                                                                     \
  struct NAME {                                                                                               \
    static __device__ __forceinline__ void put(uint4 *p, uint4 d) {                                           \
      asm volatile(TEXT " [%4], {%0,%1,%2,%3};" ::"r"(d.x), "r"(d.y), "r"(d.z), "r"(d.w), "l"(p) : "memory"); \
    }                                                                                                         \
    static constexpr const char *name = TEXT;                                                                 \
  }
LOAD(LPlain, "ld.global.v4.u32");
LOAD(LNc, "ld.global.nc.v4.u32");
LOAD(LNcNo, "ld.global.nc.L1::no_allocate.v4.u32");
LOAD(LNcNo256, "ld.global.nc.L1::no_allocate.L2::256B.v4.u32");
LOAD(LNc256, "ld.global.nc.L2::256B.v4.u32");
LOAD(LNcFirst, "ld.global.nc.L1::evict_first.v4.u32");
LOAD(LCs, "ld.global.cs.v4.u32");
LOAD(LCg, "ld.global.cg.v4.u32");
LOAD(LLast, "ld.global.nc.L1::evict_last.v4.u32");

STORE(SPlain, "st.global.v4.u32");
STORE(SCs, "st.global.cs.v4.u32");
STORE(SWt, "st.global.wt.v4.u32");
STORE(SCg, "st.global.cg.v4.u32");
STORE(SNo, "st.global.L1::no_allocate.v4.u32");

template <class L, class S, int U>
__global__ void __launch_bounds__(256) grid_copy(uint4 *to, const uint4 *from, unsigned n) {
  unsigned step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + (U - 1) * step < n; i += U * step) {
    uint4 v[U];
#pragma unroll
    for (int k = 0; k < U; k++) v[k] = L::get(from + i + k * step);
#pragma unroll
    for (int k = 0; k < U; k++) S::put(to + i + k * step, v[k]);
  }
  for (; i < n; i += step) S::put(to + i, L::get(from + i));
}
template <class L, class S, int U>
__global__ void __launch_bounds__(256) block_copy(uint4 *to, const uint4 *from, unsigned n) {
  unsigned i = blockIdx.x * 256 * U + threadIdx.x;
  uint4 v[U];
#pragma unroll
  for (int k = 0; k < U; k++) v[k] = L::get(from + i + k * 256);
#pragma unroll
  for (int k = 0; k < U; k++) S::put(to + i + k * 256, v[k]);
}
template <class L, class S, int U>
__global__ void __launch_bounds__(256) block_triad(uint4 *to, const uint4 *from, unsigned n) {
  unsigned i = blockIdx.x * 256 * U + threadIdx.x;
  uint4 v[U], w[U];
  const uint4 *other = from + n;
#pragma unroll
  for (int k = 0; k < U; k++) {
    v[k] = L::get(from + i + k * 256);
    w[k] = L::get(other + i + k * 256);
  }
#pragma unroll
  for (int k = 0; k < U; k++) {
    auto f = [](unsigned a, unsigned b) { return __float_as_uint(__uint_as_float(a) + 3.0f * __uint_as_float(b)); };
    S::put(to + i + k * 256, make_uint4(f(v[k].x, w[k].x), f(v[k].y, w[k].y), f(v[k].z, w[k].z), f(v[k].w, w[k].w)));
  }
}
template <class L, class S, int U>
__global__ void __launch_bounds__(256) grid_triad(uint4 *to, const uint4 *from, unsigned n) {
  unsigned step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 *other = from + n;
  for (; i + (U - 1) * step < n; i += U * step) {
    uint4 v[U], w[U];
#pragma unroll
    for (int k = 0; k < U; k++) {
      v[k] = L::get(from + i + k * step);
      w[k] = L::get(other + i + k * step);
    }
#pragma unroll
    for (int k = 0; k < U; k++) {
      auto f = [](unsigned a, unsigned b) { return __float_as_uint(__uint_as_float(a) + 3.0f * __uint_as_float(b)); };
      S::put(to + i + k * step, make_uint4(f(v[k].x, w[k].x), f(v[k].y, w[k].y), f(v[k].z, w[k].z), f(v[k].w, w[k].w)));
    }
  }
}
template <int BYTES, int STAGES>
__global__ void bulk_copy(char *to, const char *from, size_t bytes) {
  extern __shared__ __align__(128) char buffers[];
  __shared__ uint64_t full[STAGES];
  if (threadIdx.x) return;
  auto sh = [](const void *p) { return (uint32_t)__cvta_generic_to_shared(p); };
  for (int s = 0; s < STAGES; s++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&full[s])));
  asm volatile("fence.mbarrier_init.release.cluster;\n fence.proxy.async.shared::cta;" ::: "memory");
  size_t chunks = bytes / BYTES;
  unsigned mine = 0;
  auto load = [&](size_t chunk, int s) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;\n cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%2], [%3], %1, [%0];" ::"r"(sh(&full[s])),
        "r"(BYTES), "r"(sh(buffers + s * BYTES)), "l"(from + chunk * BYTES)
        : "memory");
  };
  for (int s = 0; s < STAGES; s++) {
    size_t c = blockIdx.x + (size_t)s * gridDim.x;
    if (c < chunks) load(c, s);
  }
  for (size_t c = blockIdx.x; c < chunks; c += gridDim.x, mine++) {
    int s = mine % STAGES;
    unsigned parity = mine / STAGES % 2, done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(sh(&full[s])), "r"(parity)
                   : "memory");
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n cp.async.bulk.commit_group;" ::"l"(to + c * BYTES),
        "r"(sh(buffers + s * BYTES)), "r"(BYTES)
        : "memory");
    // The stage of the copy before this one is free when that one has been read.
    if (mine >= 1) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
      size_t next = c + (size_t)(STAGES - 1) * gridDim.x;
      if (next < chunks) load(next, (mine - 1) % STAGES);
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
// Look-ups.
struct Slot {
  unsigned long long key, value;
};
__device__ __forceinline__ unsigned home(unsigned long long key, unsigned bits) {
  return (key * 0x9e3779b97f4a7c15ull) >> (64 - bits);
}
template <int MODE, int B>
__global__ void __launch_bounds__(256)
    probe(unsigned long long *found, const Slot *table, unsigned bits, const unsigned long long *keys, unsigned n) {
  unsigned step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, mask = (1u << bits) - 1;
  auto slot = [&](unsigned at) {
    uint4 d;
    if (MODE & 4)
      d = __ldg((const uint4 *)(table + at));
    else
      asm volatile("ld.global.nc.L1::evict_first.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
                   : "l"(table + at));
    Slot s;
    s.key = d.x | (unsigned long long)d.y << 32;
    s.value = d.z | (unsigned long long)d.w << 32;
    return s;
  };
  auto key = [&](unsigned at) -> unsigned long long {
    if (at >= n) return ~0ull;
    unsigned long long k;
    if (MODE & 8) return __ldg(keys + at);
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u64 %0, [%1];" : "=l"(k) : "l"(keys + at));
    return k;
  };
  unsigned long long batch[B], next[B];
  Slot early[B];
  auto announce = [&](unsigned first, unsigned long long *to) {
#pragma unroll
    for (int k = 0; k < B; k++) to[k] = key(first + k * step);
    if (MODE & 1)
#pragma unroll
      for (int k = 0; k < B; k++) asm volatile("prefetch.global.L2 [%0];" ::"l"(table + home(to[k], bits)));
  };
  announce(i, next);
  if (MODE & 2)
#pragma unroll
    for (int k = 0; k < B; k++) early[k] = slot(home(next[k], bits));
  while (i < n) {
    Slot now[B];
#pragma unroll
    for (int k = 0; k < B; k++) {
      batch[k] = next[k];
      now[k] = MODE & 2 ? early[k] : slot(home(batch[k], bits));
    }
    announce(i + B * step, next);
    if (MODE & 2)
#pragma unroll
      for (int k = 0; k < B; k++) early[k] = slot(home(next[k], bits));
#pragma unroll
    for (int k = 0; k < B; k++) {
      unsigned at = i + k * step;
      if (at < n) {
        unsigned h = home(batch[k], bits);
        Slot s = now[k];
        while (s.key != batch[k] && s.key != ~0ull) {
          h = (h + 1) & mask;
          s = slot(h);
        }
        if (MODE & 16)
          found[at] = s.key == ~0ull ? ~0ull : s.value;
        else
          __stcs(found + at, s.key == ~0ull ? ~0ull : s.value);
      }
    }
    i += B * step;
  }
}
static cudaEvent_t t0, t1;
static char *cold;
template <typename F>
static void time_it(const char *what, const char *more, int u, int blocks, double bytes, F launch) {
  std::vector<float> all;
  for (int r = 0; r < 14; r++) {
    cudaMemsetAsync(cold, r, 128 << 20);
    cudaEventRecord(t0);
    launch();
    cudaEventRecord(t1);
    cudaEventSynchronize(t1);
    float ms;
    cudaEventElapsedTime(&ms, t0, t1);
    if (r > 1) all.push_back(ms);
  }
  std::sort(all.begin(), all.end());
  cudaError_t e = cudaGetLastError();
  printf("%s | %s | u %d blocks %d: %.1f GB/s (%.1f us)%s\n", what, more, u, blocks, bytes / all[all.size() / 2] / 1e6,
         all[all.size() / 2] * 1e3, e ? cudaGetErrorName(e) : "");
  fflush(stdout);
}
int main() {
  size_t bytes = 512u << 20;
  char *from, *to;
  cudaMalloc(&from, 2 * bytes);
  cudaMalloc(&to, bytes);
  cudaMalloc(&cold, 128 << 20);
  cudaMemset(from, 1, 2 * bytes);
  cudaEventCreate(&t0);
  cudaEventCreate(&t1);
  unsigned n = bytes / 16;
  double moved = 2.0 * bytes;
  for (int i = 0; i < 2; i++)
    time_it("driver", "cudaMemcpyDeviceToDevice", 0, 0, moved,
            [&] { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice); });
#define GRID(L, S, U, PER)                                                       \
  time_it("grid", (std::string(L::name) + " " + S::name).c_str(), U, PER, moved, \
          [&] { grid_copy<L, S, U><<<132 * PER, 256>>>((uint4 *)to, (uint4 *)from, n); });
#define BLOCK(L, S, U)                                                                    \
  time_it("block", (std::string(L::name) + " " + S::name).c_str(), U, n / 256 / U, moved, \
          [&] { block_copy<L, S, U><<<n / 256 / U, 256>>>((uint4 *)to, (uint4 *)from, n); });
#define LOADS(X, S) X(LPlain, S) X(LNc, S) X(LNcNo, S) X(LNcNo256, S) X(LNc256, S) X(LNcFirst, S) X(LCs, S) X(LCg, S) X(LLast, S)
#define G4(L, S) GRID(L, S, 4, 8)
#define B4(L, S) BLOCK(L, S, 4)
  LOADS(G4, SPlain)
  LOADS(B4, SPlain) LOADS(G4, SCs) LOADS(B4, SCs) GRID(LNc, SPlain, 1, 8) GRID(LNc, SPlain, 2, 8) GRID(LNc, SPlain, 8, 4)
      GRID(LNc, SPlain, 8, 8) GRID(LNc, SPlain, 4, 4) GRID(LNc, SPlain, 4, 2) GRID(LNc, SPlain, 2, 4) GRID(LNc, SPlain, 4, 16)
          BLOCK(LNc, SPlain, 1) BLOCK(LNc, SPlain, 2) BLOCK(LNc, SPlain, 8) BLOCK(LNc, SPlain, 16) BLOCK(LNc, SWt, 4)
              BLOCK(LNc, SCg, 4) BLOCK(LNc, SNo, 4) BLOCK(LNcNo, SNo, 4) BLOCK(LNcNo, SWt, 4)
#define BULK(BYTES, STAGES, PER)                                                                                 \
  {                                                                                                              \
    cudaFuncSetAttribute(bulk_copy<BYTES, STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES * STAGES); \
    time_it("bulk", #BYTES " x " #STAGES, 0, PER, moved,                                                         \
            [&] { bulk_copy<BYTES, STAGES><<<132 * PER, 32, BYTES * STAGES>>>(to, from, bytes); });              \
  }
                  BULK(16384, 4, 1) BULK(16384, 4, 2) BULK(16384, 4, 3) BULK(8192, 4, 4) BULK(8192, 4, 6) BULK(32768, 4, 1)
                      BULK(32768, 3, 2) BULK(4096, 4, 8) BULK(4096, 8, 6) BULK(65536, 3, 1) BULK(16384, 12, 1) moved =
                          3.0 * bytes;
#define TG(L, S)                                                                     \
  time_it("triad grid", (std::string(L::name) + " " + S::name).c_str(), 2, 8, moved, \
          [&] { grid_triad<L, S, 2><<<132 * 8, 256>>>((uint4 *)to, (uint4 *)from, n); });
#define TB(L, S)                                                                            \
  time_it("triad block", (std::string(L::name) + " " + S::name).c_str(), 2, n / 512, moved, \
          [&] { block_triad<L, S, 2><<<n / 512, 256>>>((uint4 *)to, (uint4 *)from, n); });
  LOADS(TG, SPlain) LOADS(TG, SCs) LOADS(TB, SPlain) LOADS(TB, SCs) unsigned bits = 23, keys_n = 1 << 24;
  Slot *table = (Slot *)from;
  std::vector<Slot> h(1u << bits, Slot{~0ull, 0});
  std::vector<unsigned long long> keys(keys_n), present;
  unsigned long long state = 88172645463325252ull;
  auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  for (unsigned i = 0; i < 1u << (bits - 1); i++) {
    unsigned long long k = next() >> 1;
    unsigned at = (k * 0x9e3779b97f4a7c15ull) >> (64 - bits);
    while (h[at].key != ~0ull) at = (at + 1) & ((1u << bits) - 1);
    h[at] = {k, next() >> 1};
    present.push_back(k);
  }
  for (unsigned i = 0; i < keys_n; i++) keys[i] = i % 3 ? present[next() % present.size()] : next() >> 1 | 1ull << 63;
  cudaMemcpy(table, h.data(), h.size() * 16, cudaMemcpyHostToDevice);
  auto *dk = (unsigned long long *)(from + (256u << 20));
  cudaMemcpy(dk, keys.data(), keys_n * 8, cudaMemcpyHostToDevice);
  moved = 32.0 * keys_n;
#define PROBE(MODE, B, PER)              \
  time_it("probe", #MODE, B, PER, moved, \
          [&] { probe<MODE, B><<<132 * PER, 256>>>((unsigned long long *)to, table, bits, dk, keys_n); });
  PROBE(1, 4, 8)
  PROBE(0, 4, 8) PROBE(2, 4, 8) PROBE(6, 4, 8) PROBE(4, 4, 8) PROBE(12, 4, 8) PROBE(14, 4, 8) PROBE(28, 4, 8) PROBE(30, 4, 8)
      PROBE(5, 4, 8) PROBE(2, 2, 8) PROBE(6, 2, 8) PROBE(14, 2, 8) PROBE(12, 1, 8) PROBE(12, 2, 8) PROBE(12, 8, 8) PROBE(28, 8, 4)
          PROBE(14, 8, 4) PROBE(12, 4, 4) PROBE(12, 4, 6) return cudaDeviceSynchronize();
}
