// The other half of textures.cu: linear memory, gathers, surfaces, copies, and what objects say of themselves.
#include <cstring>

template <class R>
__global__ void fetch_linear(cudaTextureObject_t t, R *to, int first) {
  to[threadIdx.x] = tex1Dfetch<R>(t, (int)threadIdx.x + first);
}

template <class T, class R>
static void linear_memory_of(const T *elements, int count, double scale, cudaTextureAddressMode mode) {
  T *memory;
  R *to, fetched[64];
  OK(cudaMalloc(&memory, count * sizeof(T)));
  OK(cudaMalloc(&to, sizeof fetched));
  OK(cudaMemcpy(memory, elements, count * sizeof(T), cudaMemcpyHostToDevice));
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeLinear;
  what.res.linear = {memory, cudaCreateChannelDesc<T>(), count * sizeof(T)};
  cudaTextureDesc how = {};
  how.addressMode[0] = mode;
  how.readMode = scale == 1 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
  fetch_linear<<<1, 64>>>(texture, to, -8);
  OK(cudaMemcpy(fetched, to, sizeof fetched, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) {
    int at = i - 8;
    double right[4] = {}, all[4] = {};
    if (mode == cudaAddressModeClamp) at = at < 0 ? 0 : at < count ? at : count - 1;
    if (at >= 0 && at < count) numbers(elements[at], right);
    numbers(fetched[i], all);
    for (int channel = 0; channel < 4; ++channel) EXPECT(fabs(all[channel] - right[channel] / scale) < 1e-6);
  }
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFree(memory));
  OK(cudaFree(to));
}

static void linear_memory() {
  float4 vectors[40];
  int whole[33];
  unsigned char bytes[50];
  for (float4 &one : vectors) draw(one);
  for (int &one : whole) draw(one);
  for (unsigned char &one : bytes) draw(one);
  linear_memory_of<float4, float4>(vectors, 40, 1, cudaAddressModeBorder);
  linear_memory_of<int, int>(whole, 33, 1, cudaAddressModeClamp);
  linear_memory_of<unsigned char, float>(bytes, 50, 255, cudaAddressModeBorder);
}

__global__ void gather(cudaTextureObject_t t, float4 *to) {
  float x = threadIdx.x % 8 + 0.25f, y = threadIdx.x / 8 + 0.75f;
  to[2 * threadIdx.x] = tex2Dgather<float4>(t, x, y, 0);
  to[2 * threadIdx.x + 1] = tex2Dgather<float4>(t, x, y, 3);
}

// The elements around a place, against the clock from the lower left one on.
static void gathers() {
  Resource<float4> from(TWO, cudaArrayTextureGather);
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &from.what, &how, nullptr));
  float4 *to, fetched[2 * 48];
  OK(cudaMalloc(&to, sizeof fetched));
  gather<<<1, 48>>>(texture, to);
  OK(cudaMemcpy(fetched, to, sizeof fetched, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 48; ++i) {
    int x = i % 8, y = i / 8;
    auto of = [&](int x, int y) {
      return from.elements[(y < 0 ? 0 : y < H ? y : H - 1) * W + (x < 0 ? 0 : x < W ? x : W - 1)];
    };
    float4 around[4] = {of(x - 1, y + 1), of(x, y + 1), of(x, y), of(x - 1, y)};
    float *first = &fetched[2 * i].x, *last = &fetched[2 * i + 1].x;
    for (int k = 0; k < 4; ++k) EXPECT(first[k] == around[k].x && last[k] == around[k].w);
  }
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFree(to));
}

