// Wrong kernels, each with a correct twin, after bugs that ran in the projects' own sources: docs/real-bugs.md.
#include "common.cuh"

// cuDF#20804: a loop asks for a mistake that the first thread of its next turn may store.
//# asked_again race 1x64 numbers:256 zeros:256 ; bar.sync 0
DEV asked_again(const u32* in, u32* out) {
  __shared__ u32 mistake, length;
  u32 t = threadIdx.x, turn = 0, sum = 0;
  if (t == 0) mistake = 0;
  __syncthreads();
  while (!mistake) {  //~ asked_again
    if (!WRONG) __syncthreads();
    if (t == 0) {
      length = in[turn] % 8 + 1;
      if (turn == 3) mistake = 1;  //~ asked_again
    }
    __syncthreads();
    sum += in[t] * length;
    turn++;
    __syncthreads();
  }
  out[t] = sum;
}
PAIR(asked_again, (const u32* in, u32* out), (in, out))

// cuDF#20806: all threads read a position, and the first one sets it to where the next piece begins.
//# moved_on race 1x64 numbers:512 zeros:512 ; bar.sync 0
DEV moved_on(const u32* in, u32* out) {
  __shared__ u32 position;
  u32 t = threadIdx.x;
  if (t == 0) position = 0;
  for (u32 piece = 0; piece < 2; piece++) {
    __syncthreads();
    u32 from = position;  //~ moved_on
    if (!WRONG) __syncthreads();
    if (t == 0) position = from + 64;  //~ moved_on
    __syncthreads();
    out[from + t] = in[from + t] + 1;
  }
}
PAIR(moved_on, (const u32* in, u32* out), (in, out))

// cuDF#20370: threads without a row leave a loop that has a barrier, and the others of their warp wait there.
//# left_early deadlock 1x64 numbers:320 zeros:256 ; all threads execute the same one
DEV left_early(const u32* in, u32* out) {
  __shared__ u32 count;
  u32 t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  for (u32 row = t; WRONG ? row < 80 : row - t < 80; row += 64) {
    if (row < 80 && in[row] != 7) atomicAdd(&count, 1);
    __syncthreads();  //~ left_early
  }
  __syncthreads();  //~ left_early
  out[t] = count;
}
PAIR(left_early, (const u32* in, u32* out), (in, out))

// tilelang#2628: lanes add bytes step by step, and nothing is between the steps.
//# byte_steps race 1x8 numbers:32 zeros:4 ; bar.warp.sync
DEV byte_steps(const u32* in, u32* out) {
  __shared__ unsigned char sums[8];
  u32 t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  if (t < 4) {
    for (u32 step = 4; step > 0; step /= 2) {
      unsigned char sum = sums[t] + sums[t + step];  //~ byte_steps
      if (!WRONG) __syncwarp(15);
      sums[t] = sum;  //~ byte_steps
      if (!WRONG) __syncwarp(15);
    }
  }
  __syncthreads();
  if (t == 0) *out = sums[0];
}
PAIR(byte_steps, (const u32* in, u32* out), (in, out))

// tilelang#2777: half of the block adds, and its barrier is for the whole block.
//# half_of_the_block deadlock 1x128 numbers:256 zeros:256 ; where 64 of 128 threads have arrived
DEV half_of_the_block(const u32* in, u32* out) {
  __shared__ u32 sums[64];
  u32 t = threadIdx.x;
  if (t < 64) {
    sums[t] = in[t];
    asm volatile("barrier.cta.sync 1, %0;" ::"n"(WRONG ? 128 : 64) : "memory");  //~ half_of_the_block
    out[t] = sums[63 - t];
  }
}
PAIR(half_of_the_block, (const u32* in, u32* out), (in, out))

// LeetCUDA#75: one copy may be left in the loop, and behind it nobody waits for that.
//# last_tile async 1x32 numbers:512 zeros:128 ; cp.async.wait_group
DEV last_tile(const u32* in, u32* out) {
  __shared__ u32 tiles[3][32];
  u32 t = threadIdx.x, sum = 0;
  for (u32 tile = 0; tile < 2; tile++) {
    COPY4(&tiles[tile][t], in + 32 * tile + t);
    COMMIT;
  }
  WAIT_GROUP(1);
  __syncthreads();
  for (u32 tile = 2; tile < 4; tile++) {
    COPY4(&tiles[tile % 3][t], in + 32 * tile + t);  //~ last_tile
    COMMIT;
    sum += tiles[(tile + 1) % 3][31 - t];
    WAIT_GROUP(1);
    __syncthreads();
  }
  sum += tiles[2][31 - t];
  if (!WRONG) {
    WAIT_GROUP(0);
    __syncthreads();
  }
  out[t] = sum + tiles[0][31 - t];  //~ last_tile
}
PAIR(last_tile, (const u32* in, u32* out), (in, out))

// kaldi#3211: the steps of the block have a barrier before them, and the first step of the warp has none.
//# first_step_of_the_warp race 1x64 numbers:256 zeros:4 ; bar.warp.sync
DEV first_step_of_the_warp(const u32* in, u32* out) {
  __shared__ u32 most[64];
  u32 t = threadIdx.x;
  most[t] = in[t];
  __syncthreads();
  if (t < 32) most[t] = max(most[t], most[t + 32]);  //~ first_step_of_the_warp
  if (!WRONG) __syncwarp();
  if (t < 16) {
    for (u32 step = 16; step > 0; step /= 2) {
      u32 other = most[t + step];  //~ first_step_of_the_warp
      __syncwarp(0xffff);
      most[t] = max(most[t], other);
      __syncwarp(0xffff);
    }
  }
  if (t == 0) *out = most[0];
}
PAIR(first_step_of_the_warp, (const u32* in, u32* out), (in, out))

