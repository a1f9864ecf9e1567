// sm_90: wrong kernels, each with a correct twin: matrices of a warp.
#include "common.cuh"
#define LDMATRIX(R, P)                                                                               \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"                       \
               : "=r"(R[0]), "=r"(R[1]), "=r"(R[2]), "=r"(R[3]) : "r"(AT(P)) : "memory")
#define LDMATRIX_T(R, P)                                                                             \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"                       \
               : "=r"(R[0]), "=r"(R[1]) : "r"(AT(P)) : "memory")
#define STMATRIX(P, R)                                                                               \
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(AT(P)), "r"(R[0]), "r"(R[1]) : "memory")
#define MMA(D, A, B)                                                                                 \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3]) : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]))

// A GEMM of one warp in tiles of 16: the next tile is copied while lanes still read the last one.
//# tile_reuse async 1x32 zeros:4096 zeros:2048 zeros:512 ; `bar.warp.sync`, __syncwarp()
DEV tile_reuse(const u32* a, const u32* b, float* out) {
  __shared__ alignas(16) unsigned short ta[16][16], tb[16][8];
  u32 t = threadIdx.x, ra[4], rb[2];
  float sum[4] = {};
  for (u32 k = 0; k < 4; k++) {
    COPY16(&ta[t / 2][t % 2 * 8], a + (k * 32 + t) * 4);  //~ tile_reuse
    if (t < 16) COPY16(&tb[t][0], b + (k * 16 + t) * 4);
    COMMIT;
    WAIT_GROUP(0);
    __syncwarp();
    LDMATRIX(ra, &ta[t % 16][t / 16 * 8]);  //~ tile_reuse
    LDMATRIX_T(rb, &tb[t % 16][0]);
    MMA(sum, ra, rb);
    if (!WRONG) __syncwarp();
  }
  for (u32 i = 0; i < 4; i++) out[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = sum[i];
}
PAIR(tile_reuse, (const u32* a, const u32* b, float* out), (a, b, out))

// The lanes write the rows, and no barrier of the warp is before the matrix is read.
//# matrix_barrier race 1x32 zeros:512 zeros:512 ; __syncwarp()
DEV matrix_barrier(const u32* in, u32* out) {
  __shared__ alignas(16) u32 tile[128];
  u32 t = threadIdx.x, r[4];
  for (u32 i = 0; i < 4; i++) tile[i * 32 + t] = in[i * 32 + t];  //~ matrix_barrier
  if (!WRONG) __syncwarp();
  LDMATRIX(r, &tile[t * 4]);  //~ matrix_barrier
  for (u32 i = 0; i < 4; i++) out[i * 32 + t] = r[i];
}
PAIR(matrix_barrier, (const u32* in, u32* out), (in, out))

//# matrix_store race 1x32 zeros:256 zeros:256 ; __syncwarp()
DEV matrix_store(const u32* in, u32* out) {
  __shared__ alignas(16) u32 tile[64];
  u32 t = threadIdx.x, r[2] = {in[t], in[32 + t]};
  STMATRIX(&tile[t % 16 * 4], r);  //~ matrix_store
  if (!WRONG) __syncwarp();
  out[t] = tile[63 - t];  //~ matrix_store
}
PAIR(matrix_store, (const u32* in, u32* out), (in, out))

// FlashKDA: a matrix is stored by the warp, and the bulk copy that reads it sees no fence.
//# matrix_proxy proxy 1x32 zeros:256 zeros:256 ; fence.proxy.async.shared::cta
DEV matrix_proxy(const u32* in, u32* out) {
  __shared__ alignas(128) u32 tile[64];
  u32 t = threadIdx.x, r[2] = {in[t], in[32 + t]};
  STMATRIX(&tile[t % 16 * 4], r);  //~ matrix_proxy
  if (!WRONG) FENCE_SHARED;
  __syncwarp();
  if (t == 0) {
    BULK_STORE(out, tile, 256);  //~ matrix_proxy
    BULK_COMMIT;
    BULK_WAIT_READ(0);
  }
}
PAIR(matrix_proxy, (const u32* in, u32* out), (in, out))

// Rows of 16 bytes have to be aligned to 16.
//# matrix_rows misaligned 1x32 zeros:512 zeros:512 ; align the address
DEV matrix_rows(const u32* in, u32* out) {
  __shared__ alignas(16) u32 tile[192];
  u32 t = threadIdx.x, r[4];
  for (u32 i = 0; i < 6; i++) tile[i * 32 + t] = in[(i * 32 + t) % 128];
  __syncwarp();
  LDMATRIX(r, &tile[t * (WRONG ? 5 : 4)]);  //~ matrix_rows
  for (u32 i = 0; i < 4; i++) out[i * 32 + t] = r[i];
}
PAIR(matrix_rows, (const u32* in, u32* out), (in, out))
