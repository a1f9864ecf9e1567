// Wrong kernels, each with a correct twin: addresses, values that nobody has written, and reads as constant.
#include "common.cuh"

//# beyond bounds 2x64 numbers:400 zeros:400 u32:100 ; bytes beyond the end of argument
DEV beyond(const u32* in, u32* out, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (WRONG ? i <= n : i < n) out[i] = in[i];  //~ beyond
}
PAIR(beyond, (const u32* in, u32* out, u32 n), (in, out, n))

//# before bounds 1x32 numbers:128 zeros:128 ; bytes before argument 0
DEV before(const u32* in, u32* out) {
  int t = threadIdx.x;
  out[t] = in[WRONG ? t - 1 : max(t - 1, 0)];  //~ before
}
PAIR(before, (const u32* in, u32* out), (in, out))

//# vector misaligned 1x32 numbers:1024 zeros:128 ; align the address
DEV vector(const float* in, float* out) {
  u32 i = threadIdx.x;
  float4 v = *(const float4*)(in + (WRONG ? 1 : 4) + 4 * i);  //~ vector
  out[i] = v.x + v.w;
}
PAIR(vector, (const float* in, float* out), (in, out))

// DeepEP: what the grid writes is read by `.nc`.
//# constant nc 1x64 numbers:256 zeros:256 ; plain `ld.global`
DEV constant(u32* data, u32* out) {
  u32 t = threadIdx.x, value;
  data[t] = t;  //~ constant
  __syncthreads();
  if (WRONG) LOAD("global.nc", value, data + 63 - t);  //~ constant
  else LOAD("global", value, data + 63 - t);
  out[t] = value;
}
PAIR(constant, (u32* data, u32* out), (data, out))

// The same by a compiler: a pointer that is `const … __restrict__`, and another to the same bytes.
//# restricted nc 1x64 numbers:256 same:0 ; __restrict__
DEV restricted(const u32* __restrict__ in, u32* __restrict__ out) {
  u32 t = threadIdx.x;
  u32 value = WRONG ? __ldg(in + 63 - t) : *(volatile const u32*)(in + t);  //~ restricted
  out[t] = value + 1;  //~ restricted
}
extern "C" __global__ void wrong_restricted(const u32* __restrict__ in, u32* __restrict__ out) { restricted<true>(in, out); }
extern "C" __global__ void right_restricted(const u32* __restrict__ in, u32* __restrict__ out) { restricted<false>(in, out); }

// llama.cpp: nvcc reads by `.nc` what is written through the `__restrict__` pointer of an inlined function.
//# through_restrict nc 2x64 numbers:1024 same:0 ; inlined function
__device__ __forceinline__ void copied(void* __restrict__ to, const void* __restrict__ from) {
  *(uint2*)to = *(const uint2*)from;
}
DEV through_restrict(const u32* in, u32* out) {
  u32 i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  uint2 both = {in[i] + in[i + 1], in[i] - in[i + 1]};  //~ through_restrict
  if (WRONG) copied(out + i, &both);
  else *(uint2*)(out + i) = both;
}
PAIR(through_restrict, (const u32* in, u32* out), (in, out))

//# uniform_load nc 1x64 numbers:256 zeros:256 ; plain `ld.global`
DEV uniform_load(u32* data, u32* out) {
  u32 t = threadIdx.x, value;
  if (t == 0) data[0] = 5;  //~ uniform_load
  __syncthreads();
  if (WRONG) asm volatile("ldu.global.u32 %0, [%1];" : "=r"(value) : "l"(data) : "memory");  //~ uniform_load
  else LOAD("global", value, data);
  out[t] = value;
}
PAIR(uniform_load, (u32* data, u32* out), (data, out))

// `discard` loses what is in the cache line.
//# discarded uninitialised 1x32 numbers:128 zeros:128 ; left without a value
DEV discarded(u32* data, u32* out) {
  u32 t = threadIdx.x;
  if (t == 0) asm volatile("discard.global.L2 [%0], 128;" ::"l"(data) : "memory");
  __syncthreads();
  if (!WRONG) data[t] = t;
  out[t] = data[t];  //~ discarded
}
PAIR(discarded, (u32* data, u32* out), (data, out))

