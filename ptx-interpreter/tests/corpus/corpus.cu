// Wrong kernels, each with a correct twin: `wrong_NAME` and `right_NAME`. `corpus.ptx` is made of this by
//     nvcc -ptx -lineinfo -arch=sm_90 corpus.cu
// and `../corpus.rs` says how each is launched, and what has to be found.

#define W true
#define R false
#define PAIR(NAME, PARAMETERS, ARGUMENTS)                                            \
  extern "C" __global__ void wrong_##NAME PARAMETERS { NAME<W> ARGUMENTS; }          \
  extern "C" __global__ void right_##NAME PARAMETERS { NAME<R> ARGUMENTS; }
typedef unsigned u32;
typedef unsigned long long u64;
#define DEV template <bool WRONG> __device__ __forceinline__ void
__device__ __forceinline__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// Shared memory.
DEV reduce(const u32* in, u32* out) {
  __shared__ u32 part[256];
  u32 t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (u32 half = 128; half; half /= 2) {
    if (t < half) part[t] += part[t + half];
    if (!WRONG) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
PAIR(reduce, (const u32* in, u32* out), (in, out))

// llama.cpp's reductions without __syncwarp(): a warp does not run in lockstep.
DEV warp_tail(const u32* in, u32* out) {
  __shared__ u32 part[64];
  u32 t = threadIdx.x;
  part[t] = in[t]; part[t + 32] = in[t + 32];
  for (u32 half = 32; half; half /= 2) {
    if (!WRONG) __syncwarp();
    u32 other = part[t + half];
    if (!WRONG) __syncwarp();
    part[t] += other;
  }
  if (!WRONG) __syncwarp();
  if (t == 0) out[0] = part[0];
}
PAIR(warp_tail, (const u32* in, u32* out), (in, out))

// A buffer is filled anew while others still read it.
DEV early_reuse(const u32* in, u32* out) {
  __shared__ u32 tile[128];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 4; round++) {
    tile[t] = in[round * 128 + t];
    __syncthreads();
    sum += tile[(t + 37) % 128];
    if (!WRONG) __syncthreads();
  }
  out[t] = sum;
}
PAIR(early_reuse, (const u32* in, u32* out), (in, out))

DEV unwritten(u32* out) {
  __shared__ u32 part[64];
  if (!WRONG || threadIdx.x < 32) part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = part[63 - threadIdx.x];
}
PAIR(unwritten, (u32* out), (out))

// Global memory.
DEV histogram(const u32* in, u32* out) {
  u32 bin = in[blockIdx.x * blockDim.x + threadIdx.x] % 16;
  if (WRONG) out[bin]++; else atomicAdd(&out[bin], 1);
}
PAIR(histogram, (const u32* in, u32* out), (in, out))

DEV in_place(u32* data, u32* out) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  u32 next = data[(i + 1) % n];
  (WRONG ? data : out)[i] = next + 1;
}
PAIR(in_place, (u32* data, u32* out), (data, out))

DEV beyond(const u32* in, u32* out, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (WRONG ? i <= n : i < n) out[i] = in[i];
}
PAIR(beyond, (const u32* in, u32* out, u32 n), (in, out, n))

DEV vector(const float* in, float* out) {
  u32 i = threadIdx.x;
  float4 v = *(const float4*)(in + (WRONG ? 1 : 4) + 4 * i);
  out[i] = v.x + v.w;
}
PAIR(vector, (const float* in, float* out), (in, out))

// DeepEP#136: what the grid writes is read by `.nc`.
DEV constant(u32* data, u32* out) {
  u32 t = threadIdx.x;
  data[t] = t;
  __syncthreads();
  u32 value;
  if (WRONG) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(data + 63 - t) : "memory");
  else asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(data + 63 - t) : "memory");
  out[t] = value;
}
PAIR(constant, (u32* data, u32* out), (data, out))

// Flags between blocks.
template <int KIND> __device__ __forceinline__ void message(u32* data, u32* flag, u32* out) {
  // 0: right. 1: no release. 2: no acquire. 3: both of the block alone. 4: fences of the block alone.
  if (blockIdx.x == 0) {
    data[0] = 42;
    if (KIND == 4) asm volatile("fence.acq_rel.cta;" ::: "memory");
    if (KIND == 1 || KIND == 4) asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    else if (KIND == 3) asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    else asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    u32 seen = 0;
    while (!seen) {
      if (KIND == 2) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      else if (KIND == 3) asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
      else asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    }
    out[0] = data[0];
  }
}
DEV release(u32* d, u32* f, u32* o) { message<WRONG ? 1 : 0>(d, f, o); }
PAIR(release, (u32* d, u32* f, u32* o), (d, f, o))
DEV acquire(u32* d, u32* f, u32* o) { message<WRONG ? 2 : 0>(d, f, o); }
PAIR(acquire, (u32* d, u32* f, u32* o), (d, f, o))
DEV narrow(u32* d, u32* f, u32* o) { message<WRONG ? 3 : 0>(d, f, o); }
PAIR(narrow, (u32* d, u32* f, u32* o), (d, f, o))
DEV narrow_fence(u32* d, u32* f, u32* o) { message<WRONG ? 4 : 0>(d, f, o); }
PAIR(narrow_fence, (u32* d, u32* f, u32* o), (d, f, o))

