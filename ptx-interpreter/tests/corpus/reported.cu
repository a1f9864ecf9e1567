// Wrong kernels, each with a correct twin, after bugs that were reported to other projects. They were written before the checker saw them.
#include "common.cuh"
#define TILE __shared__ alignas(128) u32 tile[128]
#define SYNC_SOME(ID, COUNT) asm volatile("barrier.cta.sync %0, %1;" ::"n"(ID), "n"(COUNT) : "memory")

// flashinfer#3529: a round of a selection clears the bins while others still read the last round's threshold.
//# refine_round race 1x64 numbers:256 zeros:256 ; bar.sync 0
DEV refine_round(const u32* in, u32* out) {
  __shared__ u32 bins[64];
  u32 t = threadIdx.x, rest = 0;
  for (u32 round = 0; round < 2; round++) {
    bins[t] = 0;  //~ refine_round
    __syncthreads();
    atomicAdd(bins + (in[t] >> round) % 64, 1);
    __syncthreads();
    rest += bins[63 - t];  //~ refine_round
    if (!WRONG) __syncthreads();
  }
  out[t] = rest;
}
PAIR(refine_round, (const u32* in, u32* out), (in, out))

// sglang#37663: a search in sums that other threads have just stored.
//# align_prefix race 1x64 numbers:128 zeros:256 ; bar.sync 0
DEV align_prefix(const u32* in, u32* out) {
  __shared__ u32 sums[32];
  u32 t = threadIdx.x;
  if (t < 32) sums[t] = t * 8;  //~ align_prefix
  if (!WRONG) __syncthreads();
  u32 low = 0, high = 31;
  while (low < high) {
    u32 middle = (low + high + 1) / 2;
    if (sums[middle] <= t * 4) low = middle;  //~ align_prefix
    else high = middle - 1;
  }
  out[t] = low + in[t % 32];
}
PAIR(align_prefix, (const u32* in, u32* out), (in, out))

// llama.cpp#28358: lanes without work store their zeros on the scales, which are right behind.
//# padding_lanes race 1x32 numbers:64 zeros:128 shared:128 ; two threads write
DEV padding_lanes(const u32* in, u32* out) {
  extern __shared__ u32 quants[];
  u32* scales = quants + 16;
  u32 t = threadIdx.x;
  if (!WRONG || t < 32) {
    u32 value = t < 16 ? in[t] : 0;
    if (WRONG || t < 16) quants[t] = value;  //~ padding_lanes
    if (t % 8 == 0 && t < 16) scales[t / 8] = value + 1;  //~ padding_lanes
  }
  __syncwarp();
  out[t] = quants[t % 16] + scales[t / 16];
}
PAIR(padding_lanes, (const u32* in, u32* out), (in, out))

// Fuser#2391: the barrier orders the block, and nobody makes its stores known to the block whose turn it is.
//# serial_fence order 2x64 numbers:512 zeros:256 zeros:4 ; fence
DEV serial_fence(const u32* in, u32* out, u32* turn) {
  u32 t = threadIdx.x, now;
  if (t == 0) {
    do LOAD("acquire.gpu.global", now, turn); while (now != blockIdx.x);
  }
  __syncthreads();
  out[t] = out[t] + in[blockIdx.x * 64 + t];  //~ serial_fence
  __syncthreads();
  if (t == 0) {
    if (!WRONG) __threadfence();
    STORE("relaxed.gpu.global", turn, blockIdx.x + 1);  //~ serial_fence
  }
}
PAIR(serial_fence, (const u32* in, u32* out, u32* turn), (in, out, turn))

// pytorch#128455: the last block sees that it is the last one, and reads without a fence after that.
//# reduce_acquire order 4x32 numbers:512 zeros:512 zeros:128 zeros:4 ; acquire
DEV reduce_acquire(const u32* in, u32* parts, u32* out, u32* count) {
  __shared__ u32 last;
  u32 t = threadIdx.x, block = blockIdx.x;
  parts[block * 32 + t] = in[block * 32 + t] * 3;  //~ reduce_acquire
  __threadfence();
  __syncthreads();
  if (t == 0) {
    last = atomicAdd(count, 1) == 3;
    if (!WRONG) __threadfence();
  }
  __syncthreads();
  if (last) {
    u32 sum = 0;
    for (u32 i = 0; i < 4; i++) sum += parts[i * 32 + t];  //~ reduce_acquire
    out[t] = sum;
  }
}
PAIR(reduce_acquire, (const u32* in, u32* parts, u32* out, u32* count), (in, parts, out, count))

