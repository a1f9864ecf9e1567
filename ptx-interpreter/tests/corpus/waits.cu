// Wrong kernels, each with a correct twin: waits without an end, and launches that cannot be.
#include "common.cuh"

//# some_arrive deadlock 1x64 zeros:256 ; 32 of 64
DEV some_arrive(u32* out) {
  if (!WRONG || threadIdx.x < 32) ASM("bar.sync 1, 64;");  //~ some_arrive
  out[threadIdx.x] = 1;
}
PAIR(some_arrive, (u32* out), (out))

//# divergent deadlock 1x64 zeros:256 ; divergent code
DEV divergent(u32* out) {
  if (WRONG && threadIdx.x % 2) { ASM("bar.sync 0;"); out[threadIdx.x] = 1; }  //~ divergent
  else { ASM("bar.sync 0;"); out[threadIdx.x] = 2; }  //~ divergent
}
PAIR(divergent, (u32* out), (out))

//# mask deadlock 1x32 zeros:128 ; mask
DEV mask(u32* out) {
  u32 t = threadIdx.x, value = t;
  if (!WRONG || t < 16) value = __shfl_xor_sync(WRONG ? 0xff : -1u, value, 1);  //~ mask
  out[t] = value;
}
PAIR(mask, (u32* out), (out))

// The mask names lanes that take another way.
//# missing_lanes deadlock 1x32 zeros:128 ; lanes
DEV missing_lanes(u32* out) {
  u32 t = threadIdx.x, value = t;
  if (t < 16) value = __shfl_xor_sync(WRONG ? -1u : 0xffff, value, 1);  //~ missing_lanes
  else if (WRONG) { u32 other; do { LOAD("relaxed.gpu.global", other, out); } while (!other); }
  out[t] = value + 1;
}
PAIR(missing_lanes, (u32* out), (out))

//# flag_never deadlock 2x1 zeros:4 zeros:4 ; goes around in a loop
DEV flag_never(u32* flag, u32* out) {
  if (blockIdx.x == 0) { if (!WRONG) atomicExch(flag, 1); }
  else { for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag); out[0] = 1; }  //~ flag_never
}
PAIR(flag_never, (u32* flag, u32* out), (flag, out))

// Two locks in two orders.
//# two_locks deadlock 2x1 zeros:8 zeros:4 ; goes around in a loop
DEV two_locks(u32* locks, u32* sum) {
  u32 one = WRONG ? blockIdx.x : 0, other = 1 - one;
  while (atomicCAS(locks + one, 0, 1)) {}
  for (volatile u32 i = 0; i < 40; i = i + 1) {}
  while (atomicCAS(locks + other, 0, 1)) {}  //~ two_locks
  __threadfence();
  sum[0] += 1;
  __threadfence();
  atomicExch(locks + other, 0);
  atomicExch(locks + one, 0);
}
PAIR(two_locks, (u32* locks, u32* sum), (locks, sum))

// Producers that arrive at another barrier than the consumers wait for.
//# other_barrier deadlock 1x64 zeros:256 ; barrier 2
DEV other_barrier(u32* out) {
  if (threadIdx.x < 32) { if (WRONG) ASM("bar.arrive 1, 64;"); else ASM("bar.arrive 2, 64;"); }
  else ASM("bar.sync 2, 64;");  //~ other_barrier
  out[threadIdx.x] = 1;
}
PAIR(other_barrier, (u32* out), (out))

// DeepGEMM: the blocks of a cluster have loops of different length, with a barrier of the cluster in them.
//# cluster_rounds deadlock 2x32 numbers:8 zeros:256 ; cluster
DEV cluster_rounds(const u32* in, u32* out) {
  u32 rounds = WRONG ? 2 + blockIdx.x % 2 : 2, stop = in[0];
  for (u32 round = 0; round < rounds; round++) CLUSTER_SYNC;
  if (WRONG && blockIdx.x % 2 == 0 && stop != 1) { u32 other; do { LOAD("relaxed.gpu.global", other, out); } while (!other); }
  out[blockIdx.x * 32 + threadIdx.x] = rounds;
}
CLUSTER_PAIR(cluster_rounds, (const u32* in, u32* out), (in, out))

//# bounds launch 1x128 zeros:512 ; 64 threads
extern "C" __global__ void __launch_bounds__(64) wrong_bounds(u32* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(128) right_bounds(u32* out) { out[threadIdx.x] = 1; }

//# assertion launch 1x32 zeros:256 u32:16 ; trap
DEV assertion(u32* out, u32 n) {
  if (WRONG && threadIdx.x >= n) __trap();  //~ assertion
  out[threadIdx.x] = 1;
}
PAIR(assertion, (u32* out, u32 n), (out, n))

//# too_much_shared launch 1x32 zeros:256 shared:230000 ; 232448
extern "C" __global__ void wrong_too_much_shared(u32* out) {
  __shared__ u32 tile[8192];
  tile[threadIdx.x] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void right_too_much_shared(u32* out) {
  __shared__ u32 tile[32];
  tile[threadIdx.x] = 1;
  out[threadIdx.x] = tile[threadIdx.x];
}

// Nobody arrives before the stage is filled, and so it is empty when it is waited for the first time.
//# empty_at_first deadlock 1x64 zeros:256 ; who need not wait in the first turn (who fills empty stages) begins with 1
DEV empty_at_first(u32* out) {
  __shared__ u64 full, empty;
  __shared__ u32 stage;
  if (threadIdx.x == 0) { INIT(&full, 1); INIT(&empty, 32); }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (u32 turn = 0; turn < 2; turn++) {
      WAIT(&full, turn);
      out[turn * 32 + threadIdx.x] = stage;
      ARRIVE(&empty);
    }
  } else if (threadIdx.x == 32) {
    for (u32 turn = 0; turn < 2; turn++) {
      WAIT(&empty, WRONG ? turn : turn ^ 1);  //~ empty_at_first
      stage = turn;
      ARRIVE(&full);
    }
  }
}
PAIR(empty_at_first, (u32* out), (out))

//# parity_ahead deadlock 1x64 zeros:256 ; nobody has arrived in this one, and a wait for the one before has parity 0
DEV parity_ahead(u32* out) {
  __shared__ u64 bar;
  if (threadIdx.x == 0) INIT(&bar, 64);
  __syncthreads();
  ARRIVE(&bar);
  if (WRONG) __syncthreads();
  WAIT(&bar, WRONG ? 1 : 0);  //~ parity_ahead
  out[threadIdx.x] = 1;
}
PAIR(parity_ahead, (u32* out), (out))

//# init_unordered race 1x64 numbers:256 zeros:256 ; after the initialisation, before others use the barrier
DEV init_unordered(const u32* in, u32* out) {
  __shared__ u64 bar;
  __shared__ u32 part[64];
  u32 t = threadIdx.x;
  if (t == 0) INIT(&bar, 64);  //~ init_unordered
  if (!WRONG) __syncthreads();
  part[t] = in[t];
  ARRIVE(&bar);
  WAIT(&bar, 0);
  out[t] = part[t ^ 32];
}
PAIR(init_unordered, (const u32* in, u32* out), (in, out))
