// Wrong kernels, each with a correct twin, after what a fifth trial on 161 of them unseen has taught.
#include "common.cuh"

// The halves of a warp meet at two barriers of their own, or at one of the same mask.
//# two_barriers race 1x32 numbers:128 zeros:128 ; nothing orders them
DEV two_barriers(const u32* in, u32* out) {
  __shared__ u32 all[32];
  u32 t = threadIdx.x;
  all[t] = in[t];  //~ two_barriers
  if (t < 16) {
    __syncwarp(WRONG ? 0x0000ffff : 0xffffffff);
    out[t] = all[31 - t];  //~ two_barriers
  } else {
    __syncwarp(WRONG ? 0xffff0000 : 0xffffffff);
    out[t] = all[31 - t] + 1;
  }
}
PAIR(two_barriers, (const u32* in, u32* out), (in, out))

// Even and odd lanes exchange by instructions of their own. PTX asks for the same words and the same mask, and the odd ones have another.
//# two_shuffles deadlock 1x32 numbers:128 zeros:128 ; lanes 0xaaaaaaaa are elsewhere
DEV two_shuffles(const u32* in, u32* out) {
  u32 t = threadIdx.x, own = in[t];
  if (t % 2)
    own = __shfl_xor_sync(WRONG ? 0xaaaaaaaa : 0xffffffff, own, 1) * 3;
  else
    own = __shfl_xor_sync(0xffffffff, own + 7, 1) + 1;  //~ two_shuffles
  __syncwarp();
  out[t] = own;
}
PAIR(two_shuffles, (const u32* in, u32* out), (in, out))

// Each lane hands on the address of its own array. On a GPU another lane finds its own array there.
//# other_local bounds 1x32 numbers:128 zeros:128 ; the local memory of thread 1 of block 0
DEV other_local(const u32* in, u32* out) {
  __shared__ u32* all[32];
  u32 t = threadIdx.x, own[4];
  for (u32 k = 0; k < 4; k++) own[k] = in[(t + k) % 32];
  all[t] = own;
  __syncwarp();
  out[t] = all[WRONG ? t ^ 1 : t][t % 4];  //~ other_local
}
PAIR(other_local, (const u32* in, u32* out), (in, out))

// A relaxed arrival lets the threads of a cluster wait for each other, and hands nothing over.
//# relaxed_meeting order 2x32 numbers:256 zeros:256 ; arrives without a release
DEV relaxed_meeting(const u32* in, u32* out) {
  __shared__ u32 all[32];
  u32 t = threadIdx.x, at = blockIdx.x * 32 + t, rank = blockIdx.x % 2, there, got;
  all[t] = in[at];  //~ relaxed_meeting
  if (WRONG)
    ASM("barrier.cluster.arrive.relaxed;");  //~ relaxed_meeting
  else
    ASM("barrier.cluster.arrive.release;");
  ASM("barrier.cluster.wait.acquire;");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(all + 31 - t)), "r"(rank ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(there) : "memory");  //~ relaxed_meeting
  out[at] = got;
  CLUSTER_SYNC;
}
CLUSTER_PAIR(relaxed_meeting, (const u32* in, u32* out), (in, out))

// Each round initialises the barrier anew. PTX asks for `mbarrier.inval` before that.
//# initialised_again async 1x32 zeros:128 ; that is a barrier already
DEV initialised_again(u32* out) {
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  for (u32 round = 0; round < 2; round++) {
    if (t == 0) INIT(&bar, 32);  //~ initialised_again
    __syncwarp();
    ARRIVE(&bar);
    WAIT(&bar, 0);
    __syncwarp();
    if (t == 0 && !WRONG) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(AT(&bar)) : "memory");
    __syncwarp();
  }
  out[t] = t;
}
PAIR(initialised_again, (u32* out), (out))

// The memory of a barrier becomes that of sums.
//# barrier_overwritten async 1x32 zeros:128 ; has not ended
DEV barrier_overwritten(u32* out) {
  __shared__ u64 both[32];
  u32 t = threadIdx.x;
  if (t == 0) INIT(both, 32);  //~ barrier_overwritten
  __syncwarp();
  ARRIVE(both);
  WAIT(both, 0);
  __syncwarp();
  if (t == 0 && !WRONG) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(AT(both)) : "memory");
  __syncwarp();
  both[t] = t;  //~ barrier_overwritten
  __syncwarp();
  out[t] = (u32)both[31 - t];
}
PAIR(barrier_overwritten, (u32* out), (out))
