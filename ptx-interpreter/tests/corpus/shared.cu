// Wrong kernels, each with a correct twin: shared memory between the threads of a block.
// `../corpus.rs` says how the lines `//#` and the marks `//~` are read.
#include "common.cuh"

//# reduce race 2x256 numbers:2048 zeros:8 ; bar.sync 0
DEV reduce(const u32* in, u32* out) {
  __shared__ u32 part[256];
  u32 t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (u32 half = 128; half; half /= 2) {
    if (t < half) part[t] += part[t + half];  //~ reduce
    if (!WRONG) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
PAIR(reduce, (const u32* in, u32* out), (in, out))

// Reductions without __syncwarp(): a warp does not run in lockstep.
//# warp_tail race 1x32 numbers:256 zeros:4 ; __syncwarp()
DEV warp_tail(const u32* in, u32* out) {
  __shared__ u32 part[64];
  u32 t = threadIdx.x;
  part[t] = in[t]; part[t + 32] = in[t + 32];  //~ warp_tail
  for (u32 half = 32; half; half /= 2) {
    if (!WRONG) __syncwarp();
    u32 other = part[t + half];  //~ warp_tail
    if (!WRONG) __syncwarp();
    part[t] += other;
  }
  if (!WRONG) __syncwarp();
  if (t == 0) out[0] = part[0];
}
PAIR(warp_tail, (const u32* in, u32* out), (in, out))

// A buffer is filled anew while others still read it.
//# early_reuse race 1x128 numbers:2048 zeros:512 ; bar.sync 0
DEV early_reuse(const u32* in, u32* out) {
  __shared__ u32 tile[128];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 4; round++) {
    tile[t] = in[round * 128 + t];  //~ early_reuse
    __syncthreads();
    sum += tile[(t + 37) % 128];  //~ early_reuse
    if (!WRONG) __syncthreads();
  }
  out[t] = sum;
}
PAIR(early_reuse, (const u32* in, u32* out), (in, out))

//# unwritten uninitialised 1x64 zeros:256 ; write them before
DEV unwritten(u32* out) {
  __shared__ u32 part[64];
  if (!WRONG || threadIdx.x < 32) part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = part[63 - threadIdx.x];  //~ unwritten
}
PAIR(unwritten, (u32* out), (out))

// One thread publishes a value that all read, and writes the next one while some still read.
//# broadcast race 1x64 numbers:256 zeros:256 ; bar.sync 0
DEV broadcast(const u32* in, u32* out) {
  __shared__ u32 scale;
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 4; round++) {
    if (t == 0) scale = in[round];  //~ broadcast
    __syncthreads();
    sum += scale * in[t];  //~ broadcast
    if (!WRONG) __syncthreads();
  }
  out[t] = sum;
}
PAIR(broadcast, (const u32* in, u32* out), (in, out))

// The maxima of the warps are read from the buffer that gets their sums.
//# two_phases race 1x128 numbers:512 zeros:512 ; bar.sync 0
DEV two_phases(const u32* in, u32* out) {
  __shared__ u32 part[4];
  u32 t = threadIdx.x, warp = t / 32, value = in[t];
  u32 most = __reduce_max_sync(-1u, value);
  if (t % 32 == 0) part[warp] = most;
  __syncthreads();
  for (u32 i = 0; i < 4; i++) most = max(most, part[i]);  //~ two_phases
  if (!WRONG) __syncthreads();
  u32 sum = __reduce_add_sync(-1u, most - value);
  if (t % 32 == 0) part[warp] = sum;  //~ two_phases
  __syncthreads();
  out[t] = part[0] + part[1] + part[2] + part[3];
}
PAIR(two_phases, (const u32* in, u32* out), (in, out))

//# transpose race 1x256 numbers:1024 zeros:1024 ; bar.sync 0
DEV transpose(const u32* in, u32* out) {
  __shared__ u32 tile[16][17];
  u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = in[threadIdx.x];  //~ transpose
  if (!WRONG) __syncthreads();
  out[threadIdx.x] = tile[x][y];  //~ transpose
}
PAIR(transpose, (const u32* in, u32* out), (in, out))

// tilelang dropped the barrier of a part of the threads that is no whole number of warps.
//# part_of_block race 1x64 numbers:256 zeros:256 ; bar.sync 0
DEV part_of_block(const u32* in, u32* out) {
  __shared__ u32 tile[48];
  u32 t = threadIdx.x;
  if (t < 48) tile[t] = in[t];  //~ part_of_block
  if (!WRONG) __syncthreads();
  if (t < 48) out[t] = tile[47 - t];  //~ part_of_block
}
PAIR(part_of_block, (const u32* in, u32* out), (in, out))

// llama.cpp: warps that skip a tile write the next mask while others still decide by the old one.
//# skipped_tile race 1x64 numbers:1024 zeros:256 ; bar.sync 0
DEV skipped_tile(const u32* in, u32* out) {
  __shared__ u32 mask[64];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 4; round++) {
    mask[t] = in[round * 64 + t] % 2;  //~ skipped_tile
    __syncthreads();
    u32 any = 0;
    for (u32 i = 0; i < 64; i++) any |= mask[i];  //~ skipped_tile
    if (any) sum += any + t;
    if (!WRONG) __syncthreads();
  }
  out[t] = sum;
}
PAIR(skipped_tile, (const u32* in, u32* out), (in, out))

