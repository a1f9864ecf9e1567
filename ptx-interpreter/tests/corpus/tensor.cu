// sm_100a: wrong kernels, each with a correct twin: products in tensor memory.
#include "common.cuh"
#define MATRIX(P) ((u64)((AT(P) & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32 | 1ull << 46)
// 128 rows of bf16, and sums of f32.
#define SHAPE(N) (1u << 4 | 1u << 7 | 1u << 10 | (N / 8u) << 17 | (128 / 16u) << 24)
#define MULTIPLY_INTO(D, A, B, N, ADDS)                                                                            \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" :: \
               "r"(D), "l"(MATRIX(A)), "l"(MATRIX(B)), "r"(SHAPE(N)), "r"((u32)(ADDS)) : "memory")
#define MULTIPLY(D, A, B, ADDS) MULTIPLY_INTO(D, A, B, 32, ADDS)
#define MULTIPLY_TENSOR(D, A, B)                                                                                    \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" :: \
               "r"(D), "r"(A), "l"(MATRIX(B)), "r"(SHAPE(32)) : "memory")
#define TENSOR_COPY(D, A) \
  asm volatile("tcgen05.cp.cta_group::1.128x128b [%0], %1;" :: "r"(D), "l"(MATRIX(A)) : "memory")
#define TENSOR_COMMIT(BAR)                                                                                          \
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(AT(BAR)) : "memory")
#define TENSOR_LOAD(V, D)                                                                                           \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"                                      \
               : "=r"(V[0]), "=r"(V[1]), "=r"(V[2]), "=r"(V[3]) : "r"(D) : "memory")
#define TENSOR_STORE(D, V)                                                                                          \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};"                                      \
               :: "r"(D), "r"(V[0]), "r"(V[1]), "r"(V[2]), "r"(V[3]) : "memory")
#define WAIT_LOADS ASM("tcgen05.wait::ld.sync.aligned;")
#define WAIT_STORES ASM("tcgen05.wait::st.sync.aligned;")
#define BEFORE_SYNC ASM("tcgen05.fence::before_thread_sync;")
#define AFTER_SYNC ASM("tcgen05.fence::after_thread_sync;")
#define ALLOCATE(TO, COLUMNS)                                                                                       \
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" :: "r"(AT(TO)), "r"(COLUMNS) : "memory")
#define FREE(D, COLUMNS)                                                                                            \
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(D), "r"(COLUMNS) : "memory")
#define STORE_WORDS(V) for (u32 i = 0; i < 4; i++) out[i * 128 + t] = V[i]
// The lanes of a warp.
#define OWN(D) ((D) + ((t / 32) << 21))

// What all kernels have: matrices, a barrier, and 32 columns.
#define BEGIN                                                                \
  __shared__ alignas(1024) uint4 a[256], b[64];                              \
  __shared__ u64 ready;                                                       \
  __shared__ u32 address;                                                    \
  u32 t = threadIdx.x, words[4] = {};                                        \
  if (t == 0) {                                                              \
    INIT(&ready, 1);                                                          \
    SHOW_INIT;                                                               \
  }                                                                          \
  if (t < 32) ALLOCATE(&address, 32);
#define FILL                                   \
  for (u32 i = t; i < 256; i += 128) a[i] = in[i]; \
  if (t < 64) b[t] = in[256 + t]
#define READY     \
  FENCE_SHARED;   \
  __syncthreads(); \
  u32 d = address
#define END         \
  BEFORE_SYNC;      \
  __syncthreads();  \
  AFTER_SYNC;       \
  if (t < 32) FREE(d, 32)

