// What programs do wrong with arrays, textures and surfaces. Each case is named on the command line; "right" before it is its twin.
#include <cstdio>
#include <cstring>

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); return 3; }     \
  } while (0)

static const int N = 64;
static cudaArray_t array;
static float *memory, *to, host[N * N];
static cudaTextureObject_t of_array, of_memory;
static cudaSurfaceObject_t surface;
static cudaStream_t one, other;
static cudaEvent_t event;
static bool right;

// A step of its own, or both in one launch with a barrier between them.
__global__ void write_and_fetch(cudaSurfaceObject_t s, cudaTextureObject_t t, float *to, int steps) {
  int x = threadIdx.x;
  if (steps & 1) surf2Dwrite((float)x, s, x * 4, 3);
  __syncthreads();
  if (steps & 2) to[x] = tex2D<float>(t, N - 1 - x, 3);
}

__global__ void store_and_fetch(float *memory, cudaTextureObject_t t, float *to, int steps) {
  int x = threadIdx.x;
  if (steps & 1) memory[x] = x;
  __syncthreads();
  if (steps & 2) to[x] = tex1Dfetch<float>(t, N - 1 - x);
}

__global__ void write_and_read(cudaSurfaceObject_t s, float *to, int steps) {
  int x = threadIdx.x;
  if (steps & 1) surf2Dwrite((float)x, s, x * 4, 3);
  __syncthreads();
  if (steps & 2) to[x] = surf2Dread<float>(s, (N - 1 - x) * 4, 3);
}

// Each thread changes its own element, and fetches it before.
__global__ void in_place(cudaSurfaceObject_t s, cudaTextureObject_t t) {
  int x = threadIdx.x;
  surf2Dwrite(2 * tex2D<float>(t, x, 5), s, x * 4, 5);
}

__global__ void write_at(cudaSurfaceObject_t s, int x, int y, int stride) {
  surf2Dwrite((float)threadIdx.x, s, x + threadIdx.x * stride, y);
}

__global__ void write_if_inside(cudaSurfaceObject_t s, int x, int y) {
  surf2Dwrite(1.f, s, x, y, cudaBoundaryModeZero);
}

__global__ void read_at(cudaSurfaceObject_t s, float *to, int x, int y) {
  *to = surf2Dread<float>(s, x, y);
}

__global__ void fetch(cudaTextureObject_t t, float *to) {
  to[threadIdx.x] = tex2D<float>(t, threadIdx.x, 3);
}

__global__ void fetch_linear(cudaTextureObject_t t, float *to) {
  to[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x);
}

// Both steps, in one launch or in two.
#define IN_STEPS(kernel, ...)                                                                      \
  if (right) kernel<<<1, N>>>(__VA_ARGS__, 1), kernel<<<1, N>>>(__VA_ARGS__, 2);                   \
  else kernel<<<1, N>>>(__VA_ARGS__, 3)

static cudaError_t fill(cudaArray_t array) {
  return cudaMemcpy2DToArray(array, 0, 0, host, N * 4, N * 4, N, cudaMemcpyHostToDevice);
}

static cudaError_t make(cudaArray_t *place) {
  cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  return cudaMallocArray(place, &channels, N, N, cudaArraySurfaceLoadStore);
}

static cudaError_t texture(cudaTextureObject_t *place, cudaArray_t array) {
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaTextureDesc how = {};
  return cudaCreateTextureObject(place, &what, &how, nullptr);
}

static int run(const char *name) {
  auto is = [&](const char *other) { return !strcmp(name, other); };
  if (is("written_surface")) IN_STEPS(write_and_fetch, surface, of_array, to);
  else if (is("written_memory")) IN_STEPS(store_and_fetch, memory, of_memory, to);
  else if (is("read_back")) IN_STEPS(write_and_read, surface, to);
  else if (is("in_place")) in_place<<<1, N>>>(surface, of_array);
  else if (is("outside_write")) {
    if (right) write_if_inside<<<1, 1>>>(surface, N * 4, 3);
    else write_at<<<1, 1>>>(surface, N * 4, 3, 4);
  } else if (is("outside_read")) read_at<<<1, 1>>>(surface, to, 8, right ? N - 1 : N);
  else if (is("misaligned")) write_at<<<1, 2>>>(surface, right ? 4 : 2, 3, 4);
  else if (is("same_place")) write_at<<<1, 2>>>(surface, 0, 3, right ? 4 : 0);
  else if (is("destroyed")) {
    if (!right) OK(cudaDestroyTextureObject(of_array));
    fetch<<<1, N>>>(of_array, to);
  } else if (is("freed_array")) {
    if (!right) OK(cudaFreeArray(array));
    fetch<<<1, N>>>(of_array, to);
  } else if (is("freed_memory")) {
    if (!right) OK(cudaFree(memory));
    fetch_linear<<<1, N>>>(of_memory, to);
  } else if (is("a_surface")) fetch<<<1, N>>>(right ? of_array : surface, to);
  else if (is("other_shape")) {
    if (right) fetch_linear<<<1, N>>>(of_memory, to);
    else fetch_linear<<<1, N>>>(of_array, to);
  } else if (is("unwritten")) {
    cudaArray_t fresh;
    cudaTextureObject_t of_fresh;
    OK(make(&fresh));
    OK(texture(&of_fresh, fresh));
    if (right) OK(fill(fresh));
    fetch<<<1, N>>>(of_fresh, to);
  } else if (is("long_copy")) {
    fetch<<<1, N>>>(of_array, to);
    cudaMemcpy2DToArray(array, right ? 0 : 4, 0, host, N * 4, N * 4, N, cudaMemcpyHostToDevice);
  } else if (is("freed_twice")) {
    fetch<<<1, N>>>(of_array, to);
    OK(cudaFreeArray(array));
    if (!right) cudaFreeArray(array);
  } else if (is("two_streams")) {
    write_at<<<1, N, 0, one>>>(surface, 0, 3, 4);
    OK(cudaEventRecord(event, one));
    if (right) OK(cudaStreamWaitEvent(other, event));
    fetch<<<1, N, 0, other>>>(of_array, to);
  } else if (is("copied_meanwhile")) {
    fetch_linear<<<1, N, 0, one>>>(of_memory, to);
    OK(cudaEventRecord(event, one));
    if (right) OK(cudaStreamWaitEvent(other, event));
    OK(cudaMemsetAsync(memory, 0, N * 4, other));
  } else if (is("array_copied_meanwhile")) {
    fetch<<<1, N, 0, one>>>(of_array, to);
    OK(cudaEventRecord(event, one));
    if (right) OK(cudaStreamWaitEvent(other, event));
    OK(cudaMemcpy2DToArrayAsync(array, 0, 0, host, N * 4, N * 4, N, cudaMemcpyHostToDevice, other));
  } else return 2;
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}

int main(int count, char **words) {
  right = !strcmp(words[1], "right");
  OK(make(&array));
  OK(fill(array));
  OK(texture(&of_array, array));
  cudaResourceDesc what = {};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  OK(cudaCreateSurfaceObject(&surface, &what));
  OK(cudaMalloc(&memory, N * 4));
  OK(cudaMalloc(&to, N * 4));
  OK(cudaMemset(memory, 0, N * 4));
  what.resType = cudaResourceTypeLinear;
  what.res.linear = {memory, cudaCreateChannelDesc<float>(), N * 4};
  cudaTextureDesc how = {};
  OK(cudaCreateTextureObject(&of_memory, &what, &how, nullptr));
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&other));
  OK(cudaEventCreate(&event));
  OK(cudaDeviceSynchronize());
  return run(words[right ? 2 : 1]);
}
