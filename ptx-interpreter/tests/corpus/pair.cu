// sm_100a: wrong kernels, each with a correct twin: products of a pair of blocks.
#include "common.cuh"
#define MATRIX(P) ((u64)((AT(P) & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32 | 1ull << 46)
// 256 rows and 32 columns of bf16, and sums of f32: of A each block has 128 rows, and of B 16 columns.
#define SHAPE (1u << 4 | 1u << 7 | 1u << 10 | (32 / 8u) << 17 | (256 / 16u) << 24)
#define MULTIPLY(D, A, B)                                                                                            \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::   \
               "r"(D), "l"(MATRIX(A)), "l"(MATRIX(B)), "r"(SHAPE) : "memory")
#define COMMIT_OWN(BAR)                                                                                              \
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(AT(BAR)) : "memory")
#define COMMIT_BOTH(BAR)                                                                                             \
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"  \
               :: "r"(AT(BAR)), "h"((unsigned short)3) : "memory")
#define TENSOR_LOAD(V, D)                                                                                            \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"                                       \
               : "=r"(V[0]), "=r"(V[1]), "=r"(V[2]), "=r"(V[3]) : "r"(D) : "memory")
#define WAIT_LOADS ASM("tcgen05.wait::ld.sync.aligned;")
#define BEFORE_SYNC ASM("tcgen05.fence::before_thread_sync;")
#define AFTER_SYNC ASM("tcgen05.fence::after_thread_sync;")
#define ALLOCATE(TO, COLUMNS)                                                                                        \
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" :: "r"(AT(TO)), "r"(COLUMNS) : "memory")
#define FREE(D, COLUMNS)                                                                                             \
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" :: "r"(D), "r"(COLUMNS) : "memory")
// A barrier of the even block.
#define ARRIVE_FIRST(BAR)                                                                                            \
  asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %0, 0; "                                              \
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far]; }" :: "r"(AT(BAR)) : "memory")
#define STORE_WORDS(V) for (u32 i = 0; i < 4; i++) out[(rank * 4 + i) * 128 + t] = V[i]
#define OWN(D) ((D) + ((t / 32) << 21))

// What all kernels have: matrices, barriers, and 32 columns in both blocks.
#define BEGIN                                          \
  __shared__ alignas(1024) uint4 a[256], b[32];        \
  __shared__ u64 ready, full, both;                    \
  __shared__ u32 address;                              \
  u32 t = threadIdx.x, rank = blockIdx.x, words[4] = {}; \
  in += 288 * rank;                                    \
  if (t == 0) {                                        \
    INIT(&ready, 1);                                   \
    INIT(&full, 1);                                    \
    INIT(&both, 2);                                    \
    SHOW_INIT;                                         \
  }                                                    \
  CLUSTER_SYNC;                                        \
  if (t < 32) ALLOCATE(&address, 32)
#define FILL                                       \
  for (u32 i = t; i < 256; i += 128) a[i] = in[i]; \
  if (t < 32) b[t] = in[256 + t]
#define READY    \
  FENCE_SHARED;  \
  CLUSTER_SYNC;  \
  u32 d = address
#define RESULT              \
  TENSOR_LOAD(words, OWN(d)); \
  WAIT_LOADS;               \
  STORE_WORDS(words)
#define END      \
  BEFORE_SYNC;   \
  CLUSTER_SYNC;  \
  AFTER_SYNC;    \
  if (t < 32) FREE(d, 32)

