// Wrong kernels, each with a correct twin: clusters.
#include "common.cuh"
#define THERE(TO, FROM, RANK) asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(TO) : "r"(AT(FROM)), "r"(RANK))
#define LOAD_THERE(TO, AT_) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(TO) : "r"(AT_) : "memory")

//# cluster order 2x32 zeros:256 ; barrier.cluster
DEV cluster(u32* out) {
  __shared__ u32 part[32];
  u32 t = threadIdx.x, there, value;
  part[t] = blockIdx.x * 100 + t;  //~ cluster
  if (WRONG) ASM("barrier.cluster.arrive.relaxed; barrier.cluster.wait;"); else CLUSTER_SYNC;
  THERE(there, part + t, 1 - blockIdx.x % 2);
  LOAD_THERE(value, there);  //~ cluster
  CLUSTER_SYNC;
  out[blockIdx.x * 32 + t] = value;
}
CLUSTER_PAIR(cluster, (u32* out), (out))

// The other block may have ended before its shared memory is read.
//# cluster_exit bounds 2x32 zeros:256 ; before they end
DEV cluster_exit(u32* out) {
  __shared__ u32 part[32];
  u32 t = threadIdx.x, there, value;
  part[t] = blockIdx.x * 100 + t;
  CLUSTER_SYNC;
  THERE(there, part + t, 1 - blockIdx.x % 2);
  LOAD_THERE(value, there);  //~ cluster_exit
  if (!WRONG) CLUSTER_SYNC;
  out[blockIdx.x * 32 + t] = value;
}
CLUSTER_PAIR(cluster_exit, (u32* out), (out))

// An arrival at another block's barrier, which may have ended.
//# remote_exit bounds 2x32 zeros:256 ; before they end
DEV remote_exit(u32* out) {
  __shared__ u64 bar;
  u32 t = threadIdx.x, there;
  if (t == 0) { INIT(&bar, 1); SHOW_INIT; }
  CLUSTER_SYNC;
  if (blockIdx.x % 2 == 1 && t == 0) {
    THERE(there, &bar, 0);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");  //~ remote_exit
  }
  if (blockIdx.x % 2 == 0 && !WRONG) WAIT(&bar, 0);
  out[blockIdx.x * 32 + t] = 1;
}
CLUSTER_PAIR(remote_exit, (u32* out), (out))

//# no_such_block bounds 2x32 zeros:256 ; outside of every piece
DEV no_such_block(u32* out) {
  __shared__ u32 part[32];
  u32 t = threadIdx.x, there, value;
  part[t] = t;
  CLUSTER_SYNC;
  THERE(there, part + t, WRONG ? 2 - blockIdx.x % 2 : 1 - blockIdx.x % 2);
  LOAD_THERE(value, there);  //~ no_such_block
  CLUSTER_SYNC;
  out[blockIdx.x * 32 + t] = value;
}
CLUSTER_PAIR(no_such_block, (u32* out), (out))

// A barrier of the block does not order the blocks of a cluster.
//# block_barrier race 2x32 zeros:256 ; barrier.cluster
DEV block_barrier(u32* out) {
  __shared__ u32 part[32];
  u32 t = threadIdx.x, there, value;
  part[t] = blockIdx.x * 100 + t;
  CLUSTER_SYNC;
  THERE(there, part + t, 1 - blockIdx.x % 2);
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(t) : "memory");  //~ block_barrier
  if (WRONG) __syncthreads(); else CLUSTER_SYNC;
  value = part[31 - t];  //~ block_barrier
  CLUSTER_SYNC;
  out[blockIdx.x * 32 + t] = value;
}
CLUSTER_PAIR(block_barrier, (u32* out), (out))

