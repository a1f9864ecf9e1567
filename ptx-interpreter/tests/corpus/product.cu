// sm_90a: wrong kernels, each with a correct twin: products of four warps.
#include "common.cuh"
#define DESCRIPTOR(P) ((u64)((AT(P) & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32)
#define PRODUCT(D, A, B)                                                                                           \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"         \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3]) : "l"(DESCRIPTOR(A)), "l"(DESCRIPTOR(B)) : "memory")
#define PRODUCT_OF_ROWS(D, A, B)                                                                                   \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                                                    \
               : "r"(A.x), "r"(A.y), "r"(A.z), "r"(A.w), "l"(DESCRIPTOR(B)) : "memory")
#define PRODUCT_FENCE ASM("wgmma.fence.sync.aligned;")
#define PRODUCT_COMMIT ASM("wgmma.commit_group.sync.aligned;")
#define PRODUCT_WAIT(N) ASM("wgmma.wait_group.sync.aligned " #N ";")
#define STORE_SUM(D) for (u32 i = 0; i < 4; i++) out[i * 128 + threadIdx.x] = D[i]

// The threads write the matrices, and the product reads through the other proxy.
//# product_proxy proxy 1x128 zeros:2560 zeros:2048 ; fence.proxy.async.shared::cta
DEV product_proxy(const uint4* in, float* out) {
  __shared__ alignas(1024) uint4 a[128], b[16];
  u32 t = threadIdx.x;
  float sum[4] = {};
  a[t] = in[t];  //~ product_proxy
  if (t < 16) b[t] = in[128 + t];
  if (!WRONG) FENCE_SHARED;
  __syncthreads();
  PRODUCT_FENCE;
  PRODUCT(sum, a, b);  //~ product_proxy
  PRODUCT_COMMIT;
  PRODUCT_WAIT(0);
  STORE_SUM(sum);
}
PAIR(product_proxy, (const uint4* in, float* out), (in, out))

// Each warp writes its own rows of A; only B is for all.
//# product_rows async 1x128 zeros:2560 zeros:2048 ; begins a product (`wgmma`) that reads
DEV product_rows(const uint4* in, float* out) {
  __shared__ alignas(1024) uint4 a[128], b[16];
  u32 t = threadIdx.x;
  float sum[4] = {};
  if (t < 16) b[t] = in[128 + t];
  FENCE_SHARED;
  __syncthreads();
  u32 row = WRONG ? 127 - t : t;
  a[row] = in[row];  //~ product_rows
  FENCE_SHARED;
  __syncwarp();
  PRODUCT_FENCE;
  PRODUCT(sum, a, b);  //~ product_rows
  PRODUCT_COMMIT;
  PRODUCT_WAIT(0);
  STORE_SUM(sum);
}
PAIR(product_rows, (const uint4* in, float* out), (in, out))

// A ring of two stages: the copy into a stage begins while the product before still reads it, because one group too many is left.
//# product_ring async 1x160 zeros:10240 zeros:2048 ; wgmma.wait_group.sync.aligned
DEV product_ring(const u32* in, float* out) {
  __shared__ alignas(1024) u32 stages[2][640];
  __shared__ u64 full[2], empty[2];
  u32 t = threadIdx.x;
  if (t == 0) {
    for (u32 i = 0; i < 2; i++) {
      INIT(&full[i], 1);
      INIT(&empty[i], 1);
    }
    SHOW_INIT;
  }
  __syncthreads();
  if (t >= 128) {
    if (t == 128)
      for (u32 k = 0; k < 4; k++) {
        if (k >= 2) WAIT(&empty[k % 2], 0);
        EXPECT(&full[k % 2], 2560);
        BULK_LOAD(stages[k % 2], in + 640 * k, 2560, &full[k % 2]);  //~ product_ring
      }
    return;
  }
  float sum[4] = {};
  for (u32 k = 0; k < 4; k++) {
    WAIT(&full[k % 2], k / 2);
    PRODUCT_FENCE;
    PRODUCT(sum, stages[k % 2], stages[k % 2] + 512);  //~ product_ring
    PRODUCT_COMMIT;
    if (k >= 1) {
      if (WRONG) PRODUCT_WAIT(2); else PRODUCT_WAIT(1);
      if (t == 0) ARRIVE(&empty[(k - 1) % 2]);
    }
  }
  PRODUCT_WAIT(0);
  STORE_SUM(sum);
}
PAIR(product_ring, (const u32* in, float* out), (in, out))

// A matrix is overwritten by the threads while the product still reads it.
//# product_reuse async 1x128 zeros:2560 zeros:2048 ; a matrix is written before `wgmma` is known to have read it
DEV product_reuse(const uint4* in, float* out) {
  __shared__ alignas(1024) uint4 a[128], b[16];
  u32 t = threadIdx.x;
  float sum[4] = {};
  for (u32 k = 0; k < 2; k++) {
    a[t] = in[t];  //~ product_reuse
    if (t < 16) b[t] = in[128 + t];
    FENCE_SHARED;
    __syncthreads();
    PRODUCT_FENCE;
    PRODUCT(sum, a, b);  //~ product_reuse
    if (!WRONG) PRODUCT_COMMIT;
    PRODUCT_WAIT(0);
    __syncthreads();
  }
  PRODUCT_COMMIT;
  PRODUCT_WAIT(0);
  STORE_SUM(sum);
}
PAIR(product_reuse, (const uint4* in, float* out), (in, out))