// The even block waits for the copies of its own matrices, and not for those of the odd one.
//# pair_operands async 2x128 zeros:9216 zeros:4096 ; the destination of an asynchronous copy is read
DEV pair_operands(const uint4* in, u32* out) {
  BEGIN;
  if (t == 0) {
    EXPECT(&full, 4608);
    BULK_LOAD(a, in, 4096, &full);  //~ pair_operands
    BULK_LOAD(b, in + 256, 512, &full);
    WAIT(&full, 0);
    ARRIVE_FIRST(&both);
  }
  __syncthreads();
  u32 d = address;
  if (rank == 0 && t == 0) {
    if (!WRONG) WAIT_OF(".acquire.cluster", &both, 0);
    MULTIPLY(d, a, b);  //~ pair_operands
    COMMIT_BOTH(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  RESULT;
  END;
}
CLUSTER_PAIR(pair_operands, (const uint4* in, u32* out), (in, out))

// The odd block's matrices were written by its threads, and only the even block's threads execute the fence.
//# pair_proxy proxy 2x128 zeros:9216 zeros:4096 ; fence.proxy.async.shared::cta
DEV pair_proxy(const uint4* in, u32* out) {
  BEGIN;
  for (u32 i = t; i < 256; i += 128) a[i] = in[i];  //~ pair_proxy
  if (t < 32) b[t] = in[256 + t];
  if (!WRONG || rank == 0) FENCE_SHARED;
  CLUSTER_SYNC;
  u32 d = address;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);  //~ pair_proxy
    COMMIT_BOTH(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  RESULT;
  END;
}
CLUSTER_PAIR(pair_proxy, (const uint4* in, u32* out), (in, out))

// Only the even block is told when the product is done, and the odd one overwrites its matrix after a barrier.
//# pair_commit async 2x128 zeros:9216 zeros:4096 ; a matrix is written before `tcgen05.mma`
DEV pair_commit(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);  //~ pair_commit
    if (WRONG) COMMIT_OWN(&ready); else COMMIT_BOTH(&ready);
  }
  if (!WRONG) WAIT(&ready, 0);
  CLUSTER_SYNC;
  if (WRONG && rank == 0) WAIT(&ready, 0);
  if (rank == 1) a[t] = in[t + 32];  //~ pair_commit
  FENCE_SHARED;
  CLUSTER_SYNC;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);
    COMMIT_BOTH(&full);
  }
  WAIT(&full, 0);
  AFTER_SYNC;
  RESULT;
  END;
}
CLUSTER_PAIR(pair_commit, (const uint4* in, u32* out), (in, out))

// The product tells the even block's barrier alone, and the odd block waits for its own.
//# pair_told deadlock 2x128 zeros:9216 zeros:4096 ; whose phase lacks 1 arrivals
DEV pair_told(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);
    if (WRONG) COMMIT_OWN(&ready); else COMMIT_BOTH(&ready);
  }
  WAIT(&ready, 0);  //~ pair_told
  AFTER_SYNC;
  RESULT;
  END;
}
CLUSTER_PAIR(pair_told, (const uint4* in, u32* out), (in, out))

// The odd block loads its half of the result after a barrier that the even one came to before the product was done.
//# pair_load async 2x128 zeros:9216 zeros:4096 ; tensor memory is read before `tcgen05.mma`
DEV pair_load(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);  //~ pair_load
    COMMIT_BOTH(&ready);
  }
  BEFORE_SYNC;
  CLUSTER_SYNC;
  if (!WRONG || rank == 0) WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ pair_load
  WAIT_LOADS;
  STORE_WORDS(words);
  if (WRONG && rank == 1) WAIT(&ready, 0);
  END;
}
CLUSTER_PAIR(pair_load, (const uint4* in, u32* out), (in, out))

// The odd block has waited for the product, and its loads are not ordered after the wait.
//# pair_fence order 2x128 zeros:9216 zeros:4096 ; execute `tcgen05.fence::after_thread_sync`
DEV pair_fence(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);  //~ pair_fence
    COMMIT_BOTH(&ready);
  }
  WAIT(&ready, 0);
  if (!WRONG || rank == 0) AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ pair_fence
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
CLUSTER_PAIR(pair_fence, (const uint4* in, u32* out), (in, out))

// The odd block does not need the result, frees its columns and ends while the product still writes them.
//# pair_free async 2x128 zeros:9216 zeros:4096 ; tensor memory is written before `tcgen05.mma`
DEV pair_free(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (rank == 0 && t == 0) {
    MULTIPLY(d, a, b);  //~ pair_free
    COMMIT_BOTH(&ready);
  }
  if (rank == 0 || !WRONG) WAIT(&ready, 0);
  AFTER_SYNC;
  if (rank == 0) {
    RESULT;
  }
  BEFORE_SYNC;
  if (WRONG) __syncthreads(); else CLUSTER_SYNC;
  AFTER_SYNC;
  if (t < 32) FREE(d, 32);  //~ pair_free
}
CLUSTER_PAIR(pair_free, (const uint4* in, u32* out), (in, out))

// A pair allocates with a warp of each block, and here only the even one does.
//# pair_alloc deadlock 2x128 zeros:9216 zeros:4096 ; waits for the other block of its pair
DEV pair_alloc(const uint4* in, u32* out) {
  __shared__ u32 address;
  u32 t = threadIdx.x, rank = blockIdx.x;
  CLUSTER_SYNC;
  if (t < 32 && (!WRONG || rank == 0)) {
    ALLOCATE(&address, 64);  //~ pair_alloc
    __syncwarp();
    FREE(address, 64);
  }
  out[rank * 128 + t] = in[t].x;
}
CLUSTER_PAIR(pair_alloc, (const uint4* in, u32* out), (in, out))