// A flag in another block's shared memory, released to the own block alone.
//# cluster_scope order 2x32 zeros:256 ; .cluster
DEV cluster_scope(u32* out) {
  __shared__ u32 data, flag;
  u32 t = threadIdx.x, there;
  if (t == 0) flag = 0;
  CLUSTER_SYNC;
  if (t == 0 && blockIdx.x % 2 == 0) {
    THERE(there, &data, 1);
    asm volatile("st.shared::cluster.u32 [%0], 7;" ::"r"(there) : "memory");  //~ cluster_scope
    THERE(there, &flag, 1);
    if (WRONG) asm volatile("st.release.cta.shared::cluster.u32 [%0], 1;" ::"r"(there) : "memory");  //~ cluster_scope
    else asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" ::"r"(there) : "memory");
  } else if (t == 0) {
    for (u32 seen = 0; !seen;)
      asm volatile("ld.acquire.cluster.shared.u32 %0, [%1];" : "=r"(seen) : "r"(AT(&flag)) : "memory");
    out[blockIdx.x] = data;  //~ cluster_scope
  }
  CLUSTER_SYNC;
}
CLUSTER_PAIR(cluster_scope, (u32* out), (out))

// A copy to all blocks of the cluster, before the other block has initialised its barrier.
//# multicast_init bounds 2x32 numbers:256 zeros:256 ; barrier.cluster.wait
DEV multicast_init(const u32* in, u32* out) {
  __shared__ alignas(128) u32 tile[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) {
    if (WRONG && blockIdx.x % 2 == 1) for (volatile u32 i = 0; i < 200; i = i + 1) {}
    INIT(&bar, 1);
    SHOW_INIT;
    EXPECT(&bar, 128);
  }
  if (WRONG) __syncthreads(); else CLUSTER_SYNC;
  if (t == 0 && blockIdx.x % 2 == 0)
    asm volatile(  //~ multicast_init
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;" ::
        "r"(AT(tile)), "l"(in), "r"(AT(&bar)), "h"((short)3) : "memory");
  WAIT(&bar, 0);
  out[blockIdx.x * 32 + t] = tile[t];
  CLUSTER_SYNC;
}
CLUSTER_PAIR(multicast_init, (const u32* in, u32* out), (in, out))

// An arrival at another block's barrier, and the wait there, are for the block if they do not say their scope.
template <int WHICH> __device__ __forceinline__ void through_barrier(const u32* in, u32* out) {
  __shared__ u32 tile[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x, there, theirs;
  if (t == 0) {
    INIT(&bar, 32);
    SHOW_INIT;
  }
  CLUSTER_SYNC;
  THERE(there, tile + t, 1 - blockIdx.x % 2);
  THERE(theirs, &bar, 1 - blockIdx.x % 2);
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(in[t]) : "memory");  //~ remote_arrival remote_wait
  if (WHICH == 1)
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(theirs) : "memory");  //~ remote_arrival
  else asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(theirs) : "memory");  //~ remote_wait
  if (WHICH == 2) WAIT(&bar, 0);  //~ remote_wait
  else WAIT_OF(".acquire.cluster", &bar, 0);  //~ remote_arrival
  out[blockIdx.x * 32 + t] = tile[31 - t];  //~ remote_arrival remote_wait
  CLUSTER_SYNC;
}
//# remote_arrival order 2x32 numbers:128 zeros:256 ; mbarrier.arrive.release.cluster
DEV remote_arrival(const u32* in, u32* out) { through_barrier<WRONG ? 1 : 0>(in, out); }
CLUSTER_PAIR(remote_arrival, (const u32* in, u32* out), (in, out))
//# remote_wait order 2x32 numbers:128 zeros:256 ; mbarrier.try_wait.acquire.cluster
DEV remote_wait(const u32* in, u32* out) { through_barrier<WRONG ? 2 : 0>(in, out); }
CLUSTER_PAIR(remote_wait, (const u32* in, u32* out), (in, out))

// A copy to all blocks of the cluster. The other block has initialised its barrier by chance, and nothing orders that before.
//# multicast_order race 2x32 numbers:256 zeros:256 ; barrier.cluster
DEV multicast_order(const u32* in, u32* out) {
  __shared__ alignas(128) u32 tile[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) {
    INIT(&bar, 1);  //~ multicast_order
    SHOW_INIT;
    EXPECT(&bar, 128);
    if (WRONG && blockIdx.x % 2 == 0) for (volatile u32 i = 0; i < 200; i = i + 1) {}
  }
  if (WRONG) __syncthreads(); else CLUSTER_SYNC;
  if (t == 0 && blockIdx.x % 2 == 0)
    asm volatile(  //~ multicast_order
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;" ::
            "r"(AT(tile)), "l"(in), "r"(AT(&bar)), "h"((short)3) : "memory");
  WAIT(&bar, 0);
  out[blockIdx.x * 32 + t] = tile[t];
  CLUSTER_SYNC;
}
CLUSTER_PAIR(multicast_order, (const u32* in, u32* out), (in, out))

