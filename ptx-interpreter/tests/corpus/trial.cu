// Wrong kernels, each with a correct twin, after what a second trial on 157 of them unseen has taught.
#include "common.cuh"

// llama.cpp and raft: each thread has a fence, and the thread that counts does not know whether the others have come to theirs.
//# counted_alone race 4x64 zeros:1024 zeros:4 zeros:256 ; nothing orders them
DEV counted_alone(u32* part, u32* count, u32* out) {
  __shared__ u32 last;
  u32 t = threadIdx.x;
  part[blockIdx.x * 64 + t] = t;  //~ counted_alone
  __threadfence();
  if (!WRONG) __syncthreads();
  if (t == 0) last = atomicAdd(count, 1) == 3;
  __syncthreads();
  if (!last) return;
  __threadfence();
  u32 sum = 0;
  for (u32 i = t; i < 256; i += 64) sum += part[i ^ 33];  //~ counted_alone
  out[t] = sum;
}
PAIR(counted_alone, (u32* part, u32* count, u32* out), (part, count, out))

// A structure with a gap is copied as a whole. What is computed with needs a value.
//# gap uninitialised 1x32 zeros:128 ; nobody has written
DEV gap(u32* out) {
  struct alignas(16) Entry { unsigned char tag; double weight; };
  __shared__ Entry all[32], copy[32];
  u32 t = threadIdx.x;
  all[t].tag = t;
  if (!WRONG || t % 2) all[t].weight = t;
  __syncthreads();
  copy[t] = all[31 - t];
  __syncthreads();
  out[t] = copy[t].tag + u32(all[t ^ 1].weight * 3);  //~ gap
}
PAIR(gap, (u32* out), (out))

// A row of 30 numbers in 32 places is read by vectors, and two lanes of them are not used.
//# row_of_30 uninitialised 1x32 numbers:480 zeros:128 ; nobody has written
DEV row_of_30(const u32* in, u32* out) {
  __shared__ alignas(16) u32 rows[4][32];
  u32 t = threadIdx.x;
  for (u32 i = t; i < 120; i += 32) rows[i / 30][i % 30] = in[i];
  __syncthreads();
  uint4 four = reinterpret_cast<uint4*>(rows)[t];  //~ row_of_30
  out[t] = four.x + four.y + (WRONG ? four.w : 0);
}
PAIR(row_of_30, (const u32* in, u32* out), (in, out))

// The same: what is computed with the two is thrown away afterwards.
//# row_of_30_chosen uninitialised 1x32 numbers:480 zeros:128 ; nobody has written
DEV row_of_30_chosen(const u32* in, u32* out) {
  __shared__ alignas(16) u32 rows[4][32];
  u32 t = threadIdx.x;
  for (u32 i = t; i < 120; i += 32) rows[i / 30][i % 30] = in[i];
  __syncthreads();
  uint4 four = reinterpret_cast<uint4*>(rows)[t];  //~ row_of_30_chosen
  u32 tail = 3 * four.z + (four.w ^ 5);
  out[t] = four.x + four.y + (WRONG || t % 8 < 7 ? tail : 0);
}
PAIR(row_of_30_chosen, (const u32* in, u32* out), (in, out))

// A block stores into the memory of another one that may not have begun.
//# peer_begins bounds 2x32 zeros:256 ; before the first access
DEV peer_begins(u32* out) {
  __shared__ u32 room[32];
  u32 t = threadIdx.x, peer, rank = blockIdx.x ^ 1;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(AT(room + t)), "r"(rank));
  if (!WRONG) CLUSTER_SYNC;
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(peer), "r"(t) : "memory");  //~ peer_begins
  CLUSTER_SYNC;
  out[blockIdx.x * 32 + t] = room[31 - t];
}
CLUSTER_PAIR(peer_begins, (u32* out), (out))

// Each lane stores the row that it names, and four other lanes read it.
//# own_rows race 1x32 numbers:512 zeros:128 ; bar.warp.sync
DEV own_rows(const uint4* in, u32* out) {
  __shared__ uint4 rows[32];
  u32 t = threadIdx.x, a, b, c, d;
  rows[t] = in[t];  //~ own_rows
  if (!WRONG) __syncwarp();
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  //~ own_rows
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(AT(rows + t)) : "memory");
  out[t] = a + b + c + d;
}
PAIR(own_rows, (const uint4* in, u32* out), (in, out))

// The commonest mistake of all.
//# lost_updates race 1x32 zeros:4 ; atomicAdd
DEV lost_updates(u32* count) {
  if (WRONG) {
    *count += threadIdx.x;  //~ lost_updates
  } else {
    atomicAdd(count, threadIdx.x);
  }
}
PAIR(lost_updates, (u32* count), (count))

// Nobody sets the flag, and the loop that waits for it counts how often it has looked.
//# counts_its_looks deadlock 2x1 zeros:4 zeros:8 ; goes around in a loop
DEV counts_its_looks(u32* flag, u32* out) {
  u32 t = threadIdx.x, looks = 0, now = 0;
  if (blockIdx.x == 0) {
    if (t == 0 && !WRONG) STORE("release.gpu.global", flag, 1);
    return;
  }
  do {
    LOAD("acquire.gpu.global", now, flag);  //~ counts_its_looks
    looks += now + 1;
  } while (!now);
  out[t] = looks > 0;
}
PAIR(counts_its_looks, (u32* flag, u32* out), (flag, out))

// libcu++ ends the barriers of a pipeline when the last thread leaves it, by a relaxed count. It must not come before others have used them.
//# ended_by_another race 1x64 zeros:256 ; nothing orders them
DEV ended_by_another(u32* out) {
  __shared__ u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) {
    INIT(&bar, 32);
    SHOW_INIT;
  }
  __syncthreads();
  if (t < 32) {
    ARRIVE(&bar);
    WAIT(&bar, 0);  //~ ended_by_another
    __match_any_sync(~0u, 1);
  }
  if (t == (WRONG ? 32 : 0)) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(AT(&bar)) : "memory");  //~ ended_by_another
  out[t] = t;
}
PAIR(ended_by_another, (u32* out), (out))

// Calls that have not returned: 600 of each lane, or without an end.
//# deep bounds 1x32 zeros:128 ; cudaLimitStackSize
template <bool WRONG> __device__ __noinline__ u32 deeper(u32 depth, u32 end) {
  if (!WRONG && depth >= end) return depth;
  return (deeper<WRONG>(depth + 1, end) ^ depth) + 1;  //~ deep
}
DEV deep(u32* out) {
  out[threadIdx.x] = deeper<WRONG>(0, 600 + threadIdx.x);
}
PAIR(deep, (u32* out), (out))
