// Wrong kernels, each with a correct twin: `cp.async`.
#include "common.cuh"

//# copy_wait async 1x64 numbers:512 zeros:256 ; cp.async.wait_group
DEV copy_wait(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x;
  COPY4(&tile[t], in + t);  //~ copy_wait
  COMMIT;
  if (!WRONG) WAIT_GROUP(0);
  out[t] = tile[t];  //~ copy_wait
}
PAIR(copy_wait, (const u32* in, u32* out), (in, out))

// One group too many may be left.
//# copy_group async 1x64 numbers:512 zeros:256 ; cp.async.wait_group N
DEV copy_group(const u32* in, u32* out) {
  __shared__ u32 tile[2][64];
  u32 t = threadIdx.x;
  for (u32 half = 0; half < 2; half++) {
    COPY4(&tile[half][t], in + half * 64 + t);  //~ copy_group
    COMMIT;
  }
  if (WRONG) WAIT_GROUP(1); else WAIT_GROUP(0);
  __syncthreads();
  out[t] = tile[0][63 - t] + tile[1][63 - t];  //~ copy_group
}
PAIR(copy_group, (const u32* in, u32* out), (in, out))

//# copy_barrier async 1x64 numbers:512 zeros:256 ; bar.sync
DEV copy_barrier(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x;
  COPY4(&tile[t], in + t);  //~ copy_barrier
  COMMIT;
  WAIT_GROUP(0);
  if (!WRONG) __syncthreads();
  out[t] = tile[63 - t];  //~ copy_barrier
}
PAIR(copy_barrier, (const u32* in, u32* out), (in, out))

//# copy_commit async 1x64 numbers:512 zeros:256 ; never committed
DEV copy_commit(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x;
  COPY4(&tile[t], in + t);  //~ copy_commit
  if (!WRONG) COMMIT;
  WAIT_GROUP(0);
  __syncthreads();
  out[t] = tile[63 - t];  //~ copy_commit
}
PAIR(copy_commit, (const u32* in, u32* out), (in, out))

// A copy into a tile that others still read.
//# copy_reuse async 1x64 numbers:1024 zeros:256 ; bar.sync
DEV copy_reuse(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 4; round++) {
    COPY4(&tile[t], in + round * 64 + t);  //~ copy_reuse
    COMMIT;
    WAIT_GROUP(0);
    __syncthreads();
    sum += tile[63 - t];  //~ copy_reuse
    if (!WRONG) __syncthreads();
  }
  out[t] = sum;
}
PAIR(copy_reuse, (const u32* in, u32* out), (in, out))

// A pipeline of three stages that waits for one group too few.
//# pipeline_wait async 1x64 numbers:2048 zeros:256 ; too many groups
DEV pipeline_wait(const u32* in, u32* out) {
  __shared__ u32 tile[3][64];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 2; round++) {
    COPY4(&tile[round][t], in + round * 64 + t);
    COMMIT;
  }
  for (u32 round = 0; round < 8; round++) {
    if (WRONG) WAIT_GROUP(2); else WAIT_GROUP(1);
    __syncthreads();
    sum += tile[round % 3][63 - t];
    if (round + 2 < 8) COPY4(&tile[(round + 2) % 3][t], in + (round + 2) * 64 + t);
    COMMIT;
  }
  WAIT_GROUP(0);
  out[t] = sum;
}
PAIR(pipeline_wait, (const u32* in, u32* out), (in, out))

// The same pipeline forgets the empty groups at its end, so that the last stages are not waited for.
//# pipeline_tail async 1x64 numbers:2048 zeros:256 ; too many groups
DEV pipeline_tail(const u32* in, u32* out) {
  __shared__ u32 tile[3][64];
  u32 t = threadIdx.x, sum = 0;
  for (u32 round = 0; round < 2; round++) {
    COPY4(&tile[round][t], in + round * 64 + t);
    COMMIT;
  }
  for (u32 round = 0; round < 8; round++) {
    WAIT_GROUP(1);
    __syncthreads();
    sum += tile[round % 3][63 - t];
    if (round + 2 < 8) {
      COPY4(&tile[(round + 2) % 3][t], in + (round + 2) * 64 + t);
      COMMIT;
    } else if (!WRONG) COMMIT;
  }
  WAIT_GROUP(0);
  out[t] = sum;
}
PAIR(pipeline_tail, (const u32* in, u32* out), (in, out))

// A pipeline of two stages: the copy goes into the stage that is read next.
//# pipeline_stage async 1x64 numbers:2048 zeros:256 ; copy
DEV pipeline_stage(const u32* in, u32* out) {
  __shared__ u32 tile[2][64];
  u32 t = threadIdx.x, sum = 0;
  COPY4(&tile[0][t], in + t);
  COMMIT;
  for (u32 round = 0; round < 8; round++) {
    if (round + 1 < 8) COPY4(&tile[WRONG ? round % 2 : (round + 1) % 2][t], in + (round + 1) * 64 + t);
    COMMIT;
    WAIT_GROUP(1);
    __syncthreads();
    sum += tile[round % 2][63 - t];
    __syncthreads();
  }
  WAIT_GROUP(0);
  out[t] = sum;
}
PAIR(pipeline_stage, (const u32* in, u32* out), (in, out))