// The flag itself is a plain variable.
DEV plain_flag(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    if (WRONG) *flag = 1; else *(volatile u32*)flag = 1;
  } else {
    while (!*(volatile u32*)flag) {}
    __threadfence();
    out[0] = data[0];
  }
}
PAIR(plain_flag, (u32* d, u32* f, u32* o), (d, f, o))

// The last block adds what all wrote; tilelang and others forgot the fence before the counter.
DEV last_block(const u32* in, u32* part, u32* count, u32* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    if (!WRONG) __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    if (!WRONG) __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 sum = 0;
    for (u32 b = 0; b < gridDim.x; b++) sum += part[b];
    out[0] = sum;
  }
}
PAIR(last_block, (const u32* in, u32* part, u32* count, u32* out), (in, part, count, out))

DEV block_atomic(u32* count) {
  if (WRONG) atomicAdd_block(count, 1); else atomicAdd(count, 1);
}
PAIR(block_atomic, (u32* count), (count))

// A lock whose end releases nothing.
DEV lock(u32* mutex, u32* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1)) {}
    __threadfence();
    sum[0] += 1;
    if (!WRONG) __threadfence();
    atomicExch(mutex, 0);
  }
}
PAIR(lock, (u32* mutex, u32* sum), (mutex, sum))

// cp.async.
template <int KIND> __device__ __forceinline__ void copies(const u32* in, u32* out) {
  // 0: right. 1: no wait. 2: one group too many may be left. 3: no barrier. 4: no commit.
  __shared__ u32 tile[2][64];
  u32 t = threadIdx.x;
  for (u32 half = 0; half < 2; half++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&tile[half][t])), "l"(in + half * 64 + t) : "memory");
    if (KIND != 4) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  if (KIND == 2) asm volatile("cp.async.wait_group 1;" ::: "memory");
  else if (KIND != 1) asm volatile("cp.async.wait_group 0;" ::: "memory");
  if (KIND != 3) __syncthreads();
  out[t] = tile[0][KIND == 1 ? t : 63 - t] + tile[1][KIND == 1 ? t : 63 - t];
}
DEV copy_wait(const u32* in, u32* out) { copies<WRONG ? 1 : 0>(in, out); }
PAIR(copy_wait, (const u32* in, u32* out), (in, out))
DEV copy_group(const u32* in, u32* out) { copies<WRONG ? 2 : 0>(in, out); }
PAIR(copy_group, (const u32* in, u32* out), (in, out))
DEV copy_barrier(const u32* in, u32* out) { copies<WRONG ? 3 : 0>(in, out); }
PAIR(copy_barrier, (const u32* in, u32* out), (in, out))
DEV copy_commit(const u32* in, u32* out) { copies<WRONG ? 4 : 0>(in, out); }
PAIR(copy_commit, (const u32* in, u32* out), (in, out))

// A pipeline copies into a stage that others still read.
DEV copy_reuse(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 4; round++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&tile[t])), "l"(in + round * 64 + t) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    sum += tile[63 - t];
    if (!WRONG) __syncthreads();
  }
  out[t] = sum;
}
PAIR(copy_reuse, (const u32* in, u32* out), (in, out))

