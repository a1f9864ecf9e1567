// Textures and surfaces. The host computes what each fetch has to give, by the formulas of the CUDA programming guide.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); exit(3); }      \
  } while (0)

enum Shape { ONE, TWO, THREE, LAYERS_OF_ONE, LAYERS_OF_TWO, PITCH, SHAPES };
static const int W = 7, H = 5, D = 3, N = 96;
static int checked;

static void expect(bool right, const char *what, int line) {
  ++checked;
  if (!right) { printf("%d: %s is wrong\n", line, what); exit(4); }
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

// Elements as numbers: those of one channel or of four.
static void numbers(float v, double *to) { to[0] = v; }
static void numbers(int v, double *to) { to[0] = v; }
static void numbers(short v, double *to) { to[0] = v; }
static void numbers(unsigned short v, double *to) { to[0] = v; }
static void numbers(unsigned char v, double *to) { to[0] = v; }
static void numbers(short2 v, double *to) { to[0] = v.x, to[1] = v.y; }
static void numbers(float2 v, double *to) { to[0] = v.x, to[1] = v.y; }
static void numbers(char4 v, double *to) { to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w; }
static void numbers(float4 v, double *to) { to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w; }

static void draw(float &v) { v = rand() % 2000 / 16.f - 60; }
static void draw(int &v) { v = rand() - RAND_MAX / 2; }
static void draw(short &v) { v = (short)rand(); }
static void draw(unsigned short &v) { v = (unsigned short)rand(); }
static void draw(unsigned char &v) { v = (unsigned char)rand(); }
static void draw(short2 &v) { v = make_short2(rand(), rand()); }
static void draw(char4 &v) { v = make_char4(rand(), rand(), -128, rand()); }
static void draw(float4 &v) { draw(v.x), draw(v.y), draw(v.z), draw(v.w); }

template <class R>
__global__ void fetch(cudaTextureObject_t t, const float4 *at, R *to, int shape) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float4 c = at[i];
  switch (shape) {
    case ONE: to[i] = tex1D<R>(t, c.x); break;
    case THREE: to[i] = tex3D<R>(t, c.x, c.y, c.z); break;
    case LAYERS_OF_ONE: to[i] = tex1DLayered<R>(t, c.x, (int)c.w); break;
    case LAYERS_OF_TWO: to[i] = tex2DLayered<R>(t, c.x, c.y, (int)c.w); break;
    default: to[i] = tex2D<R>(t, c.x, c.y);
  }
}

// A place along one dimension: the elements that count, -1 for the border, and how much they count.
struct Along { int at[2]; double part[2]; };

static int inside(double i, int n, int mode) {
  if (mode == cudaAddressModeBorder && (i < 0 || i >= n)) return -1;
  if (mode == cudaAddressModeWrap) return (int)(i - n * floor(i / n));
  if (mode == cudaAddressModeMirror) {
    double period = i - 2 * n * floor(i / (2 * n));
    return (int)(period < n ? period : 2 * n - 1 - period);
  }
  return (int)(i < 0 ? 0 : i > n - 1 ? n - 1 : i);
}

static Along along(float c, int n, int mode, const cudaTextureDesc &how) {
  double x = c;
  if (!how.normalizedCoords && mode != cudaAddressModeBorder) mode = cudaAddressModeClamp;
  if (how.normalizedCoords) {
    if (mode == cudaAddressModeWrap) x -= floor(x);
    if (mode == cudaAddressModeMirror) x = fmod(fabs(floor(x)), 2) == 0 ? x - floor(x) : 1 - (x - floor(x));
    x = (float)x * (float)n;
  }
  if (how.filterMode == cudaFilterModePoint) return {{inside(floor(x), n, mode), 0}, {1, 0}};
  double b = x - 0.5, i = floor(b), part = floor((b - i) * 256 + 0.5) / 256;
  return {{inside(i, n, mode), inside(i + 1, n, mode)}, {1 - part, part}};
}

