// Wrong kernels, each with a correct twin: bulk copies, their barriers and the asynchronous proxy.
#include "common.cuh"
#define TILE __shared__ alignas(128) u32 tile[128]

// KIND 0: right. 1: no wait. 2: wrong parity. 3: no barrier after init. 4: too many bytes expected.
// 5: never initialised. 6: too few bytes expected. 7: nobody expects bytes.
template <int KIND> __device__ __forceinline__ void bulk(const u32* in, u32* out) {
  TILE;
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0 && KIND != 5) {
    INIT(&bar, 1);  //~ bulk_init_barrier
    SHOW_INIT;
  }
  if (KIND != 3) __syncthreads();
  if (t == 0) {
    if (KIND == 7) ARRIVE(&bar);
    else EXPECT(&bar, KIND == 4 ? 1024 : KIND == 6 ? 256 : 512);
    BULK_LOAD(tile, in, 256, &bar);  //~ bulk_unexpected
    BULK_LOAD(tile + 64, in + 64, 256, &bar);  //~ bulk_wait bulk_parity bulk_few bulk_bytes
  }
  if (KIND != 1) WAIT(&bar, KIND == 2 ? 1 : 0);  //~ bulk_init bulk_init_barrier
  out[t] = tile[127 - t];  //~ bulk_wait bulk_parity bulk_unexpected
}
//# bulk_wait async 1x128 numbers:512 zeros:512 ; mbarrier.try_wait.parity
DEV bulk_wait(const u32* in, u32* out) { bulk<WRONG ? 1 : 0>(in, out); }
PAIR(bulk_wait, (const u32* in, u32* out), (in, out))
//# bulk_parity async 1x128 numbers:512 zeros:512 ; parity
DEV bulk_parity(const u32* in, u32* out) { bulk<WRONG ? 2 : 0>(in, out); }
PAIR(bulk_parity, (const u32* in, u32* out), (in, out))
//# bulk_init_barrier race 1x128 numbers:512 zeros:512 ; bar.sync 0
DEV bulk_init_barrier(const u32* in, u32* out) { bulk<WRONG ? 3 : 0>(in, out); }
PAIR(bulk_init_barrier, (const u32* in, u32* out), (in, out))
//# bulk_bytes async 1x128 numbers:512 zeros:512 ; 512 bytes
DEV bulk_bytes(const u32* in, u32* out) { bulk<WRONG ? 4 : 0>(in, out); }
PAIR(bulk_bytes, (const u32* in, u32* out), (in, out))
//# bulk_init uninitialised 1x128 numbers:512 zeros:512 ; mbarrier.init
DEV bulk_init(const u32* in, u32* out) { bulk<WRONG ? 5 : 0>(in, out); }
PAIR(bulk_init, (const u32* in, u32* out), (in, out))
//# bulk_few async 1x128 numbers:512 zeros:512 ; copies bring more bytes
DEV bulk_few(const u32* in, u32* out) { bulk<WRONG ? 6 : 0>(in, out); }
PAIR(bulk_few, (const u32* in, u32* out), (in, out))
//# bulk_unexpected async 1x128 numbers:512 zeros:512 ; before the copy is known to be done
DEV bulk_unexpected(const u32* in, u32* out) { bulk<WRONG ? 7 : 0>(in, out); }
PAIR(bulk_unexpected, (const u32* in, u32* out), (in, out))

// Stored through the asynchronous proxy without a fence.
//# bulk_store proxy 1x128 zeros:512 ; fence.proxy.async.shared::cta
DEV bulk_store(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = t * 3;  //~ bulk_store
  if (!WRONG) FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 512);  //~ bulk_store
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(bulk_store, (u32* out), (out))

// A fence for the wrong memory.
//# fence_space proxy 1x128 zeros:512 ; fence.proxy.async.shared::cta
DEV fence_space(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = t * 3;  //~ fence_space
  if (WRONG) FENCE_GLOBAL; else FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 512);  //~ fence_space
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(fence_space, (u32* out), (out))