// Each surface is written with what is there, times two, at a place to the right of it. What is outside is dropped, or goes to the
// last element.
__global__ void write(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int shape, int mode) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  float4 v;
  short s;
  switch (shape) {
    case ONE: surf1Dread(&v, from, x * 16); break;
    case TWO: surf2Dread(&v, from, x * 16, y); break;
    case THREE: surf3Dread(&v, from, x * 16, y, z); break;
    case LAYERS_OF_ONE: surf1DLayeredread(&s, from, x * 2, z); break;
    case LAYERS_OF_TWO: surf2DLayeredread(&v, from, x * 16, y, z); break;
  }
  v = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  switch (shape) {
    case ONE: surf1Dwrite(v, to, (x + 1) * 16, cudaBoundaryModeZero); break;
    case TWO:
      // The last two of a row would write to the same place.
      if (mode == cudaBoundaryModeClamp && x != W - 2) surf2Dwrite(v, to, (x + 1) * 16, y, cudaBoundaryModeClamp);
      if (mode == cudaBoundaryModeZero) surf2Dwrite(v, to, (x + 1) * 16, y, cudaBoundaryModeZero);
      break;
    case THREE: surf3Dwrite(v, to, (x + 1) * 16, y, z, cudaBoundaryModeZero); break;
    case LAYERS_OF_ONE: surf1DLayeredwrite((short)(2 * s), to, (x + 1) * 2, z, cudaBoundaryModeZero); break;
    case LAYERS_OF_TWO: surf2DLayeredwrite(v, to, (x + 1) * 16, y, z, cudaBoundaryModeZero); break;
  }
}

__global__ void read_outside(cudaSurfaceObject_t from, float4 *to) {
  surf2Dread(&to[0], from, -16, 1, cudaBoundaryModeZero);
  surf2Dread(&to[1], from, -16, 1, cudaBoundaryModeClamp);
  surf2Dread(&to[2], from, 16 * W, H + 3, cudaBoundaryModeClamp);
}

template <class T>
static std::vector<T> content(cudaArray_t array, int height, int depth) {
  std::vector<T> all(W * height * depth);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(all.data(), W * sizeof(T), W, height);
  copy.extent = make_cudaExtent(W, height, depth);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  return all;
}

static float4 twice(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }
static short twice(short v) { return (short)(2 * v); }