// triton#11730: a block ends while another one reads its shared memory. It arrives at the barrier, and does not wait.
//# arrive_and_end bounds 2x32 zeros:256 ; before they end
DEV arrive_and_end(u32* out) {
  __shared__ u32 old;
  u32 t = threadIdx.x, there, value = 0;
  if (t == 0) old = blockIdx.x + 7;
  CLUSTER_SYNC;
  if (blockIdx.x % 2 == 1) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(AT(&old)));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");  //~ arrive_and_end
  }
  ASM("barrier.cluster.arrive;");
  if (!WRONG || blockIdx.x % 2 == 1) ASM("barrier.cluster.wait;");
  out[blockIdx.x * 32 + t] = value;
}
CLUSTER_PAIR(arrive_and_end, (u32* out), (out))

// tilelang#3087: one barrier for all rounds, and the parity of a ring of two stages.
//# ring_law async 1x64 numbers:1024 zeros:256 ; parity
DEV ring_law(const u32* in, u32* out) {
  TILE;
  __shared__ u64 bar;
  u32 t = threadIdx.x, sum = 0;
  if (t == 0) { INIT(&bar, 1); SHOW_INIT; }
  __syncthreads();
  for (u32 round = 0; round < 4; round++) {
    if (t == 0) {
      EXPECT(&bar, 256);
      BULK_LOAD(tile + round % 2 * 64, in + round * 64, 256, &bar);  //~ ring_law
    }
    WAIT(&bar, WRONG ? round / 2 % 2 : round % 2);
    sum += tile[round % 2 * 64 + 63 - t];  //~ ring_law
    FENCE_SHARED;
    __syncthreads();
  }
  out[t] = sum;
}
PAIR(ring_law, (const u32* in, u32* out), (in, out))

// cutlass#3636: a ring of three stages, of which each tile begins at the first one.
//# stage_rotation async 1x32 zeros:1024 ; wait_group.read
DEV stage_rotation(u32* out) {
  __shared__ alignas(128) u32 stages[3][32];
  u32 t = threadIdx.x;
  for (u32 tile = 0; tile < 2; tile++) {
    for (u32 part = 0; part < 4; part++) {
      u32 stage = (WRONG ? part : tile * 4 + part) % 3;
      stages[stage][t] = tile * 1000 + part * 100 + t;  //~ stage_rotation
      FENCE_SHARED;
      __syncwarp();
      if (t == 0) {
        BULK_STORE(out + (tile * 4 + part) * 32, stages[stage], 128);  //~ stage_rotation
        BULK_COMMIT;
        BULK_WAIT_READ(2);
      }
      __syncwarp();
    }
  }
  if (t == 0) BULK_WAIT_READ(0);
}
PAIR(stage_rotation, (u32* out), (out))

// DeepEP#657: the next load goes into the stage whose store is the one that need not be done yet.
//# copy_through async 1x1 numbers:512 zeros:512 ; wait_group.read
DEV copy_through(const u32* in, u32* out) {
  __shared__ alignas(128) u32 stages[2][32];
  __shared__ u64 bars[2];
  for (u32 i = 0; i < 2; i++) INIT(bars + i, 1);
  SHOW_INIT;
  for (u32 i = 0; i < 2; i++) {
    EXPECT(bars + i, 128);
    BULK_LOAD(stages[i], in + i * 32, 128, bars + i);
  }
  for (u32 i = 0; i < 4; i++) {
    u32 stage = i % 2;
    WAIT(bars + stage, i / 2 % 2);
    BULK_STORE(out + i * 32, stages[stage], 128);  //~ copy_through
    BULK_COMMIT;
    if (i + 2 < 4) {
      if (WRONG) BULK_WAIT_READ(1); else BULK_WAIT_READ(0);
      EXPECT(bars + stage, 128);
      BULK_LOAD(stages[stage], in + (i + 2) * 32, 128, bars + stage);  //~ copy_through
    }
  }
  BULK_WAIT_READ(0);
}
PAIR(copy_through, (const u32* in, u32* out), (in, out))