// cuda-oxide#1066: a warp writes where the next tile is, and asks one of the two warps that read it whether it has.
//# read_late race 1x96 numbers:16 zeros:512 ; an mbarrier
DEV read_late(const u32* in, u32* out) {
  __shared__ alignas(8) u64 ready[4], taken[4];
  __shared__ u32 tile;
  u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 4) {
    INIT(&ready[threadIdx.x], 1);
    INIT(&taken[threadIdx.x], WRONG ? 1 : 2);
  }
  __syncthreads();
  for (u32 turn = 0; turn < 4; turn++) {
    if (warp == 0) {
      if (lane == 0) {
        if (turn > 0) WAIT(&taken[turn - 1], 0);
        tile = in[turn] % 8;  //~ read_late
        ARRIVE(&ready[turn]);
      }
    } else {
      WAIT(&ready[turn], 0);
      u32 now = tile;  //~ read_late
      __syncwarp();
      if (lane == 0 && (warp == 1 || !WRONG)) ARRIVE(&taken[turn]);
      if (warp == 2) out[turn * 32 + lane] = now + lane;
    }
  }
}
PAIR(read_late, (const u32* in, u32* out), (in, out))

// cupy#10164: each thread takes its neighbour's cell of a shift register, and puts it into its own.
//# shifted race 1x48 numbers:192 zeros:32 ; bar.sync 0
DEV shifted(u32* cells, u32* out) {
  u32 t = threadIdx.x;
  for (u32 turn = 0; turn < 8; turn++) {
    u32 next = cells[(t + 1) % 48];  //~ shifted
    if (t == 47) out[turn] = next;
    if (!WRONG) __syncthreads();
    cells[t] = next;  //~ shifted
    if (!WRONG) __syncthreads();
  }
}
PAIR(shifted, (u32* cells, u32* out), (cells, out))

// llama.cpp#28475: lanes store where a scan of the warp says, and shuffles do not order that before the loads.
//# packed_by_a_scan race 1x32 numbers:256 zeros:256 ; bar.warp.sync
DEV packed_by_a_scan(const u32* in, u32* out) {
  __shared__ u32 store[64];
  u32 t = threadIdx.x, count = 0;
  for (u32 i = t; i < 64; i += 32) {
    u32 chosen = in[i] >> 2 & 1, before = chosen;
    for (u32 step = 1; step < 32; step *= 2) {
      u32 lower = __shfl_up_sync(0xffffffff, before, step);
      if (t >= step) before += lower;
    }
    if (chosen) store[count + before - 1] = i;  //~ packed_by_a_scan
    count += __shfl_sync(0xffffffff, before, 31);
  }
  if (!WRONG) __syncwarp();
  for (u32 i = t; i < count; i += 32) out[i] = store[i];  //~ packed_by_a_scan
}
PAIR(packed_by_a_scan, (const u32* in, u32* out), (in, out))

// flashinfer#4092: all threads fill the last packet, and one of them says that it is there before the others have.
//# last_packet race 2x64 numbers:512 zeros:256 zeros:4 zeros:256 ; bar.sync 0
DEV last_packet(const u32* in, u32* packet, u32* head, u32* out) {
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    packet[t] = in[t] + in[64 + t];  //~ last_packet
    if (!WRONG) __syncthreads();
    if (t == 0) STORE("release.sys", head, 1);
  } else {
    u32 seen = 0;
    if (t == 0)
      while (!seen) LOAD("acquire.sys", seen, head);
    __syncthreads();
    out[t] = packet[t];  //~ last_packet
  }
}
PAIR(last_packet, (const u32* in, u32* packet, u32* head, u32* out), (in, packet, head, out))

// timemachine#1214: a semicolon behind the condition, so that all threads clear a variable of three numbers.
//# cleared_by_all bounds 1x32 numbers:128 zeros:12 ; keep the index within
DEV cleared_by_all(const u32* in, u32* out) {
  __shared__ u32 centroid[3];
  __shared__ u32 weights[32];
  u32 t = threadIdx.x;
  weights[t] = in[t] % 8;
  __syncthreads();
  if (WRONG || t < 3) centroid[t] = 0;  //~ cleared_by_all
  __syncthreads();
  atomicAdd(&centroid[t % 3], weights[31 - t]);
  __syncthreads();
  if (t < 3) out[t] = centroid[t];
}
PAIR(cleared_by_all, (const u32* in, u32* out), (in, out))

// cupy#7240: where two knots are the same, the zero goes to another place of the thread's row than the one that is read.
//# other_place uninitialised 1x32 numbers:128 zeros:128 ; write them before
DEV other_place(const u32* in, u32* out) {
  __shared__ u32 rows[32][4];
  u32 t = threadIdx.x, *row = rows[t];
  row[0] = 1;
  for (u32 n = 1; n < 4; n++) {
    if (in[(t + n) % 32] % 3 == 0) {
      row[WRONG ? 0 : n] = 0;
      continue;
    }
    row[n] = in[t] + n;
  }
  if (row[0] + row[1] + row[2] + row[3] > 4) out[t] = 1;  //~ other_place
}
PAIR(other_place, (const u32* in, u32* out), (in, out))
