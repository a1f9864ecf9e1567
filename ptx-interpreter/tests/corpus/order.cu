// Wrong kernels, each with a correct twin: flags, locks and counters between blocks.
#include "common.cuh"

//# histogram race 2x64 numbers:512 zeros:64 ; atomic
DEV histogram(const u32* in, u32* out) {
  u32 bin = in[blockIdx.x * blockDim.x + threadIdx.x] % 16;
  if (WRONG) out[bin]++;  //~ histogram
  else atomicAdd(&out[bin], 1);
}
PAIR(histogram, (const u32* in, u32* out), (in, out))

//# in_place race 2x64 numbers:512 zeros:512 ; second kernel
DEV in_place(u32* data, u32* out) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  u32 next = data[(i + 1) % n];  //~ in_place
  (WRONG ? data : out)[i] = next + 1;  //~ in_place
}
PAIR(in_place, (u32* data, u32* out), (data, out))

//# release order 2x1 numbers:4 zeros:4 zeros:4 ; st.release.gpu
DEV release(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ release
    if (WRONG) STORE("relaxed.gpu.global", flag, 1);  //~ release
    else STORE("release.gpu.global", flag, 1);
  } else {
    for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);
    out[0] = data[0];  //~ release
  }
}
PAIR(release, (u32* d, u32* f, u32* o), (d, f, o))

//# acquire order 2x1 numbers:4 zeros:4 zeros:4 ; ld.acquire.gpu
DEV acquire(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ acquire
    STORE("release.gpu.global", flag, 1);
  } else {
    for (u32 seen = 0; !seen;)
      if (WRONG) LOAD("relaxed.gpu.global", seen, flag);  //~ acquire
      else LOAD("acquire.gpu.global", seen, flag);
    out[0] = data[0];  //~ acquire
  }
}
PAIR(acquire, (u32* d, u32* f, u32* o), (d, f, o))

//# narrow order 2x1 numbers:4 zeros:4 zeros:4 ; .gpu
DEV narrow(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ narrow
    if (WRONG) STORE("release.cta.global", flag, 1);  //~ narrow
    else STORE("release.gpu.global", flag, 1);
  } else {
    for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);  //~ narrow
    out[0] = data[0];  //~ narrow
  }
}
PAIR(narrow, (u32* d, u32* f, u32* o), (d, f, o))

//# narrow_read order 2x1 numbers:4 zeros:4 zeros:4 ; acquire.gpu
DEV narrow_read(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ narrow_read
    STORE("release.gpu.global", flag, 1);
  } else {
    for (u32 seen = 0; !seen;)
      if (WRONG) LOAD("acquire.cta.global", seen, flag);  //~ narrow_read
      else LOAD("acquire.gpu.global", seen, flag);
    out[0] = data[0];  //~ narrow_read
  }
}
PAIR(narrow_read, (u32* d, u32* f, u32* o), (d, f, o))

// __threadfence_block() where __threadfence() is needed.
//# narrow_fence order 2x1 numbers:4 zeros:4 zeros:4 ; .gpu
DEV narrow_fence(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ narrow_fence
    if (WRONG) __threadfence_block(); else __threadfence();
    STORE("relaxed.gpu.global", flag, 1);  //~ narrow_fence
  } else {
    for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);
    out[0] = data[0];  //~ narrow_fence
  }
}
PAIR(narrow_fence, (u32* d, u32* f, u32* o), (d, f, o))

// The fence comes after the flag.
//# fence_after order 2x1 numbers:4 zeros:4 zeros:4 ; st.release.gpu
DEV fence_after(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ fence_after
    if (!WRONG) __threadfence();
    STORE("relaxed.gpu.global", flag, 1);  //~ fence_after
    if (WRONG) __threadfence();
  } else {
    for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, flag);
    out[0] = data[0];  //~ fence_after
  }
}
PAIR(fence_after, (u32* d, u32* f, u32* o), (d, f, o))

// The flag itself is a plain variable.
//# plain_flag race 2x1 numbers:4 zeros:4 zeros:4 ; weak access
DEV plain_flag(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    if (WRONG) *flag = 1;  //~ plain_flag
    else *(volatile u32*)flag = 1;
  } else {
    while (!*(volatile u32*)flag) {}  //~ plain_flag
    __threadfence();
    out[0] = data[0];
  }
}
PAIR(plain_flag, (u32* d, u32* f, u32* o), (d, f, o))

// The last block adds what all wrote.
//# last_block order 8x32 numbers:32 zeros:32 zeros:4 zeros:4 ; __threadfence()
DEV last_block(const u32* in, u32* part, u32* count, u32* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];  //~ last_block
    if (!WRONG) __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    if (!WRONG) __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 sum = 0;
    for (u32 b = 0; b < gridDim.x; b++) sum += part[b];  //~ last_block
    out[0] = sum;
  }
}
PAIR(last_block, (const u32* in, u32* part, u32* count, u32* out), (in, part, count, out))