//# never_written uninitialised 1x32 unwritten:128 zeros:128 ; nobody has written
DEV never_written(u32* scratch, u32* out) {
  u32 t = threadIdx.x;
  if (!WRONG) scratch[t] = 0;
  scratch[t] += 1;  //~ never_written
  out[t] = scratch[t];
}
PAIR(never_written, (u32* scratch, u32* out), (scratch, out))

//# null bounds 1x32 numbers:128 zeros:128 u64:0 ; null pointer
DEV null(const u32* in, u32* out, const u32* more) {
  u32 t = threadIdx.x;
  out[t] = in[t] + (WRONG || more ? more[0] : 0);  //~ null
}
PAIR(null, (const u32* in, u32* out, const u32* more), (in, out, more))

//# host_pointer bounds 1x32 host zeros:128 numbers:128 ; memory of the host
DEV host_pointer(const u32* host, u32* out, const u32* in) {
  u32 t = threadIdx.x;
  out[t] = (WRONG ? host : in)[t];  //~ host_pointer
}
PAIR(host_pointer, (const u32* host, u32* out, const u32* in), (host, out, in))

// The address of shared memory, as if it were one of global memory.
//# wrong_space bounds 1x32 zeros:128 ; state space
DEV wrong_space(u32* out) {
  __shared__ u32 tile[32];
  u32 t = threadIdx.x, value;
  tile[t] = t;
  if (WRONG) asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(&tile[t]) : "memory");  //~ wrong_space
  else asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(&tile[t]) : "memory");
  out[t] = value;
}
PAIR(wrong_space, (u32* out), (out))

// An offset in shared memory, as if it were a generic address.
//# not_converted bounds 1x32 zeros:128 ; cvta.shared
DEV not_converted(u32* out) {
  __shared__ u32 first[2048], tile[32];
  u32 t = threadIdx.x, value;
  first[t] = t;
  tile[t] = first[t];
  u64 offset = AT(&tile[t]) + 8192u;
  if (WRONG) asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(offset) : "memory");  //~ not_converted
  else asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(AT(&tile[t])) : "memory");
  out[t] = value;
}
PAIR(not_converted, (u32* out), (out))

// A generic address of shared memory, as if it were an offset.
//# generic_as_offset bounds 1x32 zeros:128 ; state space
DEV generic_as_offset(u32* out) {
  __shared__ u32 tile[32];
  u32 t = threadIdx.x, value;
  tile[t] = t;
  if (WRONG) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "l"(&tile[t]) : "memory");  //~ generic_as_offset
  else asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(AT(&tile[t])) : "memory");
  out[t] = value;
}
PAIR(generic_as_offset, (u32* out), (out))

//# beyond_shared bounds 1x64 zeros:256 ; outside of every piece
DEV beyond_shared(u32* out) {
  __shared__ u32 tile[64];
  u32 t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  out[t] = tile[WRONG ? t + 1 : (t + 1) % 64];  //~ beyond_shared
}
PAIR(beyond_shared, (u32* out), (out))

// An index beyond one variable is in the next one.
//# neighbour bounds 1x64 numbers:256 zeros:256 ; byte 256 of `counts`, which has 256 bytes: that is byte 0 of `keys`
DEV neighbour(const u32* in, u32* out) {
  __shared__ u32 counts[64];
  __shared__ u32 keys[64];
  u32 t = threadIdx.x;
  keys[t] = in[t];
  counts[t] = t;
  __syncthreads();
  u32 sum = 0;
  for (u32 i = 0; i < 4; i++) sum += counts[WRONG ? t + i : (t + i) % 64];  //~ neighbour
  out[t] = sum + keys[63 - t];
}
PAIR(neighbour, (const u32* in, u32* out), (in, out))