// llama.cpp's ssm_scan: the barrier at the end of a step is missing.
//# scan_step race 1x64 numbers:1024 zeros:1024 ; bar.sync 0
DEV scan_step(const u32* in, u32* out) {
  __shared__ u32 b[2], c[2];
  u32 t = threadIdx.x, state = 0;
  for (u32 step = 0; step < 4; step++) {
    if (t < 2) { b[t] = in[step * 4 + t]; c[t] = in[step * 4 + 2 + t]; }  //~ scan_step
    __syncthreads();
    state = state * b[0] + b[1];  //~ scan_step
    out[step * 64 + t] = state * c[0] + c[1];
    if (!WRONG) __syncthreads();
  }
}
PAIR(scan_step, (const u32* in, u32* out), (in, out))

// Reductions one after the other: the next one begins before all have read the result of the last.
//# next_reduction race 1x128 numbers:1024 zeros:512 ; bar.sync 0
DEV next_reduction(const u32* in, u32* out) {
  __shared__ u32 part[128];
  u32 t = threadIdx.x, result = 0;
  for (u32 round = 0; round < 2; round++) {
    part[t] = in[round * 128 + t];  //~ next_reduction
    __syncthreads();
    for (u32 half = 64; half; half /= 2) {
      if (t < half) part[t] += part[t + half];
      __syncthreads();
    }
    result += part[0];  //~ next_reduction
    if (!WRONG) __syncthreads();
  }
  out[t] = result;
}
PAIR(next_reduction, (const u32* in, u32* out), (in, out))

// Two groups of warps have a barrier each, and what they hand to each other needs one of all.
//# named_barrier race 1x128 numbers:512 zeros:512 ; bar.sync
DEV named_barrier(const u32* in, u32* out) {
  __shared__ u32 tile[128];
  u32 t = threadIdx.x, group = t / 64;
  tile[t] = in[t];  //~ named_barrier
  asm volatile("bar.sync %0, 64;" ::"r"(1 + group) : "memory");
  if (!WRONG) __syncthreads();
  out[t] = tile[127 - t];  //~ named_barrier
}
PAIR(named_barrier, (const u32* in, u32* out), (in, out))

// A barrier that counts three warps does not wait for the fourth.
//# barrier_count race 1x128 numbers:512 zeros:512 ; bar.sync
DEV barrier_count(const u32* in, u32* out) {
  __shared__ u32 tile[128];
  u32 t = threadIdx.x;
  tile[t] = in[t];  //~ barrier_count
  if (WRONG) { if (t < 96) ASM("bar.sync 1, 96;"); } else ASM("bar.sync 1, 128;");
  out[t] = tile[127 - t];  //~ barrier_count
}
PAIR(barrier_count, (const u32* in, u32* out), (in, out))

// Bins are counted before all are zero.
//# zeroed_late race 1x128 numbers:512 zeros:64 ; bar.sync 0
DEV zeroed_late(const u32* in, u32* out) {
  __shared__ u32 bins[16];
  u32 t = threadIdx.x;
  if (t < 16) bins[t] = 0;  //~ zeroed_late
  if (!WRONG) __syncthreads();
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(AT(&bins[in[t] % 16])) : "memory");  //~ zeroed_late
  __syncthreads();
  if (t < 16) out[t] = bins[t];
}
PAIR(zeroed_late, (const u32* in, u32* out), (in, out))

// A counter of the block is read while others still add.
//# counter race 1x128 numbers:512 zeros:512 ; bar.sync 0
DEV counter(const u32* in, u32* out) {
  __shared__ u32 count;
  u32 t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  if (in[t] % 2) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(AT(&count)) : "memory");  //~ counter
  if (!WRONG) __syncthreads();
  out[t] = count;  //~ counter
}
PAIR(counter, (const u32* in, u32* out), (in, out))

// A word holds two halves, and each of two threads writes the whole word.
//# half_words race 1x64 numbers:256 zeros:128 ; two threads write
DEV half_words(const u32* in, u32* out) {
  __shared__ u32 packed[32];
  u32 t = threadIdx.x;
  unsigned short* half = (unsigned short*)packed + t;
  if (WRONG) packed[t / 2] = in[t];  //~ half_words
  else *half = (unsigned short)in[t];
  __syncthreads();
  if (t < 32) out[t] = packed[t];
}
PAIR(half_words, (const u32* in, u32* out), (in, out))

// A flag in shared memory is set by the threads that find something, and read by all.
//# found_flag race 1x64 numbers:256 zeros:256 ; bar.sync 0
DEV found_flag(const u32* in, u32* out) {
  __shared__ u32 found;
  u32 t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (t == 7 && in[t] > 0) found = 1;  //~ found_flag
  if (!WRONG) __syncthreads();
  out[t] = found;  //~ found_flag
}
PAIR(found_flag, (const u32* in, u32* out), (in, out))

// One buffer is the end of one stage and the beginning of the next, at another offset.
//# overlay race 1x64 numbers:512 zeros:256 shared:512 ; bar.sync 0
DEV overlay(const u32* in, u32* out) {
  extern __shared__ u32 pool[];
  u32 t = threadIdx.x, *keys = pool, *values = pool + 16;
  keys[t] = in[t];
  __syncthreads();
  u32 key = keys[63 - t];  //~ overlay
  if (!WRONG) __syncthreads();
  values[t] = in[64 + t];  //~ overlay
  __syncthreads();
  out[t] = key + values[63 - t];
}
PAIR(overlay, (const u32* in, u32* out), (in, out))

// Variables with a size, and dynamic shared memory after them.
//# after_static race 1x64 numbers:256 zeros:256 shared:256 ; bar.sync 0
DEV after_static(const u32* in, u32* out) {
  __shared__ u32 first[64];
  extern __shared__ u32 pool[];
  u32 t = threadIdx.x;
  first[t] = in[t];
  pool[t] = in[t] + 1;  //~ after_static
  if (!WRONG) __syncthreads();
  out[t] = first[t] + pool[63 - t];  //~ after_static
}
PAIR(after_static, (const u32* in, u32* out), (in, out))