// The result of a product goes on to the next one through shared memory.
//# product_chain proxy 1x128 zeros:2560 zeros:2048 ; fence.proxy.async.shared::cta
DEV product_chain(const uint4* in, float* out) {
  __shared__ alignas(1024) uint4 a[128], b[16];
  u32 t = threadIdx.x;
  float sum[4] = {}, next[4] = {};
  a[t] = in[t];
  if (t < 16) b[t] = in[128 + t];
  FENCE_SHARED;
  __syncthreads();
  PRODUCT_FENCE;
  PRODUCT(sum, a, b);
  PRODUCT_COMMIT;
  PRODUCT_WAIT(0);
  __syncthreads();
  u32* words = (u32*)a;
  for (u32 i = 0; i < 4; i++) words[i * 128 + t] = __float_as_uint(sum[i]);  //~ product_chain
  if (!WRONG) FENCE_SHARED;
  __syncthreads();
  PRODUCT_FENCE;
  PRODUCT(next, a, b);  //~ product_chain
  PRODUCT_COMMIT;
  PRODUCT_WAIT(0);
  STORE_SUM(next);
}
PAIR(product_chain, (const uint4* in, float* out), (in, out))

// The bytes of a matrix have not come yet.
//# product_early async 1x128 zeros:2560 zeros:2048 ; mbarrier.try_wait.parity
DEV product_early(const u32* in, float* out) {
  __shared__ alignas(1024) u32 stage[640];
  __shared__ u64 full;
  u32 t = threadIdx.x;
  float sum[4] = {};
  if (t == 0) {
    INIT(&full, 1);
    SHOW_INIT;
    EXPECT(&full, 2560);
    BULK_LOAD(stage, in, 2560, &full);  //~ product_early
  }
  __syncthreads();
  WAIT(&full, WRONG ? 1 : 0);
  PRODUCT_FENCE;
  PRODUCT(sum, stage, stage + 512);  //~ product_early
  PRODUCT_COMMIT;
  PRODUCT_WAIT(0);
  WAIT(&full, 0);
  STORE_SUM(sum);
}
PAIR(product_early, (const u32* in, float* out), (in, out))

// tilelang#2559: two blocks are to fit on an SM, so a thread begins with 128 registers. 24 and 240 are more than two times 128.
//# registers_of_two deadlock 1x256 numbers:1024 zeros:1024 ; waits for registers
DEV registers_of_two(const u32* in, u32* out) {
  u32 t = threadIdx.x, value = in[t];
  if (t < 128) {
    ASM("setmaxnreg.dec.sync.aligned.u32 24;");
  } else if (WRONG) {
    ASM("setmaxnreg.inc.sync.aligned.u32 240;");  //~ registers_of_two
  } else {
    ASM("setmaxnreg.inc.sync.aligned.u32 232;");
  }
  out[t] = value + 1;
}
PAIR_OF(__launch_bounds__(256, 2), registers_of_two, (const u32* in, u32* out), (in, out))

// helion#3620: the warps that multiply get more registers, and no other warps give theirs back.
//# registers_kept deadlock 1x384 numbers:1536 zeros:1536 ; the others have given back 0
DEV registers_kept(const u32* in, u32* out) {
  __shared__ u32 stage[384];
  u32 t = threadIdx.x;
  if (t < 128) {
    if (!WRONG) ASM("setmaxnreg.dec.sync.aligned.u32 88;");
    for (u32 i = t; i < 384; i += 128) stage[i] = in[i];
    ASM("bar.arrive 1, 384;");
  } else {
    ASM("setmaxnreg.inc.sync.aligned.u32 200;");  //~ registers_kept
    ASM("bar.sync 1, 384;");
    out[t] = stage[383 - t] + stage[t];
  }
}
PAIR_OF(__launch_bounds__(384, 1), registers_kept, (const u32* in, u32* out), (in, out))

// DeepGEMM #448: the rows of the next turn are loaded into the registers that the last product still reads.
//# product_registers async 1x128 zeros:8448 zeros:2048 ; a register is overwritten before `wgmma` is known to have read it
DEV product_registers(const uint4* in, float* out) {
  __shared__ alignas(1024) uint4 b[16];
  u32 t = threadIdx.x;
  float sum[4] = {};
  if (t < 16) b[t] = in[t];
  FENCE_SHARED;
  __syncthreads();
#pragma unroll 1
  for (u32 k = 0; k < 4; k++) {
    uint4 a = in[16 + k * 128 + t];  //~ product_registers
    if (WRONG) PRODUCT_WAIT(0);
    PRODUCT_FENCE;
    PRODUCT_OF_ROWS(sum, a, b);  //~ product_registers
    PRODUCT_COMMIT;
    if (!WRONG) PRODUCT_WAIT(0);
  }
  PRODUCT_WAIT(0);
  STORE_SUM(sum);
}
PAIR(product_registers, (const uint4* in, float* out), (in, out))