struct Texture {
  std::vector<double> numbers;  // four of each element
  int size[3], dimensions;
  bool layers;

  double weigh(float4 c, int channel, const cudaTextureDesc &how) const {
    Along of[3] = {{{0, 0}, {1, 0}}, {{0, 0}, {1, 0}}, {{0, 0}, {1, 0}}};
    float at[3] = {c.x, c.y, c.z};
    for (int d = 0; d < dimensions; ++d) of[d] = along(at[d], size[d], how.addressMode[d], how);
    if (layers) of[2].at[0] = (int)c.w < size[2] ? (int)c.w : size[2] - 1;
    double sum = 0;
    for (int k = 0; k < 8; ++k) {
      int x = of[0].at[k & 1], y = of[1].at[k >> 1 & 1], z = of[2].at[k >> 2];
      double part = of[0].part[k & 1] * of[1].part[k >> 1 & 1] * of[2].part[k >> 2];
      bool border = x < 0 || y < 0 || z < 0;
      if (part) sum += part * (border ? how.borderColor[channel] : numbers[4 * ((z * size[1] + y) * size[0] + x) + channel]);
    }
    return sum;
  }
};

static cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  return what;
}

// A resource with elements that are drawn, and what its elements are as numbers.
template <class T>
struct Resource {
  cudaArray_t array = 0;
  T *memory = 0;
  cudaResourceDesc what = {};
  std::vector<T> elements;
  Texture as_numbers;

  Resource(Shape shape, unsigned flags = 0) {
    static const int SIZES[SHAPES][3] = {{W, 1, 1}, {W, H, 1}, {W, H, D}, {W, 1, D}, {W, H, D}, {W, H, 1}};
    const int *size = SIZES[shape];
    bool layers = shape == LAYERS_OF_ONE || shape == LAYERS_OF_TWO;
    as_numbers = {{}, {size[0], size[1], size[2]}, layers ? shape - 2 : shape == PITCH ? 2 : shape + 1, layers};
    elements.resize(size[0] * size[1] * size[2]);
    for (T &element : elements) draw(element);
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<T>();
    size_t row = W * sizeof(T), pitch;
    if (shape == PITCH) {
      OK(cudaMallocPitch(&memory, &pitch, row, H));
      OK(cudaMemcpy2D(memory, pitch, elements.data(), row, row, H, cudaMemcpyHostToDevice));
      what.resType = cudaResourceTypePitch2D;
      what.res.pitch2D = {memory, channels, (size_t)W, (size_t)H, pitch};
      return;
    }
    if (shape == ONE || shape == TWO) {
      OK(cudaMallocArray(&array, &channels, W, shape == ONE ? 0 : H, flags));
      OK(cudaMemcpy2DToArray(array, 0, 0, elements.data(), row, row, size[1], cudaMemcpyHostToDevice));
    } else {
      cudaExtent extent = make_cudaExtent(W, shape == LAYERS_OF_ONE ? 0 : H, D);
      OK(cudaMalloc3DArray(&array, &channels, extent, flags | (layers ? cudaArrayLayered : 0)));
      cudaMemcpy3DParms copy = {};
      copy.srcPtr = make_cudaPitchedPtr(elements.data(), row, W, size[1]);
      copy.dstArray = array;
      copy.extent = make_cudaExtent(W, size[1], D);
      copy.kind = cudaMemcpyHostToDevice;
      OK(cudaMemcpy3D(&copy));
    }
    what = of_array(array);
  }

  ~Resource() {
    if (memory) OK(cudaFree(memory));
    if (array) OK(cudaFreeArray(array));
  }
};