// Groups belong to the thread that commits them: another one waits for none.
//# other_waits async 1x64 zeros:512 ; only the thread that began
DEV other_waits(u32* out) {
  TILE;
  u32 t = threadIdx.x;
  tile[t] = t;
  FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 256);  //~ other_waits
    BULK_COMMIT;
  }
  if (t == (WRONG ? 32 : 0)) BULK_WAIT_READ(0);
  __syncthreads();
  tile[t] = t * 2;  //~ other_waits
  FENCE_SHARED;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out + 64, tile, 256);
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(other_waits, (u32* out), (out))

// triton#10035: the first warp says that the stage is read, and others still wait for it or read it.
//# leader_arrives race 1x96 numbers:512 zeros:256 ; nothing orders
DEV leader_arrives(const u32* in, u32* out) {
  __shared__ u32 stage[32];
  __shared__ u64 full, empty;
  u32 t = threadIdx.x, sum = 0;
  if (t == 0) { INIT(&full, 32); INIT(&empty, 1); }
  __syncthreads();
  if (t < 32) {
    for (u32 i = 0; i < 4; i++) {
      WAIT(&empty, (i + 1) % 2);
      stage[t] = in[i * 32 + t];  //~ leader_arrives
      ARRIVE(&full);
    }
  } else {
    for (u32 i = 0; i < 4; i++) {
      WAIT(&full, i % 2);
      sum += stage[(t + 1) % 32];  //~ leader_arrives
      if (!WRONG) SYNC_SOME(1, 64);
      else __syncwarp();
      if (t == 32) ARRIVE(&empty);
    }
    out[t - 32] = sum;
  }
}
PAIR(leader_arrives, (const u32* in, u32* out), (in, out))

// csarofeen/pytorch#2457: the group is committed after the wait, which waits for the groups before it alone.
//# commit_late async 1x64 numbers:1024 zeros:256 ; cp.async.wait_group
DEV commit_late(const u32* in, u32* out) {
  __shared__ alignas(16) u32 stages[3][64];
  u32 t = threadIdx.x, sum = 0;
  for (u32 i = 0; i < 2; i++) { COPY4(&stages[i][t], in + i * 64 + t); COMMIT; }  //~ commit_late
  WAIT_GROUP(1);
  __syncthreads();
  for (u32 i = 0; i < 4; i++) {
    if (i + 2 < 4) COPY4(&stages[(i + 2) % 3][t], in + (i + 2) * 64 + t);
    if (!WRONG) COMMIT;
    sum += stages[i % 3][63 - t];  //~ commit_late
    WAIT_GROUP(1);
    if (WRONG) COMMIT;
    __syncthreads();
  }
  out[t] = sum;
}
PAIR(commit_late, (const u32* in, u32* out), (in, out))

