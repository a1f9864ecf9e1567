// Wrong kernels, each with a correct twin, that taught the checker something when it was tried on 139 of them unseen.
#include "common.cuh"
#define BAR(HOW, ID, COUNT) asm volatile("bar." HOW " %0, %1;" ::"n"(ID), "n"(COUNT) : "memory")

// FlashMLA#41: the threads that arrive last end at once. They come once, and not once more as threads that have ended.
//# arrive_last race 1x256 numbers:1024 zeros:1024 ; nothing orders them
DEV arrive_last(const u32* in, u32* out) {
  __shared__ u32 stage[128];
  u32 t = threadIdx.x % 128;
  if (threadIdx.x < 128) {
    for (u32 round = 0; round < 2; round++) {
      if (round) BAR("sync", 2, 256);
      if (WRONG && round) BAR("arrive", 1, 256);
      stage[t] = in[round * 128 + t] * 5;  //~ arrive_last
      if (!WRONG || !round) BAR("arrive", 1, 256);
    }
  } else {
    for (u32 round = 0; round < 2; round++) {
      BAR("sync", 1, 256);
      out[round * 128 + t] = stage[127 - t];  //~ arrive_last
      if (!round) BAR("arrive", 2, 256);
    }
  }
}
PAIR(arrive_last, (const u32* in, u32* out), (in, out))

// A tile is read from its end: the compiler begins before the first byte of shared memory, and adds to that.
//# from_the_end race 1x64 numbers:1024 zeros:1024 ; bar.sync 0
DEV from_the_end(const u32* in, u32* out) {
  __shared__ u32 tile[128];
  u32 t = threadIdx.x;
  for (u32 round = 0; round < 2; round++) {
    for (u32 i = t; i < 128; i += 64) tile[i] = in[round * 128 + i];  //~ from_the_end
    __syncthreads();
    for (u32 i = t; i < 128; i += 64) out[round * 128 + i] = tile[127 - i];  //~ from_the_end
    if (!WRONG) __syncthreads();
  }
}
PAIR(from_the_end, (const u32* in, u32* out), (in, out))

// The best values of a thread: a new one moves the last one behind the array, where nothing of the thread is.
//# last_place bounds 1x32 numbers:2048 zeros:1024 ; its local memory
DEV last_place(const u32* in, u32* out) {
  u32 best[8] = {0};
#pragma unroll 1
  for (u32 i = 0; i < 16; i++) {
    u32 value = in[i * 32 + threadIdx.x], at = 7;
    if (value <= best[7]) continue;
#pragma unroll 1
    while (at && best[at - 1] < value) at--;
#pragma unroll 1
    for (u32 k = WRONG ? 8 : 7; k > at; k--) best[k] = best[k - 1];  //~ last_place
    best[at] = value;
  }
  for (u32 i = 0; i < 8; i++) out[i * 32 + threadIdx.x] = best[i];
}
PAIR(last_place, (const u32* in, u32* out), (in, out))

// pytorch#128455: one thread counts, another reads. Each block has a fence of its own before it counts, and they have some order.
//# counted_parts order 8x64 numbers:2048 zeros:32 zeros:4 zeros:4 ; does not acquire
DEV counted_parts(const u32* in, u32* parts, u32* count, u32* out) {
  __shared__ u32 last;
  u32 t = threadIdx.x, sum = __reduce_add_sync(~0u, in[blockIdx.x * 64 + t]);
  if (t == 0) {
    parts[blockIdx.x] = sum;  //~ counted_parts
    __threadfence();
    last = atomicAdd(count, 1) == 7;  //~ counted_parts
  }
  __syncthreads();
  if (!last) return;
  if (!WRONG) __threadfence();
  if (t < 32) sum = __reduce_add_sync(~0u, t < 8 ? parts[t] : 0);  //~ counted_parts
  if (t == 0) *out = sum;
}
PAIR(counted_parts, (const u32* in, u32* parts, u32* count, u32* out), (in, parts, count, out))

