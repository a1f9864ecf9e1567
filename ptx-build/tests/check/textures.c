// Arrays, textures and surfaces on the functions of the driver.
#include "calls.h"
#include <stddef.h>
#include <string.h>

// Sizes of a texture and of a surface, two fetches of it, and a store to the surface.
static const char *const LOOK =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry look(.param .u64 texture, .param .u64 surface, .param .u64 to) {\n"
    "  .reg .b64 %t, %s, %p;\n  .reg .b32 %r<12>;\n  .reg .f32 %f<8>;\n"
    "  ld.param.u64 %t, [texture];\n  ld.param.u64 %s, [surface];\n  ld.param.u64 %p, [to];\n"
    "  txq.width.b32 %r1, [%t];\n  txq.height.b32 %r2, [%t];\n  txq.depth.b32 %r3, [%t];\n"
    "  suq.width.b32 %r4, [%s];\n  suq.height.b32 %r5, [%s];\n  suq.array_size.b32 %r6, [%s];\n"
    "  st.global.v4.u32 [%p], {%r1, %r2, %r3, %r4};\n  st.global.v2.u32 [%p+16], {%r5, %r6};\n"
    "  mov.f32 %f1, 0f3FC00000;\n"
    "  tex.level.3d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%t, {%f1, %f1, %f1, %f1}], %f1;\n"
    "  st.global.v2.f32 [%p+24], {%f2, %f3};\n"
    "  mov.b32 %r7, 2;\n"
    "  tex.3d.v4.f32.s32 {%f2, _, _, _}, [%t, {%r7, %r7, %r7, %r7}];\n"
    "  st.global.f32 [%p+32], %f2;\n"
    "  mov.b32 %r8, 4;\n  mov.b32 %r9, 1;\n"
    "  sust.b.a2d.b32.trap [%s, {%r9, %r8, %r9, %r9}], %r7;\n"
    "  ret;\n}\n";

enum { W = 3, H = 4, D = 5 };
static unsigned char bytes[D][H][W][2], back[D][H][W][2];

int main(void) {
  CUmodule module;
  CUfunction function;
  begin();
  CALL(cuModuleLoadData, &module, LOOK);
  CALL(cuModuleGetFunction, &function, module, "look");
  for (unsigned i = 0; i < sizeof bytes; i++) ((unsigned char *)bytes)[i] = 3 * i + 1;

  CUarray cuboid, layers, row;
  CUDA_ARRAY3D_DESCRIPTOR what = {W, H, D, CU_AD_FORMAT_UNSIGNED_INT8, 2, 0}, told;
  CALL(cuArray3DCreate, &cuboid, &what);
  CALL(cuArray3DGetDescriptor, &told, cuboid);
  // What follows the last member is padding.
  HOLDS(!memcmp(&what, &told, offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags) + sizeof what.Flags));
  CUDA_ARRAY3D_DESCRIPTOR of_layers = {W, H, 2, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST};
  CALL(cuArray3DCreate, &layers, &of_layers);
  of_layers.NumChannels = 3;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate, &row, &of_layers);
  CUDA_ARRAY_DESCRIPTOR of_row = {16, 0, CU_AD_FORMAT_HALF, 1}, of_row_told;
  CALL(cuArrayCreate, &row, &of_row);
  CALL(cuArrayGetDescriptor, &of_row_told, row);
  HOLDS(of_row_told.Width == 16 && of_row_told.Height == 0 && of_row_told.Format == CU_AD_FORMAT_HALF);

  // A box, a rectangle, and bytes of a row are copied to arrays and back.
  CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = bytes, .srcPitch = 2 * W, .srcHeight = H,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = cuboid,
                       .WidthInBytes = 2 * W, .Height = H, .Depth = D};
  CALL(cuMemcpy3D, &box);
  CUDA_MEMCPY2D part = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = cuboid, .srcXInBytes = 2, .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back, .dstPitch = 2 * W,
                        .WidthInBytes = 4, .Height = 2};
  CALL(cuMemcpy2D, &part);
  HOLDS(!memcmp(back[0][0], bytes[0][1][1], 4) && !memcmp(back[0][1], bytes[0][2][1], 4));
  CALL(cuMemcpyAtoH, back, cuboid, 2 * W, 4 * W);
  HOLDS(!memcmp(back, bytes[0][1], 4 * W));
  unsigned short halves[16], same[16] = {0};
  for (int i = 0; i < 16; i++) halves[i] = 0x3c00 + i;
  CUdeviceptr memory;
  CALL(cuMemAlloc, &memory, 64);
  CALL(cuMemcpyHtoD, memory, halves, sizeof halves);
  CALL(cuMemcpyDtoA, row, 0, memory, sizeof halves);
  CALL(cuMemcpyAtoA, row, 4, row, 8, 4);
  CALL(cuMemcpyHtoA, row, 0, halves, 2);
  CALL(cuMemcpyAtoD, memory, row, 0, sizeof halves);
  CALL(cuMemcpyAtoHAsync, same, row, 0, sizeof same, 0);
  CALL(cuStreamSynchronize, 0);
  HOLDS(same[0] == halves[0] && same[2] == halves[4] && same[3] == halves[5] && same[15] == halves[15]);
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuMemcpyAtoH, back, (CUarray)8, 0, 2);

  CUDA_RESOURCE_DESC of = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = cuboid}, of_told = {0};
  CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP},
                           .filterMode = CU_TR_FILTER_MODE_POINT}, how_told = {0};
  CUtexObject texture;
  CUsurfObject surface;
  CALL(cuTexObjectCreate, &texture, &of, &how, NULL);
  CALL(cuTexObjectGetTextureDesc, &how_told, texture);
  CALL(cuTexObjectGetResourceDesc, &of_told, texture);
  HOLDS(!memcmp(&how, &how_told, sizeof how) && of_told.res.array.hArray == cuboid);
  how.flags = CU_TRSF_READ_AS_INTEGER;
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate, &texture, &of, &how, NULL);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate, &surface, &of);
  of.res.array.hArray = layers;
  CALL(cuSurfObjectCreate, &surface, &of);
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuTexObjectDestroy, surface);

  int zeros[2 * H * W] = {0}, stored[2 * H * W];
  CUDA_MEMCPY3D clear = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = zeros, .srcPitch = 4 * W, .srcHeight = H,
                         .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = layers,
                         .WidthInBytes = 4 * W, .Height = H, .Depth = 2};
  CALL(cuMemcpy3D, &clear);
  void *arguments[] = {&texture, &surface, &memory};
  CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, NULL);
  struct { unsigned texture[3], surface[3]; float fetched[3]; } seen;
  CALL(cuMemcpyDtoH, &seen, memory, sizeof seen);
  unsigned sizes[6] = {W, H, D, W, H, 2};
  HOLDS(!memcmp(&seen, sizes, sizeof sizes));
  HOLDS(seen.fetched[0] == bytes[1][1][1][0] / 255.f && seen.fetched[1] == bytes[1][1][1][1] / 255.f);
  HOLDS(seen.fetched[2] == bytes[2][2][2][0] / 255.f);
  CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = layers,
                       .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = stored, .dstPitch = 4 * W, .dstHeight = H,
                       .WidthInBytes = 4 * W, .Height = H, .Depth = 2};
  CALL(cuMemcpy3D, &out);
  zeros[H * W + W + 1] = 2;
  HOLDS(!memcmp(stored, zeros, sizeof zeros));

  CALL(cuTexObjectDestroy, texture);
  CALL(cuSurfObjectDestroy, surface);
  CALL(cuArrayDestroy, cuboid);
  CALL(cuArrayDestroy, layers);
  CALL(cuArrayDestroy, row);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayDestroy, NULL);
  printf("right\n");
  return 0;
}