// Marlin: the scales are fetched last, and read after a barrier that waits for no copy.
//# scales async 1x64 numbers:1024 zeros:256 ; cp.async.wait_group
DEV scales(const u32* in, u32* out) {
  __shared__ alignas(16) u32 scale[64];
  __shared__ u32 part[64];
  u32 t = threadIdx.x;
  if (t < 16) COPY16(&scale[4 * t], in + 64 + 4 * t);  //~ scales
  COMMIT;
  part[t] = in[t];
  if (!WRONG) WAIT_GROUP(0);
  __syncthreads();
  out[t] = part[63 - t] * scale[t];  //~ scales
}
PAIR(scales, (const u32* in, u32* out), (in, out))

// The source is overwritten before the copy has read it.
//# copy_source async 1x64 numbers:256 zeros:256 ; the source of an asynchronous copy is written
DEV copy_source(u32* data, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x;
  COPY4(&tile[t], data + t);  //~ copy_source
  COMMIT;
  if (!WRONG) WAIT_GROUP(0);
  data[t] = 0;  //~ copy_source
  WAIT_GROUP(0);
  out[t] = tile[t];
}
PAIR(copy_source, (u32* data, u32* out), (data, out))

// A copy of what another block writes, without an order.
//# copy_message async 2x1 numbers:16 zeros:4 zeros:4 ; another thread may still use
DEV copy_message(u32* data, u32* flag, u32* out) {
  __shared__ u32 here;
  if (blockIdx.x == 0) {
    data[0] = 7;  //~ copy_message
    STORE("release.gpu.global", flag, 1);
  } else {
    if (!WRONG) for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);
    COPY4(&here, data);  //~ copy_message
    COMMIT;
    WAIT_GROUP(0);
    out[0] = here;
  }
}
PAIR(copy_message, (u32* d, u32* f, u32* o), (d, f, o))

// Rows beyond the end are not copied, and are not filled with zeros either.
//# copy_tail uninitialised 1x64 numbers:256 zeros:256 ; write them before
DEV copy_tail(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x, bytes = t < 48 ? 4 : 0;
  if (WRONG) { if (bytes) COPY4(&tile[t], in + t); }
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(AT(&tile[t])), "l"(in + t), "r"(bytes) : "memory");
  COMMIT;
  WAIT_GROUP(0);
  __syncthreads();
  out[t] = tile[63 - t];  //~ copy_tail
}
PAIR(copy_tail, (const u32* in, u32* out), (in, out))

//# copy_aligned misaligned 1x16 numbers:512 zeros:64 ; align the address
DEV copy_aligned(const u32* in, u32* out) {
  __shared__ alignas(16) u32 tile[64];
  u32 t = threadIdx.x;
  COPY16(&tile[4 * t], in + 4 * t + (WRONG ? 2 : 4));  //~ copy_aligned
  COMMIT;
  WAIT_GROUP(0);
  out[t] = tile[4 * t];
}
PAIR(copy_aligned, (const u32* in, u32* out), (in, out))

//# copy_beyond bounds 1x64 numbers:240 zeros:256 ; beyond the end of argument 0
DEV copy_beyond(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x, bytes = WRONG || t < 60 ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(AT(&tile[t])), "l"(in + t), "r"(bytes) : "memory");  //~ copy_beyond
  COMMIT;
  WAIT_GROUP(0);
  out[t] = tile[t];
}
PAIR(copy_beyond, (const u32* in, u32* out), (in, out))

// The copies count at a barrier in memory, for which nobody waits.
//# copy_arrival async 1x64 numbers:256 zeros:256 ; asynchronous copy
DEV copy_arrival(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) INIT(&bar, 64);
  __syncthreads();
  COPY4(&tile[t], in + t);  //~ copy_arrival
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(AT(&bar)) : "memory");
  if (!WRONG) WAIT(&bar, 0);
  out[t] = tile[63 - t];  //~ copy_arrival
}
PAIR(copy_arrival, (const u32* in, u32* out), (in, out))

// An arrival that expects no more of it: the barrier counts each thread's copies and the thread itself.
//# copy_count deadlock 1x64 numbers:256 zeros:256 ; lacks
DEV copy_count(const u32* in, u32* out) {
  __shared__ u32 tile[64];
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) INIT(&bar, WRONG ? 128 : 64);
  __syncthreads();
  COPY4(&tile[t], in + t);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(AT(&bar)) : "memory");
  WAIT(&bar, 0);  //~ copy_count
  out[t] = tile[63 - t];
}
PAIR(copy_count, (const u32* in, u32* out), (in, out))
