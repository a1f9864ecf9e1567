// Bytes that nobody has written are read and computed with. That is wrong only if something is done by what comes out of it.
#include "common.cuh"

// Rows of a tile beyond the last one are summed like the others.
//# rows_beyond uninitialised 1x32 numbers:512 zeros:128 ; stores it
DEV rows_beyond(const u32* in, u32* out) {
  __shared__ u32 tile[32][4];
  u32 t = threadIdx.x, sum = 0;
  for (u32 i = t; i < 20 * 4; i += 32) tile[i / 4][i % 4] = in[i];
  __syncthreads();
  for (u32 i = 0; i < 4; i++) sum += tile[t][i];  //~ rows_beyond
  sum = max(sum, 7u) * 3;
  if (t < (WRONG ? 21 : 20)) out[t] = sum;  //~ rows_beyond
}
PAIR(rows_beyond, (const u32* in, u32* out), (in, out))

// Sums of rows go to others through shared memory.
//# sums_of_rows uninitialised 1x64 numbers:1024 zeros:128 ; stores it
DEV sums_of_rows(const u32* in, u32* out) {
  __shared__ u32 tile[64], sums[32];
  u32 t = threadIdx.x;
  if (t < 40) tile[t] = in[t];
  __syncthreads();
  u32 sum = tile[t] * 5;  //~ sums_of_rows
  sum += __shfl_xor_sync(0xffffffff, sum, 1);
  if (t % 2 == 0) sums[t / 2] = sum;
  __syncthreads();
  if (t < (WRONG ? 32 : 20)) out[t] = sums[t] + 1;  //~ sums_of_rows
}
PAIR(sums_of_rows, (const u32* in, u32* out), (in, out))

// Of two halves in a word one is written.
//# one_half uninitialised 1x32 numbers:64 zeros:256 ; stores it
DEV one_half(const u32* in, u32* out) {
  __shared__ u32 words[32];
  u32 t = threadIdx.x;
  ((unsigned short*)words)[2 * t] = in[t / 2] >> t % 2 * 16;
  __syncwarp();
  u32 both = *(volatile u32*)(words + t);  //~ one_half
  out[t] = (WRONG ? both : both << 16) + 3;  //~ one_half
  out[32 + t] = (both & 0xffff) * 3;
}
PAIR(one_half, (const u32* in, u32* out), (in, out))

// A search ends at a number that nobody has written.
//# search uninitialised 1x32 numbers:128 zeros:128 ; decides by it what to do
DEV search(const u32* in, u32* out) {
  __shared__ u32 list[40];
  u32 t = threadIdx.x, i = t;
  list[t] = in[t] | 1;
  if (!WRONG && t < 8) list[32 + t] = 0;
  __syncwarp();
  while (i < 40 && *(volatile u32*)(list + i) & 1) i++;  //~ search
  out[t] = i;
}
PAIR(search, (const u32* in, u32* out), (in, out))

__device__ __forceinline__ void tile_of(u32* tile, const u32* in, u32 rows) {
  for (u32 i = threadIdx.x; i < rows * 8; i += 32) tile[i] = in[i];
  __syncwarp();
}

__device__ __forceinline__ void matrices(u32 (&to)[4], const u32* tile) {
  u32 at = (u32)__cvta_generic_to_shared(tile + threadIdx.x % 16 * 8 + threadIdx.x / 16 * 4);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A product whose first matrix has ten rows: the others are not stored.
//# ten_rows uninitialised 1x32 numbers:512 zeros:512 ; stores it
DEV ten_rows(const u32* in, float* out) {
  __shared__ __align__(128) u32 tile[16 * 8];
  u32 t = threadIdx.x, a[4], row = t / 4, column = t % 4 * 2;
  float d[4] = {};
  tile_of(tile, in, 10);
  matrices(a, tile);  //~ ten_rows
  multiply(d, a, 0x3c003c00, 0x3c003c00);
  out[row * 8 + column] = d[0];
  out[row * 8 + column + 1] = d[1];
  if (row + 8 < (WRONG ? 11 : 10)) out[(row + 8) * 8 + column] = d[2];  //~ ten_rows
}
PAIR(ten_rows, (const u32* in, float* out), (in, out))

// A product with five keys: the columns of others are replaced before anything depends on them.
//# five_keys uninitialised 1x32 numbers:512 zeros:512 ; stores it
DEV five_keys(const u32* in, float* out) {
  __shared__ __align__(128) u32 tile[16 * 8];
  u32 t = threadIdx.x, b[4], a[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}, column = t % 4 * 2;
  float d[4] = {};
  tile_of(tile, in, 5);
  matrices(b, tile);  //~ five_keys
  multiply(d, a, b[0], b[2]);
  for (u32 i = 0; i < 4; i++) d[i] = column + i % 2 < (WRONG ? 6 : 5) ? d[i] * 2 : -1;
  float most = fmaxf(d[0], d[1]);
  most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
  most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
  if (t % 4 == 0) out[t / 4] = most;  //~ five_keys
}
PAIR(five_keys, (const u32* in, float* out), (in, out))