// Each thread sends a word to the other block, which outlives that if it waits for its barrier. 0: right. 1: it reads before, when
// all have begun to send. 2: it ends before. 3: it expects too few bytes.
template <int KIND> __device__ __forceinline__ void sent(u32* out) {
  __shared__ u32 part[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x, there, theirs;
  if (t == 0) {
    INIT(&bar, 1);
    SHOW_INIT;
    EXPECT(&bar, KIND == 3 ? 64 : 128);
  }
  CLUSTER_SYNC;
  THERE(there, part + t, 1 - blockIdx.x % 2);
  THERE(theirs, &bar, 1 - blockIdx.x % 2);
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::  //~ sent_wait sent_exit sent_few
      "r"(there), "r"(blockIdx.x * 100 + t), "r"(theirs) : "memory");
  if (KIND == 1) {
    CLUSTER_SYNC;
    out[blockIdx.x * 32 + t] = part[31 - t];  //~ sent_wait
  }
  if (KIND != 2) WAIT_OF(".acquire.cluster", &bar, 0);
  if (KIND == 0 || KIND == 3) out[blockIdx.x * 32 + t] = part[31 - t];
}
//# sent_wait async 2x32 zeros:256 ; mbarrier.try_wait
DEV sent_wait(u32* out) { sent<WRONG ? 1 : 0>(out); }
CLUSTER_PAIR(sent_wait, (u32* out), (out))
//# sent_exit async 2x32 zeros:256 ; wait for the mbarrier
DEV sent_exit(u32* out) { sent<WRONG ? 2 : 0>(out); }
CLUSTER_PAIR(sent_exit, (u32* out), (out))
//# sent_few async 2x32 zeros:256 ; copies bring more bytes
DEV sent_few(u32* out) { sent<WRONG ? 3 : 0>(out); }
CLUSTER_PAIR(sent_few, (u32* out), (out))

// A copy adds the block's words to those of the other block. 0: right. 1: nothing shows the copy the words. 2: nobody waits for it.
// 3: the block ends while the copy still reads its words.
template <int KIND> __device__ __forceinline__ void added(const u32* in, u32* out) {
  __shared__ alignas(16) u32 part[32], sum[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x, there, theirs;
  part[t] = in[t];  //~ added_fence
  sum[t] = 0;
  if (t == 0) {
    INIT(&bar, 1);
    SHOW_INIT;
    EXPECT(&bar, 128);
  }
  if (KIND != 1) FENCE_SHARED;
  CLUSTER_SYNC;
  THERE(there, sum, 1 - blockIdx.x % 2);
  THERE(theirs, &bar, 1 - blockIdx.x % 2);
  if (t == 0)
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 128, [%2];" ::  //~ added_fence added_wait added_exit
        "r"(there), "r"(AT(part)), "r"(theirs) : "memory");
  if (KIND != 2) WAIT(&bar, 0);
  out[blockIdx.x * 32 + t] = sum[31 - t];  //~ added_wait
  if (KIND == 2) WAIT(&bar, 0);
  if (KIND != 3) CLUSTER_SYNC;
}
//# added_fence proxy 2x32 numbers:128 zeros:256 ; fence.proxy.async
DEV added_fence(const u32* in, u32* out) { added<WRONG ? 1 : 0>(in, out); }
CLUSTER_PAIR(added_fence, (const u32* in, u32* out), (in, out))
//# added_wait async 2x32 numbers:128 zeros:256 ; mbarrier.try_wait
DEV added_wait(const u32* in, u32* out) { added<WRONG ? 2 : 0>(in, out); }
CLUSTER_PAIR(added_wait, (const u32* in, u32* out), (in, out))
//# added_exit async 2x32 numbers:128 zeros:256 ; barrier.cluster.arrive
DEV added_exit(const u32* in, u32* out) { added<WRONG ? 3 : 0>(in, out); }
CLUSTER_PAIR(added_exit, (const u32* in, u32* out), (in, out))
