// Shuffles that read lanes which are not there. Each wrong kernel has a correct twin.
#include "common.cuh"

// A warp of 24 threads sums by halves, as if it had 32.
//# part_of_warp uninitialised 1x24 numbers:96 zeros:4 ; which the block does not have
DEV part_of_warp(const u32* in, u32* out) {
  u32 t = threadIdx.x, sum = in[t];
  for (u32 offset = 16; offset > 0; offset /= 2) {
    u32 other = __shfl_down_sync(WRONG ? 0xffffffff : 0x00ffffff, sum, offset);  //~ part_of_warp
    if (WRONG || t + offset < 24) sum += other;
  }
  if (t == 0) *out = sum;  //~ part_of_warp
}
PAIR(part_of_warp, (const u32* in, u32* out), (in, out))

// The last lane says to all what it has, but it had nothing to do and has returned.
//# returned uninitialised 1x32 numbers:128 zeros:128 ; let threads that have nothing to do go on
DEV returned(const u32* in, u32* out) {
  u32 t = threadIdx.x, last = WRONG ? 31 : 30;
  if (t >= 31) return;
  u32 most = __shfl_sync(0xffffffff, in[t], last);  //~ returned
  out[t] = in[t] * most;  //~ returned
}
PAIR(returned, (const u32* in, u32* out), (in, out))

// Lanes with an odd number choose a leader that is not among them.
//# leader uninitialised 1x32 numbers:128 zeros:128 ; lane 0, which is not in the mask
DEV leader(const u32* in, u32* out) {
  u32 t = threadIdx.x, odd = t & 1, mask = __ballot_sync(0xffffffff, odd);
  if (odd) out[t] = __shfl_sync(mask, in[t], WRONG ? 0 : __ffs(mask) - 1);  //~ leader
}
PAIR(leader, (const u32* in, u32* out), (in, out))

// The largest number of half a warp decides where to store; its lanes exchange numbers with the other half.
//# other_half uninitialised 1x32 numbers:128 zeros:128 ; takes it as an address
DEV other_half(const u32* in, u32* out) {
  u32 t = threadIdx.x, most = in[t] % 32;
  if (t >= 16) return;
  for (u32 by = WRONG ? 16 : 8; by > 0; by /= 2) most = max(most, __shfl_xor_sync(0xffff, most, by));  //~ other_half
  if (t == 0) out[most] = t;  //~ other_half
}
PAIR(other_half, (const u32* in, u32* out), (in, out))

// Lanes search for the first one that has something, by a comparison with a number of a lane beyond the end.
//# beyond uninitialised 1x20 numbers:80 zeros:80 ; decides by it what to do
DEV beyond(const u32* in, u32* out) {
  u32 t = threadIdx.x, next = __shfl_down_sync(0xfffff, in[t], 1);  //~ beyond
  if ((WRONG || t + 1 < 20) && next > in[t]) atomicAdd(out + t, 1);  //~ beyond
}
PAIR(beyond, (const u32* in, u32* out), (in, out))

// Values go with their indices, and nobody looks at those of lanes that are not there.
//# with_index uninitialised 1x24 numbers:96 zeros:8 ; stores it
DEV with_index(const u32* in, u32* out) {
  u32 t = threadIdx.x, best = in[t], at = t;
  for (u32 offset = 16; offset > 0; offset /= 2) {
    u32 other = __shfl_down_sync(0xffffff, best, offset), other_at = __shfl_down_sync(0xffffff, at, offset);  //~ with_index
    if ((WRONG ? t + offset < 32 : t + offset < 24) && other >= 0x80000000 + best) best = other, at = other_at;
    if (WRONG) at = min(at, other_at);
  }
  if (t == 0) out[0] = best, out[1] = at;  //~ with_index
}
PAIR(with_index, (const u32* in, u32* out), (in, out))