//# neighbour_copy bounds 1x32 numbers:768 zeros:128 ; of `stages`, which has 256 bytes
DEV neighbour_copy(const u32* in, u32* out) {
  __shared__ alignas(16) u32 stages[2][32];
  __shared__ alignas(16) u32 sums[64];
  u32 t = threadIdx.x;
  sums[t] = sums[t + 32] = t;
  __syncwarp();
  for (u32 i = 0; i < 3; i++) {
    COPY4(&stages[WRONG ? i : i % 2][t], in + i * 32 + t);  //~ neighbour_copy
    COMMIT;
    WAIT_GROUP(0);
    __syncwarp();
    sums[t] += stages[i % 2][31 - t];
    __syncwarp();
  }
  out[t] = sums[t] + sums[t + 32];
}
PAIR(neighbour_copy, (const u32* in, u32* out), (in, out))

//# beyond_local bounds 1x32 numbers:128 zeros:128 ; local memory
DEV beyond_local(const u32* in, u32* out) {
  u32 t = threadIdx.x;
  volatile u32 own[4];
  for (u32 i = 0; i < 4; i++) own[i] = in[i];
  u32 at = WRONG ? 4096 + in[t] : in[t] % 4;
  out[t] = own[at];  //~ beyond_local
}
PAIR(beyond_local, (const u32* in, u32* out), (in, out))

// 32 bits are not enough for the offset.
//# overflow bounds 1x32 numbers:128 zeros:128 u32:1073741824 ; outside of every piece
DEV overflow(const u32* in, u32* out, u32 stride) {
  u32 t = threadIdx.x;
  const u32* row = WRONG ? in + (u64)stride * (t % 2) : in + (stride * 4 * (t % 2));
  out[t] = row[t];  //~ overflow
}
PAIR(overflow, (const u32* in, u32* out, u32 stride), (in, out, stride))

//# packed_atomic misaligned 1x32 zeros:128 ; align the address
DEV packed_atomic(u32* out) {
  char* at = (char*)out + (WRONG ? 2 : 4);
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");  //~ packed_atomic
}
PAIR(packed_atomic, (u32* out), (out))

// Programmatic dependent launch: the grid before may still write.
//# grid_before order 1x32 before:128 zeros:128 ; griddepcontrol.wait
DEV grid_before(const u32* in, u32* out) {
  u32 t = threadIdx.x;
  if (!WRONG) ASM("griddepcontrol.wait;");
  out[t] = in[t];  //~ grid_before
}
PAIR(grid_before, (const u32* in, u32* out), (in, out))

// One warp waits for the grid before, and the others read without a barrier.
//# grid_before_barrier order 1x64 before:256 zeros:256 ; griddepcontrol.wait
DEV grid_before_barrier(const u32* in, u32* out) {
  u32 t = threadIdx.x;
  if (t < 32) ASM("griddepcontrol.wait;");
  if (!WRONG) __syncthreads();
  out[t] = in[t];  //~ grid_before_barrier
}
PAIR(grid_before_barrier, (const u32* in, u32* out), (in, out))

// An array of the thread's own of which half has no value.
//# scratch uninitialised 1x32 numbers:128 zeros:128 ; write them before
DEV scratch(const u32* in, u32* out) {
  u32 kept[8], t = threadIdx.x;
  for (u32 i = 0; i < (WRONG ? 4 : 8); i++) kept[i] = in[(t + i) % 32];
  out[t] = kept[in[t] % 8];  //~ scratch
}
PAIR(scratch, (const u32* in, u32* out), (in, out))

// An exchange sets a value. What was there before has none.
//# exchanged uninitialised 1x64 zeros:256 ; nobody has written
DEV exchanged(u32* out) {
  __shared__ u32 hit;
  u32 old = atomicExch(&hit, 0);  //~ exchanged
  __syncthreads();
  out[threadIdx.x] = hit + (WRONG ? old : 0);
}
PAIR(exchanged, (u32* out), (out))