// TransformerEngine#2758: blocks add to a sum that one of them gives out, although others have not added yet.
//# early_sum race 4x32 numbers:512 zeros:4 zeros:4 zeros:4 ; one of the two is a weak access
DEV early_sum(const u32* in, u32* sum, u32* count, u32* out) {
  u32 part = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x) return;
  atomicAdd(sum, part);  //~ early_sum
  if (WRONG) {
    if (blockIdx.x == 0) *out = *sum;  //~ early_sum
  } else {
    __threadfence();
    if (atomicAdd(count, 1) == 3) *out = atomicAdd(sum, 0);
  }
}
PAIR(early_sum, (const u32* in, u32* sum, u32* count, u32* out), (in, sum, count, out))

// Tiles are counted by blocks. One of them releases nothing, and the others' releases do not stand for it.
//# one_relaxed order 4x32 numbers:512 zeros:512 zeros:4 zeros:128 ; does not release
DEV one_relaxed(const u32* in, u32* tiles, u32* count, u32* out) {
  u32 t = threadIdx.x, block = blockIdx.x, ready = 0;
  if (block < 3) {
    tiles[block * 32 + t] = in[block * 32 + t] + 5;  //~ one_relaxed
    __syncwarp();
    if (t) return;
    if (WRONG && block == 1) ADD("relaxed.gpu.global", count, 1);  //~ one_relaxed
    else ADD("release.gpu.global", count, 1);
  } else {
    while (ready != 3) LOAD("acquire.gpu.global", ready, count);
    for (u32 i = 0; i < 3; i++) out[t] += tiles[i * 32 + t];  //~ one_relaxed
  }
}
PAIR(one_relaxed, (const u32* in, u32* tiles, u32* count, u32* out), (in, tiles, count, out))

// A record with a version before and after it (a seqlock): what is read in between may be thrown away, and is a race all the same.
//# versioned race 2x32 zeros:4 zeros:16 zeros:128 ; nothing orders them
DEV versioned(u32* version, u32* record, u32* out) {
  u32 t = threadIdx.x, before = 0, after = 1, sum = 0;
  if (blockIdx.x == 0 && t == 0) {
    for (u32 k = 1; k < 4; k++) {
      STORE("relaxed.gpu.global", version, 2 * k - 1);
      __threadfence();
      for (u32 i = 0; i < 4; i++) {
        if (WRONG) record[i] = k;  //~ versioned
        else STORE("relaxed.gpu.global", record + i, k);
      }
      __threadfence();
      STORE("relaxed.gpu.global", version, 2 * k);
    }
  } else if (blockIdx.x == 1) {
    while (before != after || before & 1) {
      LOAD("acquire.gpu.global", before, version);
      for (u32 i = 0; i < 4; i++) {
        u32 value;
        if (WRONG) value = record[i];  //~ versioned
        else LOAD("relaxed.gpu.global", value, record + i);
        sum = i ? sum + value : value;
      }
      __threadfence();
      LOAD("relaxed.gpu.global", after, version);
    }
    out[t] = sum & 3;
  }
}
PAIR(versioned, (u32* version, u32* record, u32* out), (version, record, out))

// cuCollections: a slot is swapped as 64 bits, and its key is read as 32. Two strong accesses of other bytes race.
//# half_slot race 4x32 numbers:512 zeros:512 zeros:512 ; nothing orders them
DEV half_slot(const u32* in, u64* slots, u32* out) {
  u32 i = blockIdx.x * 32 + threadIdx.x, key = in[i] % 24 + 1, there;
  for (u32 slot = key * 7 % 64;; slot = (slot + 1) % 64) {
    u64 both;
    if (WRONG) LOAD("relaxed.gpu.global", there, slots + slot);  //~ half_slot
    else asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(slots + slot) : "memory");
    if (!WRONG) there = (u32)both;
    if (there == 0) there = (u32)atomicCAS(slots + slot, 0ull, (u64)i << 32 | key);  //~ half_slot
    if (there == 0 || there == key) break;
  }
  out[i] = key;
}
PAIR(half_slot, (const u32* in, u64* slots, u32* out), (in, slots, out))