// All threads of a block write, one counts, and no barrier is between.
//# early_count race 4x64 numbers:1024 zeros:1024 zeros:4 zeros:4 ; nothing orders
DEV early_count(const u32* in, u32* part, u32* count, u32* out) {
  __shared__ bool last;
  u32 t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[i] = in[i];  //~ early_count
  if (!WRONG) __syncthreads();
  if (t == 0) { __threadfence(); last = atomicAdd(count, 1) == gridDim.x - 1; __threadfence(); }
  __syncthreads();
  if (last && t == 0) {
    u32 sum = 0;
    for (u32 b = 0; b < 256; b++) sum += part[b];  //~ early_count
    out[0] = sum;
  }
}
PAIR(early_count, (const u32* in, u32* part, u32* count, u32* out), (in, part, count, out))

//# block_atomic order 2x32 zeros:4 ; .gpu
DEV block_atomic(u32* count) {
  if (WRONG) atomicAdd_block(count, 1);  //~ block_atomic
  else atomicAdd(count, 1);
}
PAIR(block_atomic, (u32* count), (count))

// A lock whose end releases nothing.
//# lock order 4x32 zeros:4 zeros:4 ; fence
DEV lock(u32* mutex, u32* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1)) {}
    __threadfence();
    sum[0] += 1;  //~ lock
    if (!WRONG) __threadfence();
    atomicExch(mutex, 0);
  }
}
PAIR(lock, (u32* mutex, u32* sum), (mutex, sum))

// A lock that is taken by an atomic of the block alone.
//# block_lock order 4x32 zeros:4 zeros:4 ; .gpu
DEV block_lock(u32* mutex, u32* sum) {
  if (threadIdx.x == 0) {
    if (WRONG) while (atomicCAS_block(mutex, 0, 1)) {}  //~ block_lock
    else while (atomicCAS(mutex, 0, 1)) {}
    __threadfence();
    sum[0] += 1;
    __threadfence();
    if (WRONG) atomicExch_block(mutex, 0);
    else atomicExch(mutex, 0);
  }
}
PAIR(block_lock, (u32* mutex, u32* sum), (mutex, sum))

// Split-k, as in Marlin: blocks add to the same tile in turn. The lock is handed on before all threads have written.
//# turn_release race 3x64 numbers:256 zeros:256 zeros:4 ; nothing orders
DEV turn_release(const u32* in, u32* tile, u32* turn) {
  u32 t = threadIdx.x;
  if (t == 0) for (u32 now = ~0u; now != blockIdx.x;) LOAD("acquire.gpu.global", now, turn);
  __syncthreads();
  tile[t] += in[t];  //~ turn_release
  if (!WRONG) __syncthreads();
  if (t == 0) { __threadfence(); ADD("relaxed.gpu.global", turn, 1); }
}
PAIR(turn_release, (const u32* in, u32* tile, u32* turn), (in, tile, turn))

// The same: one thread waits for the turn, and the others do not wait for it.
//# turn_acquire race 3x64 numbers:256 zeros:256 zeros:4 ; nothing orders
DEV turn_acquire(const u32* in, u32* tile, u32* turn) {
  u32 t = threadIdx.x;
  if (t == 0) for (u32 now = ~0u; now != blockIdx.x;) LOAD("acquire.gpu.global", now, turn);
  if (!WRONG) __syncthreads();
  tile[t] += in[t];  //~ turn_acquire
  __syncthreads();
  if (t == 0) { __threadfence(); ADD("relaxed.gpu.global", turn, 1); }
}
PAIR(turn_acquire, (const u32* in, u32* tile, u32* turn), (in, tile, turn))

// Decoupled look-back: the value and its status are two words, and nothing orders them.
//# look_back order 4x1 numbers:16 zeros:16 zeros:16 zeros:16 ; release
DEV look_back(const u32* in, u32* value, u32* status, u32* out) {
  u32 b = blockIdx.x, before = 0;
  if (b > 0) {
    for (u32 seen = 0; !seen;) LOAD("acquire.gpu.global", seen, status + b - 1);
    before = value[b - 1];  //~ look_back
  }
  value[b] = before + in[b];  //~ look_back
  if (WRONG) STORE("relaxed.gpu.global", status + b, 1);  //~ look_back
  else STORE("release.gpu.global", status + b, 1);
  out[b] = before;
}
PAIR(look_back, (const u32* in, u32* v, u32* s, u32* o), (in, v, s, o))