// Coordinates inside and outside, a few of them in the middle of elements and at their edges. 1 / 47 is 5.45 parts of 256, and 10.89 of 512.
static std::vector<float4> coordinates(const int *size, bool normalized) {
  std::vector<float4> all;
  for (int i = 0; i < N; ++i) {
    float at[3];
    for (int d = 0; d < 3; ++d) {
      int drawn = i < N / 2 ? rand() % (16 * size[d]) + 2 : rand() % (48 * size[d]) - 16 * size[d] + 3;
      at[d] = i % 8 == 0 ? drawn / 8 / 2.f : drawn / 16.f + 1 / 47.f;
      if (normalized) at[d] = (at[d] + (i % 8 == 0 ? 1 / 64.f : 0)) / size[d];
    }
    all.push_back(make_float4(at[0], at[1], at[2], (float)(rand() % (D + 2))));
  }
  return all;
}

// All modes of a texture, which is read as `R`. Elements are `scale` times as large as what is read of them.
template <class T, class R>
static void all_modes(Shape shape, bool floats, double scale) {
  Resource<T> from(shape);
  Texture &expected = from.as_numbers;
  for (T &element : from.elements) {
    double all[4] = {};
    numbers(element, all);
    for (double &number : all) expected.numbers.push_back(scale == 1 ? number : fmax(number / scale, -1));
  }
  float4 *at;
  R *to, fetched[N];
  OK(cudaMalloc(&at, N * sizeof *at));
  OK(cudaMalloc(&to, N * sizeof *to));
  for (int mode = 0; mode < 4; ++mode)
    for (int normalized = 0; normalized < 2; ++normalized)
      for (int filter = 0; filter < (floats ? 2 : 1); ++filter) {
        cudaTextureDesc how = {};
        for (int d = 0; d < 3; ++d) how.addressMode[d] = (cudaTextureAddressMode)((mode + d * (normalized ? 1 : 0)) % 4);
        how.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
        how.readMode = scale == 1 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
        how.normalizedCoords = normalized;
        if (floats) how.borderColor[0] = 0.25f, how.borderColor[1] = -3;
        cudaTextureObject_t texture;
        OK(cudaCreateTextureObject(&texture, &from.what, &how, nullptr));
        std::vector<float4> places = coordinates(expected.size, normalized);
        OK(cudaMemcpy(at, places.data(), N * sizeof *at, cudaMemcpyHostToDevice));
        fetch<<<3, 32>>>(texture, at, to, shape);
        OK(cudaMemcpy(fetched, to, N * sizeof *to, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; ++i) {
          double all[4] = {};
          numbers(fetched[i], all);
          for (unsigned channel = 0; channel < sizeof(R) / sizeof(float) || channel == 0; ++channel) {
            double right = expected.weigh(places[i], channel, how);
            if (!(fabs(all[channel] - right) <= 1e-6 * fmax(fabs(right), 1))) {
              printf("shape %d mode %d normalized %d filter %d at %g %g %g %g: %.9g and not %.9g\n", shape, mode, normalized,
                     filter, places[i].x, places[i].y, places[i].z, places[i].w, all[channel], right);
              exit(4);
            }
            ++checked;
          }
        }
        OK(cudaDestroyTextureObject(texture));
      }
  OK(cudaFree(at));
  OK(cudaFree(to));
}

#include "surfaces.cuh"

int main() {
  for (int shape = 0; shape < SHAPES; ++shape) all_modes<float, float>((Shape)shape, true, 1);
  all_modes<float4, float4>(TWO, true, 1);
  all_modes<float4, float4>(LAYERS_OF_TWO, true, 1);
  all_modes<unsigned char, float>(TWO, true, 255);
  all_modes<char4, float4>(TWO, true, 127);
  all_modes<short2, float2>(THREE, true, 32767);
  all_modes<unsigned short, float>(ONE, true, 65535);
  all_modes<unsigned char, unsigned char>(PITCH, false, 1);
  all_modes<short, short>(TWO, false, 1);
  all_modes<unsigned short, unsigned short>(LAYERS_OF_ONE, false, 1);
  all_modes<int, int>(THREE, false, 1);
  linear_memory();
  gathers();
  surfaces();
  copies();
  descriptions();
  printf("right: %d values\n", checked);
}