// A bitonic sort needs a barrier of the block before and after a stride that leaves the warp.
//# sort_border race 1x128 numbers:512 ; bar.sync 0
DEV sort_border(u32* keys) {
  __shared__ u32 s[128];
  u32 t = threadIdx.x;
  s[t] = keys[t];
  __syncthreads();
  for (u32 size = 2; size <= 128; size *= 2)
    for (u32 stride = size / 2; stride; stride /= 2) {
      u32 other = t ^ stride;
      if (other > t) {
        u32 a = s[t], b = s[other];  //~ sort_border
        if ((a > b) == !(t & size)) s[t] = b, s[other] = a;  //~ sort_border
      }
      if (WRONG ? stride > 32 : stride > 16 || size >= 32) __syncthreads();
      else __syncwarp();
    }
  keys[t] = s[t];
}
PAIR(sort_border, (u32* keys), (keys))

// gunrock: all look whether one thread has said that the work is done. Some look before, and some after it.
//# shared_done race 1x64 numbers:256 zeros:256 ; bar.sync 0
DEV shared_done(const u32* in, u32* out) {
  __shared__ volatile u32 done;
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  if (t == 0) done = 0;
  s[t] = in[t];
  __syncthreads();
  for (u32 turn = 1; !done; turn++) {
    u32 other = s[(t + 1) % 64];  //~ shared_done
    __syncthreads();
    s[t] += other;  //~ shared_done
    if (t == 0 && turn == 5) done = 1;
    if (!WRONG) __syncthreads();
  }
  out[t] = s[t];
}
PAIR(shared_done, (const u32* in, u32* out), (in, out))

// Lanes leave a loop in different turns, and come to a vote while the others are at the next barrier of the warp.
//# uneven_turns deadlock 1x32 numbers:128 zeros:128 ; waits for other threads of its warp
DEV uneven_turns(const u32* in, u32* out) {
  __shared__ u32 s[32];
  u32 t = threadIdx.x, turns = WRONG && t < 16 ? 2 : 3, value = in[t];
  for (u32 k = 0; k < turns; k++) {
    s[t] = value;
    __syncwarp();  //~ uneven_turns
    value += s[t ^ 1];
    __syncwarp();
  }
  out[t] = value;
  out[t] += __ballot_sync(0xffffffff, value > 9);  //~ uneven_turns
}
PAIR(uneven_turns, (const u32* in, u32* out), (in, out))

// A thread that has nothing to do any more leaves its barrier, so that the others need not wait for it.
//# no_drop deadlock 1x64 numbers:1024 zeros:1024 ; | mbarrier.try_wait.parity
DEV no_drop(const u32* in, u32* out) {
  __shared__ u32 s[64];
  __shared__ u64 bar;
  u32 t = threadIdx.x, turns = t < 40 ? 4 : 2, parity = 0;
  if (t == 0) INIT(&bar, 64);
  __syncthreads();
  for (u32 k = 0; k < turns; k++) {
    s[t] = in[k * 64 + t];
    ARRIVE(&bar);
    WAIT(&bar, parity);  //~ no_drop
    out[k * 64 + t] = s[t < 40 ? 39 - t : t];
    ARRIVE(&bar);
    WAIT(&bar, parity ^ 1);
  }
  if (!WRONG && t >= 40) asm volatile("{ .reg .b64 s; mbarrier.arrive_drop.shared.b64 s, [%0]; }" ::"r"(AT(&bar)) : "memory");
}
PAIR(no_drop, (const u32* in, u32* out), (in, out))

// Sums are reduced into another block's shared memory by `red.async`. A barrier of the cluster does not wait for that.
//# reduced_early async 2x32 numbers:256 zeros:256 ; mbarrier
DEV reduced_early(const u32* in, u32* out) {
  __shared__ u32 sums[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x, there, there_bar;
  sums[t] = 0;
  if (t == 0) { INIT(&bar, 1); SHOW_INIT; EXPECT(&bar, 256); }
  CLUSTER_SYNC;
  for (u32 rank = 0; rank < 2; rank++) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(sums + t)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there_bar) : "r"(AT(&bar)), "r"(rank));
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::  //~ reduced_early
                 "r"(there), "r"(in[blockIdx.x * 32 + t]), "r"(there_bar) : "memory");
  }
  if (WRONG) CLUSTER_SYNC;
  else WAIT(&bar, 0);
  out[blockIdx.x * 32 + t] = sums[t];  //~ reduced_early
  if (WRONG) WAIT(&bar, 0);
  CLUSTER_SYNC;
}
CLUSTER_PAIR(reduced_early, (const u32* in, u32* out), (in, out))