// The thread that begins the copy fences, before the barrier and not after it.
//# fence_early proxy 1x128 zeros:512 ; each of these threads
DEV fence_early(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = t * 3;  //~ fence_early
  if (WRONG && t == 0) FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    if (!WRONG) FENCE_SHARED;
    BULK_STORE(out, tile, 512);  //~ fence_early
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(fence_early, (u32* out), (out))

// FlashKDA: a sequence of no rounds stores the zeros that it began with, and the fence is in the loop.
//# no_rounds proxy 1x128 numbers:512 zeros:512 u32:0 ; fence.proxy.async
DEV no_rounds(const u32* in, u32* out, u32 rounds) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = 0;  //~ no_rounds
  if (!WRONG) FENCE_SHARED;
  __syncthreads();
  for (u32 round = 0; round < rounds; round++) {
    tile[t] += in[round * 128 + t];
    FENCE_SHARED;
    __syncthreads();
  }
  if (t == 0) {
    BULK_STORE(out, tile, 512);  //~ no_rounds
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(no_rounds, (const u32* in, u32* out, u32 rounds), (in, out, rounds))

// The source is overwritten before it has been read.
//# bulk_source async 1x128 zeros:1024 ; wait_group.read 0
DEV bulk_source(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  for (u32 round = 0; round < 2; round++) {
    tile[t] = t + round;  //~ bulk_source
    FENCE_SHARED;
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + round * 128, tile, 512);  //~ bulk_source
      BULK_COMMIT;
      if (!WRONG || round == 1) BULK_WAIT_READ(0);
    }
    __syncthreads();
  }
}
PAIR(bulk_source, (u32* out), (out))

// cudnn-frontend: the thread that began the copy waits, and the others overwrite the source without a barrier.
//# source_barrier async 1x128 zeros:1024 ; before other threads use
DEV source_barrier(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  for (u32 round = 0; round < 2; round++) {
    tile[t] = t + round;  //~ source_barrier
    FENCE_SHARED;
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + round * 128, tile, 512);  //~ source_barrier
      BULK_COMMIT;
      BULK_WAIT_READ(0);
    }
    if (!WRONG) __syncthreads();
  }
}
PAIR(source_barrier, (u32* out), (out))

// `.read` waits for the sources alone.
//# bulk_read async 1x128 zeros:512 zeros:4 ; without `.read`
DEV bulk_read(u32* out, u32* sum) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = t;
  FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 512);  //~ bulk_read
    BULK_COMMIT;
    if (WRONG) BULK_WAIT_READ(0); else BULK_WAIT(0);
    sum[0] = out[100];  //~ bulk_read
  }
}
PAIR(bulk_read, (u32* out, u32* sum), (out, sum))

// Two stages of stores, and the wait leaves one group too many.
//# store_group async 1x128 zeros:2048 ; wait_group.read
DEV store_group(u32* out) {
  __shared__ alignas(128) u32 stage[2][128];
  u32 t = threadIdx.x;
  for (u32 round = 0; round < 4; round++) {
    if (t == 0) { if (WRONG) BULK_WAIT_READ(2); else BULK_WAIT_READ(1); }
    __syncthreads();
    stage[round % 2][t] = t + round;  //~ store_group
    FENCE_SHARED;
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + round * 128, stage[round % 2], 512);  //~ store_group
      BULK_COMMIT;
    }
  }
  if (t == 0) BULK_WAIT_READ(0);
}
PAIR(store_group, (u32* out), (out))

//# store_commit async 1x128 zeros:512 ; before a copy from its shared memory
DEV store_commit(u32* out) { return; }
template <> __device__ __forceinline__ void store_commit<true>(u32* out) {
  TILE;
  tile[threadIdx.x] = threadIdx.x;
  FENCE_SHARED;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(out, tile, 512);  //~ store_commit
    BULK_WAIT_READ(0);
  }
}
template <> __device__ __forceinline__ void store_commit<false>(u32* out) {
  TILE;
  tile[threadIdx.x] = threadIdx.x;
  FENCE_SHARED;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(out, tile, 512);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(store_commit, (u32* out), (out))

// A block ends before its store has read shared memory.
//# store_exit async 1x128 zeros:512 ; wait_group.read 0
DEV store_exit(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = t * 3;
  FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 512);  //~ store_exit
    BULK_COMMIT;
    if (!WRONG) BULK_WAIT_READ(0);
  }
}
PAIR(store_exit, (u32* out), (out))

// A load that was begun ahead, and that nobody waits for at the end.
//# load_exit async 1x128 numbers:2048 zeros:512 ; before it ends
DEV load_exit(const u32* in, u32* out) {
  __shared__ alignas(128) u32 stage[2][128];
  __shared__ u64 full[2];
  u32 t = threadIdx.x, sum = 0;
  if (t == 0) { INIT(&full[0], 1); INIT(&full[1], 1); SHOW_INIT; }
  __syncthreads();
  if (t == 0) { EXPECT(&full[0], 512); BULK_LOAD(stage[0], in, 512, &full[0]); }
  for (u32 round = 0; round < 3; round++) {
    if (t == 0 && (WRONG || round + 1 < 3)) {
      u32 next = (round + 1) % 2;
      FENCE_SHARED;
      EXPECT(&full[next], 512);
      BULK_LOAD(stage[next], in + (round + 1) * 128, 512, &full[next]);
    }
    WAIT(&full[round % 2], round / 2 % 2);
    sum += stage[round % 2][127 - t];
    __syncthreads();
  }
  out[t] = sum;
}
PAIR(load_exit, (const u32* in, u32* out), (in, out))