// Bulk copies and barriers in memory.
__device__ __forceinline__ void init(u64* bar, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void expect(u64* bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(u64* bar, u32 parity) {
  u32 done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
__device__ __forceinline__ void load(void* to, const void* from, u32 bytes, u64* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory");
}
template <int KIND> __device__ __forceinline__ void bulk(const u32* in, u32* out) {
  // 0: right. 1: no wait. 2: wrong parity. 3: no fence after init. 4: no barrier after init. 5: too many bytes expected.
  // 6: never initialised. 7: nobody expects the second copy.
  __shared__ alignas(128) u32 tile[128];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0 && KIND != 6) {
    init(&bar, 1);
    if (KIND != 3) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (KIND != 4) __syncthreads();
  if (t == 0) {
    expect(&bar, KIND == 5 ? 1024 : 512);
    load(tile, in, 256, &bar);
    load(tile + 64, in + 64, 256, &bar);
  }
  if (KIND != 1) wait(&bar, KIND == 2 ? 1 : 0);
  out[t] = tile[127 - t];
}
DEV bulk_wait(const u32* in, u32* out) { bulk<WRONG ? 1 : 0>(in, out); }
PAIR(bulk_wait, (const u32* in, u32* out), (in, out))
DEV bulk_parity(const u32* in, u32* out) { bulk<WRONG ? 2 : 0>(in, out); }
PAIR(bulk_parity, (const u32* in, u32* out), (in, out))
DEV bulk_init_fence(const u32* in, u32* out) { bulk<WRONG ? 3 : 0>(in, out); }
PAIR(bulk_init_fence, (const u32* in, u32* out), (in, out))
DEV bulk_init_barrier(const u32* in, u32* out) { bulk<WRONG ? 4 : 0>(in, out); }
PAIR(bulk_init_barrier, (const u32* in, u32* out), (in, out))
DEV bulk_bytes(const u32* in, u32* out) { bulk<WRONG ? 5 : 0>(in, out); }
PAIR(bulk_bytes, (const u32* in, u32* out), (in, out))
DEV bulk_init(const u32* in, u32* out) { bulk<WRONG ? 6 : 0>(in, out); }
PAIR(bulk_init, (const u32* in, u32* out), (in, out))

// flashinfer#3361 and others: stored through the asynchronous proxy without a fence.
DEV bulk_store(u32* out) {
  __shared__ alignas(128) u32 tile[128];
  u32 t = threadIdx.x;
  tile[t] = t * 3;
  if (!WRONG) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
PAIR(bulk_store, (u32* out), (out))

// The source is overwritten before it has been read.
DEV bulk_source(u32* out) {
  __shared__ alignas(128) u32 tile[128];
  u32 t = threadIdx.x;
  for (u32 round = 0; round < 2; round++) {
    tile[t] = t + round;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out + round * 128), "r"(at(tile)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (!WRONG) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}
PAIR(bulk_source, (u32* out), (out))

// `.read` waits for the sources alone.
DEV bulk_read(u32* out, u32* sum) {
  __shared__ alignas(128) u32 tile[128];
  u32 t = threadIdx.x;
  tile[t] = t;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (WRONG) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    else asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    sum[0] = out[100];
  }
}
PAIR(bulk_read, (u32* out, u32* sum), (out, sum))

// A ring of bulk copies: the producer does not wait until all have read.
DEV ring(const u32* in, u32* out) {
  __shared__ alignas(128) u32 tile[2][64];
  __shared__ u64 full[2], empty[2];
  u32 t = threadIdx.x, sum = 0;
  if (t == 0) {
    for (int i = 0; i < 2; i++) { init(&full[i], 1); init(&empty[i], 64); }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (u32 round = 0; round < 6; round++) {
    u32 stage = round % 2, parity = round / 2 % 2;
    if (t == 0) {
      if (round >= 2 && !WRONG) wait(&empty[stage], parity ^ 1);
      expect(&full[stage], 256);
      load(tile[stage], in + round * 64, 256, &full[stage]);
    }
    wait(&full[stage], parity);
    sum += tile[stage][63 - t];
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(&empty[stage])) : "memory");
  }
  out[t] = sum;
}
PAIR(ring, (const u32* in, u32* out), (in, out))

// Clusters.
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_cluster(u32* out) {
  __shared__ u32 part[32];
  part[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;" ::: "memory");
  u32 there, value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(part + threadIdx.x)), "r"(1 - blockIdx.x % 2));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_cluster(u32* out) {
  __shared__ u32 part[32];
  part[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  u32 there, value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(part + threadIdx.x)), "r"(1 - blockIdx.x % 2));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = value;
}

// Waits without an end.
DEV some_arrive(u32* out) {
  if (!WRONG || threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}
PAIR(some_arrive, (u32* out), (out))

DEV divergent(u32* out) {
  if (WRONG && threadIdx.x % 2) { asm volatile("bar.sync 0;" ::: "memory"); out[threadIdx.x] = 1; }
  else { asm volatile("bar.sync 0;" ::: "memory"); out[threadIdx.x] = 2; }
}
PAIR(divergent, (u32* out), (out))

DEV mask(u32* out) {
  u32 t = threadIdx.x, value = t;
  if (!WRONG || t < 16) value = __shfl_xor_sync(WRONG ? 0xff : -1u, value, 1);
  out[t] = value;
}
PAIR(mask, (u32* out), (out))

DEV flag_never(u32* flag, u32* out) {
  if (blockIdx.x == 0) { if (!WRONG) atomicExch(flag, 1); }
  else { while (atomicAdd(flag, 0) == 0) {} out[0] = 1; }
}
PAIR(flag_never, (u32* flag, u32* out), (flag, out))

extern "C" __global__ void __launch_bounds__(64) wrong_bounds(u32* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(128) right_bounds(u32* out) { out[threadIdx.x] = 1; }

// An assertion.
DEV assertion(u32* out, u32 n) {
  if (threadIdx.x >= n) __trap();
  out[threadIdx.x] = 1;
}
extern "C" __global__ void wrong_assertion(u32* out) { assertion<W>(out, 16); }
extern "C" __global__ void right_assertion(u32* out) { assertion<R>(out, 64); }