// flashinfer#4742: a part is stored by a bulk copy, waited for, and counted without a fence.
//# counted_store async 4x32 numbers:512 zeros:512 zeros:4 zeros:128 ; nothing orders that before this access
DEV counted_store(const u32* in, u32* parts, u32* count, u32* out) {
  __shared__ alignas(128) u32 tile[32];
  u32 t = threadIdx.x, before = 0;
  tile[t] = in[blockIdx.x * 32 + t] + 1;
  FENCE_SHARED;
  __syncwarp();
  if (t == 0) {
    BULK_STORE(parts + blockIdx.x * 32, tile, 128);  //~ counted_store
    BULK_COMMIT;
    BULK_WAIT(0);
    if (!WRONG) { FENCE_GLOBAL; __threadfence(); }
    before = atomicAdd(count, 1);
    __threadfence();
  }
  if (__shfl_sync(~0u, before, 0) != 3) return;
  __syncwarp();
  for (u32 i = 0; i < 4; i++) out[t] += parts[i * 32 + t];  //~ counted_store
}
PAIR(counted_store, (const u32* in, u32* parts, u32* count, u32* out), (in, parts, count, out))

// OpenCV: a root is looked for with plain loads while others lower it.
//# plain_roots race 2x32 numbers:256 numbers:256 ; one of the two is a weak access
DEV plain_roots(const u32* edges, u32* labels) {
  u32 a = blockIdx.x * 32 + threadIdx.x, b = edges[a] % 8, up;
  for (u32 turn = 0; turn < 4; turn++) {
    if (WRONG) up = labels[a];  //~ plain_roots
    else LOAD("relaxed.gpu.global", up, labels + a);
    if (up < b) b = up;
    atomicMin(labels + a % 8, b);  //~ plain_roots
  }
}
PAIR(plain_roots, (const u32* edges, u32* labels), (edges, labels))

// colibri#1099: a warp stores its sums (`wmma`) and reads those of other lanes.
//# stored_sums race 1x32 numbers:1024 zeros:1024 ; __syncwarp
DEV stored_sums(const float* in, float* out) {
  __shared__ alignas(32) float tile[256];
  float c[8];
  asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;"
               : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3]), "=f"(c[4]), "=f"(c[5]), "=f"(c[6]), "=f"(c[7])
               : "l"(in));
  for (u32 i = 0; i < 8; i++) c[i] *= 0.5f;
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;" ::  //~ stored_sums
               "r"(AT(tile)), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7])
               : "memory");
  if (!WRONG) __syncwarp();
  for (u32 i = threadIdx.x; i < 256; i += 32) out[i] = tile[i] + 1;  //~ stored_sums
}
PAIR(stored_sums, (const float* in, float* out), (in, out))

// A time is no order: who waits for some microseconds does not know what others have done.
//# waited_time race 2x32 zeros:128 zeros:128 zeros:4 ; nothing orders them
DEV waited_time(u32* data, u32* out, u32* flag) {
  u32 t = threadIdx.x, seen = 0;
  if (blockIdx.x == 0) {
    data[t] = t + 1;  //~ waited_time
    __syncwarp();
    if (t == 0) { __threadfence(); atomicExch(flag, 1); }
  } else {
    u64 begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) :: "memory");
      if (!WRONG) LOAD("acquire.gpu.global", seen, flag);
    } while (WRONG ? now - begin < 2000 : !seen);
    out[t] = data[t];  //~ waited_time
  }
}
PAIR(waited_time, (u32* data, u32* out, u32* flag), (data, out, flag))