// The threads write the matrices, and the product reads them through the other proxy.
//# tensor_proxy proxy 1x128 zeros:5120 zeros:2048 ; fence.proxy.async.shared::cta
DEV tensor_proxy(const uint4* in, u32* out) {
  BEGIN;
  for (u32 i = t; i < 256; i += 128) a[i] = in[i];  //~ tensor_proxy
  if (t < 64) b[t] = in[256 + t];
  if (!WRONG) FENCE_SHARED;
  __syncthreads();
  u32 d = address;
  if (t == 0) {
    MULTIPLY(d, a, b, 0);  //~ tensor_proxy
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_proxy, (const uint4* in, u32* out), (in, out))

// The wait has the other parity, and returns at once.
//# tensor_early async 1x128 zeros:5120 zeros:2048 ; tensor memory is read before `tcgen05.mma`
DEV tensor_early(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) MULTIPLY(d, a, b, 0);  //~ tensor_early
  if (t == 0) TENSOR_COMMIT(&ready);
  BEFORE_SYNC;
  __syncthreads();
  AFTER_SYNC;
  WAIT(&ready, WRONG ? 1 : 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ tensor_early
  WAIT_LOADS;
  STORE_WORDS(words);
  WAIT(&ready, 0);
  END;
}
PAIR(tensor_early, (const uint4* in, u32* out), (in, out))

// Another thread commits than the one that multiplies: its barrier waits for nothing.
//# tensor_commit async 1x128 zeros:5120 zeros:2048 ; tcgen05.commit
DEV tensor_commit(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) MULTIPLY(d, a, b, 0);  //~ tensor_commit
  BEFORE_SYNC;
  __syncthreads();
  AFTER_SYNC;
  if (t == (WRONG ? 32 : 0)) TENSOR_COMMIT(&ready);
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ tensor_commit
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_commit, (const uint4* in, u32* out), (in, out))

// The barrier has completed, but the loads are not ordered after it.
//# tensor_after order 1x128 zeros:5120 zeros:2048 ; execute `tcgen05.fence::after_thread_sync`
DEV tensor_after(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) {
    MULTIPLY(d, a, b, 0);  //~ tensor_after
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  if (!WRONG) AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ tensor_after
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_after, (const uint4* in, u32* out), (in, out))

// The next product overwrites the sums that other warps have read: their loads are done, but not ordered before the barrier.
//# tensor_before order 1x128 zeros:5120 zeros:2048 ; execute `tcgen05.fence::before_thread_sync`
DEV tensor_before(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  for (u32 k = 0; k < 2; k++) {
    if (t == 0) {
      MULTIPLY(d, a, b, 0);  //~ tensor_before
      TENSOR_COMMIT(&ready);
    }
    WAIT(&ready, k);
    AFTER_SYNC;
    TENSOR_LOAD(words, OWN(d));  //~ tensor_before
    WAIT_LOADS;
    STORE_WORDS(words);
    if (!WRONG) BEFORE_SYNC;
    __syncthreads();
    AFTER_SYNC;
  }
  if (t < 32) FREE(d, 32);
}
PAIR(tensor_before, (const uint4* in, u32* out), (in, out))

// The registers have no values yet.
//# tensor_registers async 1x128 zeros:5120 zeros:2048 ; tcgen05.wait::ld.sync.aligned
DEV tensor_registers(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) {
    MULTIPLY(d, a, b, 0);
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ tensor_registers
  if (!WRONG) WAIT_LOADS;
  STORE_WORDS(words);  //~ tensor_registers
  WAIT_LOADS;
  END;
}
PAIR(tensor_registers, (const uint4* in, u32* out), (in, out))

// The next product begins while loads of other warps may still run.
//# tensor_loads async 1x128 zeros:5120 zeros:2048 ; tensor memory is written before `tcgen05.ld` is known to have read it
DEV tensor_loads(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  for (u32 k = 0; k < 2; k++) {
    if (t == 0) {
      MULTIPLY(d, a, b, 0);  //~ tensor_loads
      TENSOR_COMMIT(&ready);
    }
    WAIT(&ready, k);
    AFTER_SYNC;
    TENSOR_LOAD(words, OWN(d));  //~ tensor_loads
    if (!WRONG || k == 1) WAIT_LOADS;
    BEFORE_SYNC;
    __syncthreads();
    AFTER_SYNC;
  }
  STORE_WORDS(words);
  if (t < 32) FREE(d, 32);
}
PAIR(tensor_loads, (const uint4* in, u32* out), (in, out))