// ik_llama.cpp#2502: a shuffle brings the lanes together, and orders no memory.
//# shuffle_between race 1x32 numbers:128 zeros:128 ; __syncwarp()
DEV shuffle_between(const u32* in, u32* out) {
  __shared__ u32 store[32];
  u32 t = threadIdx.x, sum = in[t];
  store[t] = sum;  //~ shuffle_between
  for (u32 step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (!WRONG) __syncwarp();
  out[t] = sum + store[31 - t];  //~ shuffle_between
}
PAIR(shuffle_between, (const u32* in, u32* out), (in, out))

// rocMLIR#2447: 48 rows have four threads each, and the last 64 threads of the block have no row of their own.
//# idle_threads race 1x256 numbers:1024 zeros:192 ; two threads write
DEV idle_threads(const u32* in, u32* out) {
  __shared__ u32 parts[192];
  u32 t = threadIdx.x;
  if (WRONG || t < 192) parts[t % 192] = in[t];  //~ idle_threads
  __syncthreads();
  if (t < 48) out[t] = parts[t * 4] + parts[t * 4 + 1] + parts[t * 4 + 2] + parts[t * 4 + 3];
}
PAIR(idle_threads, (const u32* in, u32* out), (in, out))

// flash-attention#2498: a copy is begun before the grid before this one is known to have ended.
//# grid_prefetch order 1x32 before:128 zeros:128 ; griddepcontrol.wait
DEV grid_prefetch(const u32* in, u32* out) {
  __shared__ alignas(16) u32 tile[32];
  u32 t = threadIdx.x;
  if (!WRONG) ASM("griddepcontrol.wait;");
  COPY4(tile + t, in + t);  //~ grid_prefetch
  COMMIT;
  if (WRONG) ASM("griddepcontrol.wait;");
  WAIT_GROUP(0);
  __syncwarp();
  out[t] = tile[31 - t];
}
PAIR(grid_prefetch, (const u32* in, u32* out), (in, out))

// The grid before may still read what this one writes.
//# grid_overwrite order 1x32 numbers:128 before:128 ; griddepcontrol.wait
DEV grid_overwrite(const u32* in, u32* out) {
  u32 t = threadIdx.x;
  if (!WRONG) ASM("griddepcontrol.wait;");
  out[t] = in[t] + 1;  //~ grid_overwrite
  if (WRONG) ASM("griddepcontrol.wait;");
}
PAIR(grid_overwrite, (const u32* in, u32* out), (in, out))

// llama.cpp#13469: a barrier with a number of threads, of which some have ended.
//# counted_exit deadlock 1x96 numbers:384 zeros:384 ; 96
DEV counted_exit(const u32* in, u32* out) {
  __shared__ u32 part[96];
  u32 t = threadIdx.x;
  part[t] = in[t];
  if (WRONG && t >= 64) return;
  SYNC_SOME(1, 96);  //~ counted_exit
  out[t] = part[t ^ 1];
}
PAIR(counted_exit, (const u32* in, u32* out), (in, out))

// A barrier of a producer warp and two consumer warps is for one warp more.
//# other_count deadlock 1x96 numbers:128 zeros:256 ; 96
DEV other_count(const u32* in, u32* out) {
  __shared__ u32 part[32];
  u32 t = threadIdx.x;
  if (t < 32) {
    part[t] = in[t];
    asm volatile("barrier.cta.arrive 1, %0;" ::"n"(WRONG ? 128 : 96) : "memory");
  } else {
    asm volatile("barrier.cta.sync 1, %0;" ::"n"(WRONG ? 128 : 96) : "memory");  //~ other_count
    out[t - 32] = part[t % 32];
  }
}
PAIR(other_count, (const u32* in, u32* out), (in, out))

// Of a counter that others add to by atomics, a plain read.
//# plain_count race 4x32 zeros:4 zeros:512 ; weak access
DEV plain_count(u32* count, u32* out) {
  u32 t = threadIdx.x, seen;
  ADD("relaxed.gpu.global", count, 1);  //~ plain_count
  if (WRONG) LOAD("global", seen, count);  //~ plain_count
  else LOAD("relaxed.gpu.global", seen, count);
  out[blockIdx.x * 32 + t] = seen > 0;
}
PAIR(plain_count, (u32* count, u32* out), (count, out))

// flash-attention#1315: a copy to both blocks of a cluster goes on as soon as one of them has read the stage.
//# multicast_release async 2x32 numbers:512 zeros:256 ; empty stages
DEV multicast_release(const u32* in, u32* out) {
  __shared__ alignas(128) u32 stage[32];
  __shared__ u64 full, empty;
  u32 t = threadIdx.x, rank = blockIdx.x % 2, sum = 0, there;
  if (t == 0) { INIT(&full, 1); INIT(&empty, WRONG ? 1 : 2); SHOW_INIT; }
  CLUSTER_SYNC;
  for (u32 i = 0; i < 4; i++) {
    if (t == 0) EXPECT(&full, 128);
    if (t == 0 && rank == 0) {
      WAIT_OF(".acquire.cluster", &empty, (i + 1) % 2);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"  //~ multicast_release
                   " [%0], [%1], %2, [%3], %4;" ::"r"(AT(stage)), "l"(in + i * 32), "r"(128), "r"(AT(&full)), "h"((short)3) : "memory");
    }
    WAIT(&full, i % 2);
    sum += stage[31 - t];  //~ multicast_release
    FENCE_SHARED;
    __syncwarp();
    if (t == 0 && (!WRONG || rank == 0)) {
      asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(AT(&empty)));
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    }
  }
  CLUSTER_SYNC;
  out[blockIdx.x * 32 + t] = sum;
}
CLUSTER_PAIR(multicast_release, (const u32* in, u32* out), (in, out))

