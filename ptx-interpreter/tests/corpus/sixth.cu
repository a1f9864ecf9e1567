// Wrong kernels, each with a correct twin, after what a sixth trial on 157 of them unseen has taught.
#include "common.cuh"

// A lock is taken with a fence behind it and given back without one before: the fence there is comes before the bytes.
//# unlocked order 4x32 numbers:16 zeros:4 zeros:4 ; none between them and the flag
DEV unlocked(const u32* in, u32* lock, u32* sum) {
  if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1)) {}  //~ unlocked
  __threadfence();
  *sum += in[blockIdx.x];  //~ unlocked
  if (!WRONG) __threadfence();
  *(volatile u32*)lock = 0;  //~ unlocked
}
PAIR(unlocked, (const u32* in, u32* lock, u32* sum), (in, lock, sum))

// Whoever takes a place in a queue counts it, and fills it later: the count says nothing of what is in it.
//# early_count race 2x32 zeros:4 zeros:4 zeros:4 zeros:4 ; nothing orders them
DEV early_count(u32* slot, u32* count, u32* ready, u32* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    u32 at = atomicAdd(count, 1);
    slot[at] = 7;  //~ early_count
    __threadfence();
    atomicExch(ready, 1);
  } else {
    while (atomicAdd(WRONG ? count : ready, 0) == 0) {}
    __threadfence();
    *out = *slot;  //~ early_count
  }
}
PAIR(early_count, (u32* slot, u32* count, u32* ready, u32* out), (slot, count, ready, out))

// Two warps meet as CUDA's tiles of more than a warp do: by bits of a word that the system has reserved, and that nobody has written.
//# reserved race 1x64 numbers:256 zeros:256 ; nothing orders them
DEV reserved(const u32* in, u32* out) {
  __shared__ u32 all[64];
  u32 t = threadIdx.x, bit = 1u << t / 32, before, now;
  u64 word;
  asm volatile("{ .reg .u32 at; .reg .u64 to; mov.u32 at, %%reserved_smem_offset_1; cvt.u64.u32 to, at; cvta.shared.u64 %0, to; }"
               : "=l"(word));
  if (t % 32 == 0) asm volatile("red.and.release.cta.b32 [%0], %1;" ::"l"(word), "r"(~bit) : "memory");
  __syncthreads();
  all[t] = in[t];  //~ reserved
  __syncwarp();
  if (!WRONG && t % 32 == 0) {
    asm volatile("atom.or.acq_rel.cta.b32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(bit) : "memory");
    if ((before | bit) % 4 == 3)
      asm volatile("red.and.relaxed.cta.b32 [%0], %1;" ::"l"(word), "r"(~3u) : "memory");
    else
      do asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory"); while (now & bit);
  }
  __syncwarp();
  out[t] = all[63 - t];  //~ reserved
}
PAIR(reserved, (const u32* in, u32* out), (in, out))

// Threads of two blocks set bits of one word by a load and a store.
//# lost race 2x32 zeros:4 ; change it by an atomic
DEV lost(u32* word) {
  if (WRONG)
    *word |= 1u << threadIdx.x;  //~ lost
  else
    atomicOr(word, 1u << threadIdx.x);
}
PAIR(lost, (u32* word), (word))
// A sum as before sm_70: the threads of a warp count on it that they go on together. A loop that waits for a flag does not.
//# lockstep race 1x32 numbers:256 zeros:128 ; need not go on together
DEV lockstep(const u32* in, u32* out) {
  __shared__ volatile u32 sums[64], flag;
  u32 t = threadIdx.x;
  if (t == 0) flag = 0;
  sums[t] = in[t];
  sums[t + 32] = 0;
  __syncwarp();
  if (t == 5) flag = 1;
  while (!flag) {}
  for (u32 far = 16; far; far /= 2) {
    u32 own = sums[t] + sums[t + far];  //~ lockstep
    if (!WRONG) __syncwarp();
    sums[t] = own;  //~ lockstep
    if (!WRONG) __syncwarp();
  }
  out[t] = sums[t];
}
PAIR(lockstep, (const u32* in, u32* out), (in, out))