// A queue: the place is taken by an atomic, and its content is written later.
//# queue order 2x32 numbers:256 zeros:256 zeros:4 zeros:4 ; release
DEV queue(const u32* in, u32* items, u32* ready, u32* out) {
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    items[t] = in[t] + 1;  //~ queue
    if (!WRONG) __threadfence();
    ADD("relaxed.gpu.global", ready, 1);  //~ queue
  } else if (t == 0) {
    for (u32 seen = 0; seen < 32;) LOAD("acquire.gpu.global", seen, ready);
    u32 sum = 0;
    for (u32 i = 0; i < 32; i++) sum += items[i];  //~ queue
    out[0] = sum;
  }
}
PAIR(queue, (const u32* in, u32* items, u32* ready, u32* out), (in, items, ready, out))

// A buffer is sent again before the other block says that it has read it.
//# no_answer race 2x1 numbers:16 zeros:4 zeros:4 zeros:16 ; nothing orders
DEV no_answer(u32* data, u32* full, u32* empty, u32* out) {
  for (u32 round = 1; round <= 3; round++) {
    if (blockIdx.x == 0) {
      if (!WRONG) for (u32 seen = 0; seen + 1 < round;) LOAD("acquire.gpu.global", seen, empty);
      data[0] = round * 10;  //~ no_answer
      STORE("release.gpu.global", full, round);
    } else {
      for (u32 seen = 0; seen < round;) LOAD("acquire.gpu.global", seen, full);
      out[round] = data[0];  //~ no_answer
      STORE("release.gpu.global", empty, round);
    }
  }
}
PAIR(no_answer, (u32* d, u32* f, u32* e, u32* o), (d, f, e, o))

// What was released to a flag is lost: another thread writes the flag anew, and not by an atomic.
//# broken_chain race 3x1 numbers:4 zeros:4 zeros:4 ; nothing orders
DEV broken_chain(u32* data, u32* flag, u32* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  //~ broken_chain
    STORE("release.gpu.global", flag, 1);
  } else if (blockIdx.x == 1) {
    for (u32 seen = 0; !seen;) LOAD("relaxed.gpu.global", seen, flag);
    if (WRONG) STORE("relaxed.gpu.global", flag, 2);
    else ADD("relaxed.gpu.global", flag, 1);
  } else {
    for (u32 seen = 0; seen < 2;) LOAD("acquire.gpu.global", seen, flag);
    out[0] = data[0];  //~ broken_chain
  }
}
PAIR(broken_chain, (u32* d, u32* f, u32* o), (d, f, o))

// A flag of the block in shared memory, without an order.
//# shared_flag order 1x64 numbers:4 zeros:4 ; release
DEV shared_flag(const u32* in, u32* out) {
  __shared__ u32 data, flag;
  u32 t = threadIdx.x, at = AT(&flag);
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 0) {
    data = in[0];  //~ shared_flag
    if (WRONG) asm volatile("st.relaxed.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");  //~ shared_flag
    else asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
  } else if (t == 32) {
    for (u32 seen = 0; !seen;) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
    out[0] = data;  //~ shared_flag
  }
}
PAIR(shared_flag, (const u32* in, u32* out), (in, out))

// A message of eight bytes whose second half is the flag: two stores may arrive in any order.
//# two_halves race 2x1 zeros:8 zeros:4 ; weak access
DEV two_halves(u32* word, u32* out) {
  if (blockIdx.x == 0) {
    if (WRONG) { word[0] = 42; STORE("relaxed.gpu.global", word + 1, 1); }  //~ two_halves
    else asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(42ull | 1ull << 32) : "memory");
  } else {
    u64 seen = 0;
    while (!(seen >> 32))
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");  //~ two_halves
    out[0] = (u32)seen;
  }
}
PAIR(two_halves, (u32* word, u32* out), (word, out))
// A barrier of the grid, whose arrival releases nothing.
//# grid_barrier order 4x32 numbers:512 zeros:512 zeros:4 ; __threadfence()
DEV grid_barrier(const u32* in, u32* data, u32* count) {
  u32 t = threadIdx.x, i = blockIdx.x * 32 + t;
  data[i] = in[i];  //~ grid_barrier
  __syncthreads();
  if (t == 0) {
    if (!WRONG) __threadfence();
    ADD("relaxed.gpu.global", count, 1);
    for (u32 seen = 0; seen < gridDim.x;) LOAD("acquire.gpu.global", seen, count);
  }
  __syncthreads();
  u32 value = data[127 - i];  //~ grid_barrier
  if (value == 0xffffffff) data[i] = 1;
}
PAIR(grid_barrier, (const u32* in, u32* data, u32* count), (in, data, count))


//# alias proxy 1x64 zeros:256 alias:0 zeros:256 ; fence.proxy.alias
DEV alias(u32* one, u32* other, u32* out) {
  u32 t = threadIdx.x;
  one[t] = t;  //~ alias
  if (!WRONG) asm volatile("fence.proxy.alias;" ::: "memory");
  __syncthreads();
  out[t] = other[t ^ 32];  //~ alias
}
PAIR(alias, (u32* a, u32* b, u32* o), (a, b, o))