// A store to another block tells that block's barrier, and nobody waits there.
//# remote_store async 2x32 zeros:256 ; mbarrier.try_wait
DEV remote_store(u32* out) {
  __shared__ u32 inbox[32];
  __shared__ u64 bar;
  u32 t = threadIdx.x, rank = blockIdx.x % 2, there, bar_there;
  if (t == 0) { INIT(&bar, 1); SHOW_INIT; EXPECT(&bar, 128); }
  CLUSTER_SYNC;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(inbox + t)), "r"(1 - rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar_there) : "r"(AT(&bar)), "r"(1 - rank));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(there), "r"(t + rank), "r"(bar_there) : "memory");  //~ remote_store
  if (WRONG) CLUSTER_SYNC; else WAIT_OF(".acquire.cluster", &bar, 0);
  out[blockIdx.x * 32 + t] = inbox[31 - t];  //~ remote_store
  if (WRONG) WAIT(&bar, 0);
  CLUSTER_SYNC;
}
CLUSTER_PAIR(remote_store, (u32* out), (out))

// The first block clears what all blocks add to.
//# cleared_by_one race 4x32 numbers:512 zeros:4 ; nothing orders
DEV cleared_by_one(const u32* in, u32* sum) {
  u32 at = blockIdx.x * 32 + threadIdx.x;
  if (WRONG && at == 0) *sum = 0;  //~ cleared_by_one
  ADD("relaxed.gpu.global", sum, in[at]);  //~ cleared_by_one
}
PAIR(cleared_by_one, (const u32* in, u32* sum), (in, sum))

// Each half of a warp waits for itself, and reads what the other half wrote.
//# half_of_warp race 1x32 numbers:128 zeros:128 ; __syncwarp()
DEV half_of_warp(const u32* in, u32* out) {
  __shared__ u32 part[32];
  u32 t = threadIdx.x;
  part[t] = in[t];  //~ half_of_warp
  if (!WRONG) __syncwarp();
  else if (t < 16) __syncwarp(0x0000ffff);
  else __syncwarp(0xffff0000);
  out[t] = part[t ^ 16];  //~ half_of_warp
}
PAIR(half_of_warp, (const u32* in, u32* out), (in, out))

// Two groups of two warps use the same barrier.
//# same_number race 1x128 numbers:512 zeros:512 ; bar.sync
DEV same_number(const u32* in, u32* out) {
  __shared__ u32 part[128];
  u32 t = threadIdx.x, value = in[t];
  for (u32 i = 0; i < 3; i++) {
    part[t] = value;  //~ same_number
    if (WRONG || t < 64) SYNC_SOME(1, 64); else SYNC_SOME(2, 64);
    value += part[t ^ 32];  //~ same_number
    if (WRONG || t < 64) SYNC_SOME(1, 64); else SYNC_SOME(2, 64);
  }
  out[t] = value;
}
PAIR(same_number, (const u32* in, u32* out), (in, out))