// KIND 0: right. 1: the producer does not wait until all have read. 2: no proxy fence before the stage is filled anew.
// 3: the parity of the consumers does not turn. 4: the producer's first wait has the wrong parity.
template <int KIND> __device__ __forceinline__ void ring(const u32* in, u32* out) {
  __shared__ alignas(128) u32 stage[2][64];
  __shared__ u64 full[2], empty[2];
  u32 t = threadIdx.x, sum = 0;
  if (t == 0) {
    for (int i = 0; i < 2; i++) { INIT(&full[i], 1); INIT(&empty[i], 64); }
    SHOW_INIT;
  }
  __syncthreads();
#pragma unroll 1
  for (u32 round = 0; round < 6; round++) {
    u32 now = round % 2, parity = round / 2 % 2;
    if (t == 0) {
      if (KIND == 4) WAIT(&empty[now], parity);  //~ ring_start
      else if (round >= 2 && KIND != 1) WAIT(&empty[now], parity ^ 1);
      if (KIND != 2) FENCE_SHARED;
      EXPECT(&full[now], 256);
      BULK_LOAD(stage[now], in + round * 64, 256, &full[now]);  //~ ring ring_proxy ring_parity
    }
    WAIT(&full[now], KIND == 3 ? 0 : parity);
    sum += stage[now][63 - t];  //~ ring ring_proxy ring_parity
    ARRIVE(&empty[now]);
  }
  out[t] = sum;
}
//# ring async 1x64 numbers:1536 zeros:256 ; empty stages
DEV ring_(const u32* in, u32* out) { ring<WRONG ? 1 : 0>(in, out); }
extern "C" __global__ void wrong_ring(const u32* in, u32* out) { ring_<true>(in, out); }
extern "C" __global__ void right_ring(const u32* in, u32* out) { ring_<false>(in, out); }
// DeepEP and DeepGEMM: reads by threads, and then the next copy into the same stage.
//# ring_proxy proxy 1x64 numbers:1536 zeros:256 ; fence.proxy.async.shared::cta
DEV ring_proxy(const u32* in, u32* out) { ring<WRONG ? 2 : 0>(in, out); }
PAIR(ring_proxy, (const u32* in, u32* out), (in, out))
//# ring_parity async 1x64 numbers:1536 zeros:256 ; parity
DEV ring_parity(const u32* in, u32* out) { ring<WRONG ? 3 : 0>(in, out); }
PAIR(ring_parity, (const u32* in, u32* out), (in, out))
//# ring_start deadlock 1x64 numbers:1536 zeros:256 ; parity
DEV ring_start(const u32* in, u32* out) { ring<WRONG ? 4 : 0>(in, out); }
PAIR(ring_start, (const u32* in, u32* out), (in, out))

// cudnn-frontend: all lanes of a warp write, and one of them arrives for all.
//# one_arrival race 1x64 numbers:128 zeros:128 ; nothing orders
DEV one_arrival(const u32* in, u32* out) {
  __shared__ u32 weights[32];
  __shared__ u64 loaded;
  u32 t = threadIdx.x;
  if (t == 0) INIT(&loaded, 1);
  __syncthreads();
  if (t < 32) {
    weights[t] = in[t];  //~ one_arrival
    if (!WRONG) __syncwarp();
    if (t == 0) ARRIVE(&loaded);
  } else {
    WAIT(&loaded, 0);
    out[t - 32] = weights[63 - t];  //~ one_arrival
  }
}
PAIR(one_arrival, (const u32* in, u32* out), (in, out))

// A barrier counts one arrival too few: its phase ends before the last one.
//# many_arrivals race 1x64 numbers:256 zeros:256 ; nothing orders
DEV many_arrivals(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) INIT(&bar, WRONG ? 63 : 64);
  __syncthreads();
  tile[t] = in[t];  //~ many_arrivals
  ARRIVE(&bar);
  WAIT(&bar, 0);
  out[t] = tile[63 - t];  //~ many_arrivals
}
PAIR(many_arrivals, (const u32* in, u32* out), (in, out))

