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
