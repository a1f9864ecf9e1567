// What the kernels of the corpus share. Instructions are macros, so that `.loc` names the line that uses them.
#pragma once
typedef unsigned u32;
typedef unsigned long long u64;
#define DEV template <bool WRONG> __device__ __forceinline__ void
#define PAIR_OF(BOUNDS, NAME, PARAMETERS, ARGUMENTS)                                   \
  extern "C" __global__ void BOUNDS wrong_##NAME PARAMETERS { NAME<true> ARGUMENTS; }  \
  extern "C" __global__ void BOUNDS right_##NAME PARAMETERS { NAME<false> ARGUMENTS; }
#define PAIR(NAME, PARAMETERS, ARGUMENTS) PAIR_OF(, NAME, PARAMETERS, ARGUMENTS)
#define CLUSTER_PAIR(NAME, PARAMETERS, ARGUMENTS) PAIR_OF(__cluster_dims__(2, 1, 1), NAME, PARAMETERS, ARGUMENTS)
#define AT(P) ((u32)__cvta_generic_to_shared(P))
#define ASM(...) asm volatile(__VA_ARGS__ ::: "memory")

// Flags.
#define STORE(HOW, P, V) asm volatile("st." HOW ".u32 [%0], %1;" ::"l"(P), "r"(V) : "memory")
#define LOAD(HOW, TO, P) asm volatile("ld." HOW ".u32 %0, [%1];" : "=r"(TO) : "l"(P) : "memory")
#define ADD(HOW, P, V) asm volatile("red." HOW ".add.u32 [%0], %1;" ::"l"(P), "r"(V) : "memory")

// Copies by threads.
#define COPY4(TO, FROM) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(AT(TO)), "l"(FROM) : "memory")
#define COPY16(TO, FROM) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(AT(TO)), "l"(FROM) : "memory")
#define COMMIT ASM("cp.async.commit_group;")
#define WAIT_GROUP(N) ASM("cp.async.wait_group " #N ";")

// Barriers in memory.
#define INIT(BAR, COUNT) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(AT(BAR)), "r"(COUNT) : "memory")
#define SHOW_INIT ASM("fence.mbarrier_init.release.cluster;")
#define EXPECT(BAR, BYTES) \
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(AT(BAR)), "r"(BYTES) : "memory")
#define ARRIVE(BAR) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(AT(BAR)) : "memory")
#define WAIT_OF(HOW, BAR, PARITY)                                                                                   \
  for (u32 done = 0; !done;)                                                                                        \
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity" HOW ".shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"    \
               : "=r"(done) : "r"(AT(BAR)), "r"(PARITY) : "memory")
#define WAIT(BAR, PARITY) WAIT_OF("", BAR, PARITY)

// Copies by the asynchronous proxy.
#define BULK_LOAD(TO, FROM, BYTES, BAR)                                                                             \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::         \
               "r"(AT(TO)), "l"(FROM), "r"(BYTES), "r"(AT(BAR)) : "memory")
#define BULK_STORE(TO, FROM, BYTES)                                                                                 \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(TO), "r"(AT(FROM)), "r"(BYTES)   \
               : "memory")
#define BULK_COMMIT ASM("cp.async.bulk.commit_group;")
#define BULK_WAIT(N) ASM("cp.async.bulk.wait_group " #N ";")
#define BULK_WAIT_READ(N) ASM("cp.async.bulk.wait_group.read " #N ";")
#define FENCE_SHARED ASM("fence.proxy.async.shared::cta;")
#define FENCE_GLOBAL ASM("fence.proxy.async.global;")
#define CLUSTER_SYNC ASM("barrier.cluster.arrive; barrier.cluster.wait;")