// Two stages of one barrier, and a thread arrives twice in a phase that waits for bytes.
//# double_arrival async 1x32 numbers:128 zeros:128 ; more often
DEV double_arrival(const u32* in, u32* out) {
  TILE;
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) {
    INIT(&bar, 1);
    SHOW_INIT;
    EXPECT(&bar, 128);
    if (WRONG) ARRIVE(&bar);  //~ double_arrival
    BULK_LOAD(tile, in, 128, &bar);
  }
  __syncthreads();
  WAIT(&bar, 0);
  out[t] = tile[t];
}
PAIR(double_arrival, (const u32* in, u32* out), (in, out))

//# few_arrivals deadlock 1x64 numbers:256 zeros:256 ; 32 arrivals
DEV few_arrivals(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) INIT(&bar, 64);
  __syncthreads();
  tile[t] = in[t];
  if (!WRONG || t < 32) ARRIVE(&bar);
  WAIT(&bar, 0);  //~ few_arrivals
  out[t] = tile[63 - t];
}
PAIR(few_arrivals, (const u32* in, u32* out), (in, out))

// An arrival that is relaxed releases nothing.
//# relaxed_arrival order 1x64 numbers:256 zeros:256 ; mbarrier.arrive.release.cta
DEV relaxed_arrival(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) INIT(&bar, 64);
  __syncthreads();
  tile[t] = in[t];  //~ relaxed_arrival
  if (WRONG) asm volatile("mbarrier.arrive.relaxed.cta.shared.b64 _, [%0];" ::"r"(AT(&bar)) : "memory");
  else ARRIVE(&bar);
  WAIT(&bar, 0);
  out[t] = tile[63 - t];  //~ relaxed_arrival
}
PAIR(relaxed_arrival, (const u32* in, u32* out), (in, out))

// FlashInfer and DeepEP: written by threads, released and acquired, and read by a bulk copy that may see the old bytes.
//# global_proxy proxy 2x32 numbers:128 zeros:128 zeros:4 zeros:128 ; fence.proxy.async.global
DEV global_proxy(const u32* in, u32* data, u32* flag, u32* out) {
  TILE;
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t];  //~ global_proxy
    if (!WRONG) FENCE_GLOBAL;
    __syncthreads();
    if (t == 0) STORE("release.gpu.global", flag, 1);
    return;
  }
  if (t == 0) {
    INIT(&bar, 1);
    SHOW_INIT;
    for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);
    EXPECT(&bar, 128);
    BULK_LOAD(tile, data, 128, &bar);  //~ global_proxy
  }
  __syncthreads();
  WAIT(&bar, 0);
  out[t] = tile[t];
}
PAIR(global_proxy, (const u32* in, u32* d, u32* f, u32* o), (in, d, f, o))

// Of what a bulk copy stores, a flag tells before the copy is done.
//# store_flag async 2x32 numbers:128 zeros:128 zeros:4 zeros:128 ; without `.read`
DEV store_flag(const u32* in, u32* data, u32* flag, u32* out) {
  TILE;
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    tile[t] = in[t];
    FENCE_SHARED;
    __syncthreads();
    if (t == 0) {
      BULK_STORE(data, tile, 128);  //~ store_flag
      BULK_COMMIT;
      if (WRONG) BULK_WAIT_READ(0); else BULK_WAIT(0);
      STORE("release.gpu.global", flag, 1);
    }
    return;
  }
  if (t == 0) for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);
  __syncthreads();
  out[t] = data[t];  //~ store_flag
}
PAIR(store_flag, (const u32* in, u32* d, u32* f, u32* o), (in, d, f, o))

//# bulk_beyond bounds 1x32 numbers:256 zeros:128 ; beyond the end of argument 0
DEV bulk_beyond(const u32* in, u32* out) {
  TILE;
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) {
    INIT(&bar, 1);
    SHOW_INIT;
    EXPECT(&bar, 256);
    BULK_LOAD(tile, in + (WRONG ? 16 : 0), 256, &bar);  //~ bulk_beyond
  }
  __syncthreads();
  WAIT(&bar, 0);
  out[t] = tile[t];
}
PAIR(bulk_beyond, (const u32* in, u32* out), (in, out))

//# bulk_aligned misaligned 1x32 numbers:512 zeros:128 ; align the address
DEV bulk_aligned(const u32* in, u32* out) {
  TILE;
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) {
    INIT(&bar, 1);
    SHOW_INIT;
    EXPECT(&bar, 256);
    BULK_LOAD(tile, in + (WRONG ? 2 : 4), 256, &bar);  //~ bulk_aligned
  }
  __syncthreads();
  WAIT(&bar, 0);
  out[t] = tile[t];
}
PAIR(bulk_aligned, (const u32* in, u32* out), (in, out))