// A reader looks at a number before and after, and reads the content by plain loads between.
//# sequence race 2x1 zeros:8 zeros:4 zeros:8 ; nothing orders
DEV sequence(u32* content, u32* number, u32* out) {
  u32 before, after, one, two;
  if (blockIdx.x == 0) {
    STORE("relaxed.gpu.global", number, 1);
    __threadfence();
    if (WRONG) { content[0] = 5; content[1] = 6; }  //~ sequence
    else { STORE("relaxed.gpu.global", content, 5); STORE("relaxed.gpu.global", content + 1, 6); }
    STORE("release.gpu.global", number, 2);
  } else {
    LOAD("acquire.gpu.global", before, number);
    if (WRONG) { LOAD("global", one, content); LOAD("global", two, content + 1); }  //~ sequence
    else { LOAD("relaxed.gpu.global", one, content); LOAD("relaxed.gpu.global", two, content + 1); }
    __threadfence();
    LOAD("relaxed.gpu.global", after, number);
    bool good = before == after && before % 2 == 0;
    out[0] = good ? one : 0;
    out[1] = good ? two : 0;
  }
}
PAIR(sequence, (u32* content, u32* number, u32* out), (content, number, out))

// cutlass#2835: what one warp publishes is ordered by a barrier in the loop, and there is no round.
//# zero_tiles race 1x64 numbers:256 zeros:256 u32:0 ; bar.sync 0
DEV zero_tiles(const u32* in, u32* out, u32 tiles) {
  __shared__ u32 address;
  u32 t = threadIdx.x, sum = 0;
  if (t == 0) address = in[5];  //~ zero_tiles
  if (!WRONG) __syncthreads();
  for (u32 i = 0; i < tiles; i++) {
    sum += in[(t + i) % 64];
    __syncthreads();
  }
  out[t] = sum + address;  //~ zero_tiles
}
PAIR(zero_tiles, (const u32* in, u32* out, u32 tiles), (in, out, tiles))

// flashinfer#4742: a counter says that a reduction by the asynchronous proxy is done, and only its source has been read.
//# reduce_flag async 2x1 zeros:128 zeros:4 zeros:4 ; without `.read`
DEV reduce_flag(u32* sums, u32* flag, u32* out) {
  TILE;
  u32 seen;
  if (blockIdx.x == 0) {
    for (u32 i = 0; i < 32; i++) tile[i] = i;
    FENCE_SHARED;
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;" ::"l"(sums), "r"(AT(tile)) : "memory");  //~ reduce_flag
    BULK_COMMIT;
    if (WRONG) BULK_WAIT_READ(0); else BULK_WAIT(0);
    FENCE_GLOBAL;
    STORE("release.gpu.global", flag, 1);
  } else {
    do LOAD("acquire.gpu.global", seen, flag); while (!seen);
    out[0] = sums[3];  //~ reduce_flag
  }
}
PAIR(reduce_flag, (u32* sums, u32* flag, u32* out), (sums, flag, out))

// CCCL#10627, raft#3041: one thread counts that its block is done, before the others are.
//# counted_early race 4x64 numbers:1024 zeros:1024 zeros:4 zeros:256 ; put `bar.sync 0` (__syncthreads()) between the access and the atomic
DEV counted_early(const u32* in, u32* part, u32* count, u32* out) {
  __shared__ bool is_last;
  u32 t = threadIdx.x, b = blockIdx.x;
  part[b * 64 + t] = in[b * 64 + t];  //~ counted_early
  if (!WRONG) __syncthreads();
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  u32 sum = 0;
  for (u32 i = 0; i < gridDim.x; i++) sum += part[i * 64 + (t ^ 32)];  //~ counted_early
  out[t] = sum;
}
PAIR(counted_early, (const u32* in, u32* part, u32* count, u32* out), (in, part, count, out))

// The same, and the count releases nothing either.
//# counted_bare race 4x64 numbers:1024 zeros:1024 zeros:4 zeros:256 ; writes a flag, or counts
DEV counted_bare(const u32* in, u32* part, u32* count, u32* out) {
  __shared__ bool is_last;
  u32 t = threadIdx.x, b = blockIdx.x;
  part[b * 64 + t] = in[b * 64 + t];  //~ counted_bare
  if (!WRONG) { __threadfence(); __syncthreads(); }
  if (t == 0) is_last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  u32 sum = 0;
  for (u32 i = 0; i < gridDim.x; i++) sum += part[i * 64 + (t ^ 32)];  //~ counted_bare
  out[t] = sum;
}
PAIR(counted_bare, (const u32* in, u32* part, u32* count, u32* out), (in, part, count, out))