// The first factor is stored to tensor memory, and the product begins before the stores are done.
//# tensor_stores async 1x128 zeros:5120 zeros:2048 ; tcgen05.wait::st.sync.aligned
DEV tensor_stores(const uint4* in, u32* out) {
  __shared__ u32 more;
  BEGIN;
  if (t < 32) ALLOCATE(&more, 32);
  FILL;
  READY;
  u32 factor = more;
  TENSOR_STORE(OWN(factor), words);  //~ tensor_stores
  TENSOR_STORE(OWN(factor) + 4, words);
  if (!WRONG) WAIT_STORES;
  BEFORE_SYNC;
  __syncthreads();
  AFTER_SYNC;
  if (t == 0) {
    MULTIPLY_TENSOR(d, factor, b);  //~ tensor_stores
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));
  WAIT_LOADS;
  WAIT_STORES;
  STORE_WORDS(words);
  END;
  if (t < 32) FREE(factor, 32);
}
PAIR(tensor_stores, (const uint4* in, u32* out), (in, out))

// A matrix is overwritten before the product is done with it.
//# tensor_reuse async 1x128 zeros:5120 zeros:2048 ; a matrix is written before `tcgen05.mma`
DEV tensor_reuse(const uint4* in, u32* out) {
  BEGIN;
  READY;
  for (u32 k = 0; k < 2; k++) {
    a[t] = in[t];  //~ tensor_reuse
    a[128 + t] = in[128 + t];
    if (t < 64) b[t] = in[256 + t];
    FENCE_SHARED;
    __syncthreads();
    if (t == 0) MULTIPLY(d, a, b, k > 0);  //~ tensor_reuse
    if (t == 0) TENSOR_COMMIT(&ready);
    if (!WRONG || k == 1) WAIT(&ready, k);
    __syncthreads();
  }
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_reuse, (const uint4* in, u32* out), (in, out))

// A ring of two stages. The stage is given back by an arrival of the thread, which says nothing of the product that reads it.
//# tensor_ring async 1x160 zeros:20480 zeros:2048 ; tcgen05.commit
DEV tensor_ring(const u32* in, u32* out) {
  __shared__ alignas(1024) u32 stages[2][1280];
  __shared__ u64 full[2], empty[2], ready;
  __shared__ u32 address;
  u32 t = threadIdx.x, words[4] = {};
  if (t == 0) {
    for (u32 i = 0; i < 2; i++) {
      INIT(&full[i], 1);
      INIT(&empty[i], 1);
    }
    INIT(&ready, 1);
    SHOW_INIT;
  }
  if (t < 32) ALLOCATE(&address, 32);
  __syncthreads();
  u32 d = address;
  if (t == 128)
    for (u32 k = 0; k < 4; k++) {
      if (k >= 2) WAIT(&empty[k % 2], 0);
      EXPECT(&full[k % 2], 5120);
      BULK_LOAD(stages[k % 2], in + 1280 * k, 5120, &full[k % 2]);  //~ tensor_ring
    }
  if (t == 0) {
    for (u32 k = 0; k < 4; k++) {
      WAIT(&full[k % 2], k / 2);
      MULTIPLY(d, stages[k % 2], stages[k % 2] + 1024, k > 0);  //~ tensor_ring
      if (WRONG) ARRIVE(&empty[k % 2]); else TENSOR_COMMIT(&empty[k % 2]);
    }
    TENSOR_COMMIT(&ready);
  }
  __syncwarp();
  if (t < 128) {
    WAIT(&ready, 0);
    AFTER_SYNC;
    TENSOR_LOAD(words, OWN(d));
    WAIT_LOADS;
    STORE_WORDS(words);
  }
  END;
}
PAIR(tensor_ring, (const u32* in, u32* out), (in, out))