template <class T>
static void surface(Shape shape, cudaSurfaceBoundaryMode mode) {
  Resource<T> from(shape, cudaArraySurfaceLoadStore), to(shape, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t one, other;
  OK(cudaCreateSurfaceObject(&one, &from.what));
  OK(cudaCreateSurfaceObject(&other, &to.what));
  const int *size = from.as_numbers.size;
  write<<<1, dim3(W, size[1], size[2])>>>(one, other, shape, mode);
  std::vector<T> written = content<T>(to.array, size[1], size[2]);
  for (int i = 0; i < (int)written.size(); ++i) {
    int x = i % W;
    T right = x == 0 ? to.elements[i] : twice(from.elements[i - 1]);
    if (mode == cudaBoundaryModeClamp && x == W - 1) right = twice(from.elements[i]);
    EXPECT(!memcmp(&written[i], &right, sizeof right));
  }
  OK(cudaDestroySurfaceObject(one));
  OK(cudaDestroySurfaceObject(other));
}

static void surfaces() {
  surface<float4>(ONE, cudaBoundaryModeZero);
  surface<float4>(TWO, cudaBoundaryModeZero);
  surface<float4>(TWO, cudaBoundaryModeClamp);
  surface<float4>(THREE, cudaBoundaryModeZero);
  surface<short>(LAYERS_OF_ONE, cudaBoundaryModeZero);
  surface<float4>(LAYERS_OF_TWO, cudaBoundaryModeZero);
  Resource<float4> from(TWO, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t one;
  OK(cudaCreateSurfaceObject(&one, &from.what));
  float4 *to, read[3], zero = {};
  OK(cudaMalloc(&to, sizeof read));
  read_outside<<<1, 1>>>(one, to);
  OK(cudaMemcpy(read, to, sizeof read, cudaMemcpyDeviceToHost));
  EXPECT(!memcmp(&read[0], &zero, sizeof zero));
  EXPECT(!memcmp(&read[1], &from.elements[W], sizeof zero));
  EXPECT(!memcmp(&read[2], &from.elements[H * W - 1], sizeof zero));
  OK(cudaDestroySurfaceObject(one));
  OK(cudaFree(to));
}

// Parts of arrays are copied, by each of the calls.
static void copies() {
  Resource<short> from(TWO), to(TWO);
  std::vector<short> right = to.elements, part(W * H);
  size_t row = W * sizeof(short);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpy2DArrayToArray(to.array, 2 * sizeof(short), 1, from.array, sizeof(short), 2, 3 * sizeof(short), 2));
  for (int i = 0; i < 6; ++i) right[(i / 3 + 1) * W + i % 3 + 2] = from.elements[(i / 3 + 2) * W + i % 3 + 1];
  EXPECT(content<short>(to.array, H, 1) == right);
  OK(cudaMemcpy2DToArrayAsync(to.array, 0, 4, right.data(), row, row, 1, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpy2DFromArrayAsync(part.data(), row, to.array, sizeof(short), 4, 2 * sizeof(short), 1, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(part[0] == right[1] && part[1] == right[2]);
  OK(cudaMemcpy2DFromArray(part.data(), row, from.array, 0, 0, row, H, cudaMemcpyDeviceToHost));
  EXPECT(part == from.elements);
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  short some[10];
  for (short &one : some) draw(one);
  OK(cudaMemcpyToArray(to.array, 4 * sizeof(short), 1, some, sizeof some, cudaMemcpyHostToDevice));
  OK(cudaMemcpyFromArray(part.data(), to.array, 4 * sizeof(short), 1, sizeof some, cudaMemcpyDeviceToHost));
  EXPECT(!memcmp(part.data(), some, sizeof some));
  part = content<short>(to.array, H, 1);
  EXPECT(part[W + 4] == some[0] && part[2 * W] == some[3] && part[2 * W + 6] == some[9]);
  OK(cudaMemcpyArrayToArray(to.array, 0, 0, from.array, 0, 1, row));
  EXPECT(!memcmp(content<short>(to.array, H, 1).data(), &from.elements[W], row));
  OK(cudaStreamDestroy(stream));
}

static void descriptions() {
  Resource<float4> cuboid(THREE, cudaArraySurfaceLoadStore);
  cudaChannelFormatDesc channels;
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&channels, &extent, &flags, cuboid.array));
  EXPECT(channels.x == 32 && channels.w == 32 && channels.f == cudaChannelFormatKindFloat);
  EXPECT(extent.width == W && extent.height == H && extent.depth == D && flags == cudaArraySurfaceLoadStore);
  Resource<short2> plane(TWO);
  OK(cudaGetChannelDesc(&channels, plane.array));
  EXPECT(channels.x == 16 && channels.y == 16 && channels.z == 0 && channels.f == cudaChannelFormatKindSigned);
  cudaTextureDesc how = {}, same = {};
  how.addressMode[1] = cudaAddressModeMirror;
  how.readMode = cudaReadModeNormalizedFloat;
  how.normalizedCoords = 1;
  how.borderColor[2] = 5;
  cudaTextureObject_t texture = 0;
  OK(cudaCreateTextureObject(&texture, &plane.what, &how, nullptr));
  OK(cudaGetTextureObjectTextureDesc(&same, texture));
  EXPECT(!memcmp(&how, &same, sizeof how));
  cudaResourceDesc what = {};
  OK(cudaGetTextureObjectResourceDesc(&what, texture));
  EXPECT(what.resType == cudaResourceTypeArray && what.res.array.array == plane.array);
  OK(cudaDestroyTextureObject(texture));
  // What cannot be made, and why.
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  EXPECT(cudaCreateTextureObject(&texture, &plane.what, &how, nullptr) == cudaErrorInvalidFilterSetting);
  Resource<int> numbers(TWO);
  how.readMode = cudaReadModeNormalizedFloat;
  EXPECT(cudaCreateTextureObject(&texture, &numbers.what, &how, nullptr) == cudaErrorInvalidNormSetting);
  cudaSurfaceObject_t surface;
  EXPECT(cudaCreateSurfaceObject(&surface, &numbers.what) == cudaErrorInvalidValue);
  cudaArray_t array;
  cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
  EXPECT(cudaMallocArray(&array, &three, W, H) == cudaErrorInvalidChannelDescriptor);
  EXPECT(cudaMallocArray(&array, &channels, 0, H) == cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&array, &channels, 1 << 18, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
}