// The product has more columns than are allocated.
//# tensor_columns bounds 1x128 zeros:5120 zeros:2048 ; has 64 columns from column
DEV tensor_columns(const uint4* in, u32* out) {
  __shared__ alignas(1024) uint4 more[128];
  BEGIN;
  FILL;
  more[t] = in[t];
  READY;
  if (t == 0) {
    if (WRONG) MULTIPLY_INTO(d, a, more, 64, 0); else MULTIPLY_INTO(d, a, more, 32, 0);  //~ tensor_columns
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_columns, (const uint4* in, u32* out), (in, out))

// Each warp has lanes of its own.
//# tensor_lanes bounds 1x128 zeros:5120 zeros:2048 ; reaches lanes
DEV tensor_lanes(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) {
    MULTIPLY(d, a, b, 0);
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, WRONG ? d : OWN(d));  //~ tensor_lanes
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_lanes, (const uint4* in, u32* out), (in, out))

// Nobody frees the columns.
//# tensor_leak deadlock 1x128 zeros:5120 zeros:2048 ; has not freed its tensor memory
DEV tensor_leak(const uint4* in, u32* out) {
  BEGIN;  //~ tensor_leak
  FILL;
  READY;
  if (t == 0) {
    MULTIPLY(d, a, b, 0);
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));
  WAIT_LOADS;
  STORE_WORDS(words);
  BEFORE_SYNC;
  __syncthreads();
  if (t < 32 && !WRONG) FREE(d, 32);
}
PAIR(tensor_leak, (const uint4* in, u32* out), (in, out))

// The columns are freed while other warps still read them.
//# tensor_free async 1x128 zeros:5120 zeros:2048 ; tensor memory is written before `tcgen05.ld` is known to have read it
DEV tensor_free(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) {
    MULTIPLY(d, a, b, 0);
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  __syncthreads();
  if (t >= 32) {
    TENSOR_LOAD(words, OWN(d));  //~ tensor_free
    WAIT_LOADS;
    STORE_WORDS(words);
  }
  BEFORE_SYNC;
  if (!WRONG) __syncthreads();
  AFTER_SYNC;
  if (t < 32) FREE(d, 32);  //~ tensor_free
}
PAIR(tensor_free, (const uint4* in, u32* out), (in, out))

// The first product adds what nobody has written.
//# tensor_first uninitialised 1x128 zeros:5120 zeros:2048 ; of the tensor memory of block 0
DEV tensor_first(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) {
    for (u32 k = 0; k < 2; k++) MULTIPLY(d, a, b, WRONG || k > 0);  //~ tensor_first
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
}
PAIR(tensor_first, (const uint4* in, u32* out), (in, out))

// A copy to tensor memory is asynchronous too.
//# tensor_copy async 1x128 zeros:5120 zeros:2048 ; tensor memory is read before `tcgen05.mma` or `tcgen05.cp`
DEV tensor_copy(const uint4* in, u32* out) {
  BEGIN;
  FILL;
  READY;
  if (t == 0) {
    TENSOR_COPY(d, a);  //~ tensor_copy
    TENSOR_COMMIT(&ready);
  }
  if (!WRONG) WAIT(&ready, 0);
  BEFORE_SYNC;
  __syncthreads();
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(d));  //~ tensor_copy
  WAIT_LOADS;
  STORE_WORDS(words);
  WAIT(&ready, 0);
  END;
}
PAIR(tensor_copy, (const uint4* in, u32* out), (in, out))

// There are 512 columns.
//# tensor_room deadlock 1x128 zeros:5120 zeros:2048 ; waits for columns of tensor memory
DEV tensor_room(const uint4* in, u32* out) {
  __shared__ u32 more;
  BEGIN;
  if (t < 32) ALLOCATE(&more, WRONG ? 512 : 256);  //~ tensor_room
  FILL;
  READY;
  u32 factor = more;
  if (t == 0) {
    MULTIPLY(factor, a, b, 0);
    TENSOR_COMMIT(&ready);
  }
  WAIT(&ready, 0);
  AFTER_SYNC;
  TENSOR_LOAD(words, OWN(factor));
  WAIT_LOADS;
  STORE_WORDS(words);
  END;
  if (t < 32) FREE(factor, WRONG ? 512 : 256);
}
PAIR(tensor_room, (const uint4* in, u32* out), (in, out))
