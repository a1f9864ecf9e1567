// What the tests use of cuFFT, by its own names and numbers. Each case is named on the command line; "right" before it is its twin. A
// line that a finding names has the name of the case in a comment.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

typedef int cufftHandle;
extern "C" {
int cufftCreate(cufftHandle *);
int cufftDestroy(cufftHandle);
int cufftEstimate2d(int, int, int, size_t *);
int cufftExecC2C(cufftHandle, void *, void *, int);
int cufftExecC2R(cufftHandle, void *, void *);
int cufftExecD2Z(cufftHandle, void *, void *);
int cufftExecR2C(cufftHandle, void *, void *);
int cufftExecZ2D(cufftHandle, void *, void *);
int cufftExecZ2Z(cufftHandle, void *, void *, int);
int cufftGetSize(cufftHandle, size_t *);
int cufftGetSize2d(cufftHandle, int, int, int, size_t *);
int cufftGetVersion(int *);
int cufftMakePlan1d(cufftHandle, int, int, int, size_t *);
int cufftMakePlan2d(cufftHandle, int, int, int, size_t *);
int cufftMakePlan3d(cufftHandle, int, int, int, int, size_t *);
int cufftMakePlanMany64(cufftHandle, int, long long *, long long *, long long, long long, long long *, long long, long long, int,
                        long long, size_t *);
int cufftPlan1d(cufftHandle *, int, int, int);
int cufftPlan2d(cufftHandle *, int, int, int);
int cufftPlan3d(cufftHandle *, int, int, int, int);
int cufftPlanMany(cufftHandle *, int, int *, int *, int, int, int *, int, int, int, int);
int cufftSetAutoAllocation(cufftHandle, int);
int cufftSetStream(cufftHandle, cudaStream_t);
int cufftSetWorkArea(cufftHandle, void *);
int cufftXtExec(cufftHandle, void *, void *, int);
int cufftXtMakePlanMany(cufftHandle, int, long long *, long long *, long long, long long, int, long long *, long long, long long, int,
                        long long, size_t *, int);
int cufftXtSetGPUs(cufftHandle, int, int *);
}

typedef std::complex<double> Complex;
static const int C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c;
static bool right;
static cudaStream_t one, other;

#define OK(call)                                                                                   \
  do {                                                                                             \
    int error = (call);                                                                            \
    if (error) { printf("%d: %s: %d\n", __LINE__, #call, error); exit(3); }                        \
  } while (0)

// Three sizes, the slowest first, and how elements of a side lie.
struct Side { int embed[3]; int stride, distance; };
struct Case { int rank, sizes[3], batch, type; Side in, out; bool is_placed, in_place; };

static bool is_double(int type) { return type >= Z2Z; }
static bool is_real(int type, bool output) { return type == (output ? C2R : R2C) || type == (output ? Z2D : D2Z); }
static int half(const Case &c) { return c.type == C2C || c.type == Z2Z ? c.sizes[2] : c.sizes[2] / 2 + 1; }

// Where an element of a side is, counted in its elements.
static int place(const Case &c, bool output, int b, int x, int y, int z) {
  const Side &side = output ? c.out : c.in;
  if (c.is_placed) return b * side.distance + ((x * side.embed[1] + y) * side.embed[2] + z) * side.stride;
  int row = !is_real(c.type, output) ? half(c) : c.in_place ? 2 * half(c) : c.sizes[2];
  return ((b * c.sizes[0] + x) * c.sizes[1] + y) * row + z;
}

// The numbers of a member: real ones have no other part.
static Complex number(const Case &c, int b, int x, int y, int z) {
  int bits = ((b * 31 + x) * 17 + y) * 13 + z;
  double re = (bits * 37 % 101) / 50.0 - 1, im = (bits * 53 % 97) / 48.0 - 1;
  return is_real(c.type, false) || is_real(c.type, true) ? Complex(re, 0) : Complex(re, im);
}

// The plain sum.
static Complex sum(const Case &c, int b, int x, int y, int z, int sign) {
  Complex all = 0;
  for (int u = 0; u < c.sizes[0]; u++)
    for (int v = 0; v < c.sizes[1]; v++)
      for (int w = 0; w < c.sizes[2]; w++) {
        double turn = double(x * u) / c.sizes[0] + double(y * v) / c.sizes[1] + double(z * w) / c.sizes[2];
        all += number(c, b, u, v, w) * std::polar(1.0, sign * 2 * M_PI * turn);
      }
  return all;
}

static Complex read(const void *from, int at, bool real, bool wide) {
  if (real) return wide ? ((const double *)from)[at] : ((const float *)from)[at];
  return wide ? ((const Complex *)from)[at] : Complex(((const std::complex<float> *)from)[at]);
}

static void write(void *to, int at, Complex value, bool real, bool wide) {
  if (real && wide) ((double *)to)[at] = value.real();
  else if (real) ((float *)to)[at] = float(value.real());
  else if (wide) ((Complex *)to)[at] = value;
  else ((std::complex<float> *)to)[at] = std::complex<float>(value);
}

static int execute(cufftHandle plan, int type, void *in, void *out, int sign) {
  switch (type) {
  case C2C: return cufftExecC2C(plan, in, out, sign);
  case R2C: return cufftExecR2C(plan, in, out);
  case C2R: return cufftExecC2R(plan, in, out);
  case Z2Z: return cufftExecZ2Z(plan, in, out, sign);
  case D2Z: return cufftExecD2Z(plan, in, out);
  default: return cufftExecZ2D(plan, in, out);
  }
}

static cufftHandle planned(Case &c) {
  cufftHandle plan;
  int *sizes = c.sizes + 3 - c.rank, *n = c.sizes;
  if (c.is_placed)
    OK(cufftPlanMany(&plan, c.rank, sizes, c.in.embed + 3 - c.rank, c.in.stride, c.in.distance, c.out.embed + 3 - c.rank, c.out.stride,
                     c.out.distance, c.type, c.batch));
  else if (c.rank > 1 && c.batch > 1) OK(cufftPlanMany(&plan, c.rank, sizes, nullptr, 7, 7, nullptr, 7, 7, c.type, c.batch));
  else if (c.rank == 1) OK(cufftPlan1d(&plan, n[2], c.type, c.batch));
  else if (c.rank == 2) OK(cufftPlan2d(&plan, n[1], n[2], c.type));
  else OK(cufftPlan3d(&plan, n[0], n[1], n[2], c.type));
  return plan;
}

// Whether all results are the plain sums, and nothing lies between them.
static bool is_right(Case c, int sign) {
  const size_t ROOM = 1 << 16, MARK = 0x55;
  bool wide = is_double(c.type), from_real = is_real(c.type, false), to_real = is_real(c.type, true);
  std::vector<char> in(ROOM, MARK), out(ROOM), seen(ROOM), marked(ROOM, MARK);
  int inner = from_real ? c.sizes[2] : half(c), last = to_real ? c.sizes[2] : half(c);
  auto each = [&](int count, auto does) {
    for (int b = 0; b < c.batch; b++)
      for (int x = 0; x < c.sizes[0]; x++)
        for (int y = 0; y < c.sizes[1]; y++)
          for (int z = 0; z < count; z++) does(b, x, y, z);
  };
  each(inner, [&](int b, int x, int y, int z) {
    write(in.data(), place(c, false, b, x, y, z), to_real ? sum(c, b, x, y, z, -1) : number(c, b, x, y, z), from_real, wide);
  });
  char *device, *result;
  OK(cudaMalloc(&device, ROOM));
  OK(cudaMalloc(&result, ROOM));
  OK(cudaMemcpy(device, in.data(), ROOM, cudaMemcpyHostToDevice));
  OK(cudaMemset(result, MARK, ROOM));
  cufftHandle plan = planned(c);
  OK(execute(plan, c.type, device, c.in_place ? device : result, sign));
  OK(cudaMemcpy(out.data(), c.in_place ? device : result, ROOM, cudaMemcpyDeviceToHost));
  double worst = 0, scale = c.sizes[0] * c.sizes[1] * c.sizes[2];
  size_t bytes = (to_real ? 1 : 2) * (wide ? 8 : 4);
  each(last, [&](int b, int x, int y, int z) {
    int at = place(c, true, b, x, y, z);
    Complex expected = to_real ? number(c, b, x, y, z) * scale : sum(c, b, x, y, z, sign);
    worst = std::max(worst, std::abs(read(out.data(), at, to_real, wide) - expected));
    memset(&seen[at * bytes], 1, bytes);
  });
  bool is_clean = true;
  for (size_t at = 0; at < ROOM; at++) is_clean &= seen[at] || c.in_place || out[at] == char(MARK);
  OK(cufftDestroy(plan));
  OK(cudaFree(device));
  OK(cudaFree(result));
  return is_clean && worst < scale * (wide ? 1e-13 : 1e-6);
}

// How many of the cases are right, for each type.
static void values() {
  const int shapes[][5] = {{1, 1, 1, 1, 1}, {1, 1, 1, 8, 3}, {1, 1, 1, 9, 2}, {1, 1, 1, 30, 1}, {1, 1, 1, 61, 2}, {2, 1, 4, 6, 1},
                           {2, 1, 5, 7, 2}, {2, 1, 3, 8, 3}, {3, 4, 3, 6, 1}, {3, 3, 5, 7, 2}, {3, 2, 4, 1, 2}};
  for (int type : {C2C, R2C, C2R, Z2Z, D2Z, Z2D}) {
    int count = 0, good = 0;
    for (auto &s : shapes)
      for (int way = 0; way < 6; way++) {
        Case c = {s[0], {s[1], s[2], s[3]}, s[4], type, {}, {}, way > 1, way == 1 || way == 5};
        // Rows and planes have room around them, and members lie after each other or between each other's elements.
        Side padded = {{s[1], s[2] + 1, s[3] + 3}, 2, 0}, woven = {{s[1], s[2] + 2, s[3] + 1}, s[4], 1};
        padded.distance = s[1] * padded.embed[1] * padded.embed[2] * 2 + 5;
        c.in = way == 3 ? woven : padded, c.out = way == 4 ? padded : woven;
        if (way == 5) {
          int rows = s[1] * (s[2] + 1), row = half(c) + 1;
          Side complex = {{s[1], s[2] + 1, row}, 1, rows * row + 1}, real = {{s[1], s[2] + 1, 2 * row}, 1, 2 * (rows * row + 1)};
          c.in = is_real(type, false) ? real : complex, c.out = is_real(type, true) ? real : complex;
        }
        for (int sign : {-1, 1}) {
          if (sign == 1 && type != C2C && type != Z2Z) continue;
          count++, good += is_right(c, type == C2C || type == Z2Z ? sign : -1);
        }
      }
    printf("%#x: %d of %d\n", type, good, count);
  }
}

// Plans that are made of a handle, with memory of the program's own, and by types of data.
static void made() {
  cufftHandle plan, wide;
  size_t size, asked, estimated, many;
  long long n[] = {4, 6}, embed[] = {4, 6};
  OK(cufftCreate(&plan));
  OK(cufftSetAutoAllocation(plan, 0));
  OK(cufftGetSize2d(plan, 4, 6, C2C, &asked));
  OK(cufftMakePlan2d(plan, 4, 6, C2C, &size));
  OK(cufftEstimate2d(4, 6, C2C, &estimated));
  std::vector<std::complex<float>> one(24), two(24);
  std::vector<Complex> three(24);
  one[7] = 1;
  void *device, *area;
  OK(cudaMalloc(&device, 24 * 16));
  OK(cudaMalloc(&area, size));
  OK(cudaMemcpy(device, one.data(), 24 * 8, cudaMemcpyHostToDevice));
  printf("%d", cufftExecC2C(plan, device, device, -1));
  OK(cufftSetWorkArea(plan, area));
  OK(cufftXtExec(plan, device, device, -1));
  OK(cudaMemcpy(two.data(), device, 24 * 8, cudaMemcpyDeviceToHost));
  OK(cufftCreate(&wide));
  OK(cufftXtMakePlanMany(wide, 2, n, embed, 1, 24, 5, embed, 1, 24, 5, 1, &many, 5));
  std::vector<Complex> doubles(one.begin(), one.end());
  OK(cudaMemcpy(device, doubles.data(), 24 * 16, cudaMemcpyHostToDevice));
  OK(cufftXtExec(wide, device, device, -1));
  OK(cudaMemcpy(three.data(), device, 24 * 16, cudaMemcpyDeviceToHost));
  double worst = 0;
  for (int at = 0; at < 24; at++) {
    Complex expected = std::polar(1.0, -2 * M_PI * (at / 6 / 4.0 + at % 6 / 6.0));
    worst = std::max({worst, std::abs(Complex(two[at]) - expected), std::abs(three[at] - expected)});
  }
  printf(" %s %d %d\n", worst < 1e-6 ? "right" : "wrong", asked == size && estimated == size && many == 2 * size, size > 0);
}

// What each wrong argument returns.
static void statuses() {
  cufftHandle plan, empty;
  size_t size;
  int rank[] = {4, 4, 4, 4}, version;
  long long n[] = {4};
  void *device;
  OK(cudaMalloc(&device, 64));
  printf("%d %d %d\n", cufftPlan1d(&plan, 0, C2C, 1), cufftPlan1d(&plan, 4, C2C, 0), cufftPlan1d(&plan, 4, 7, 1));
  printf("%d\n", cufftPlanMany(&plan, 4, rank, nullptr, 1, 1, nullptr, 1, 1, C2C, 1));
  OK(cufftCreate(&empty));
  OK(cufftPlan1d(&plan, 4, C2C, 1));
  printf("%d %d %d\n", cufftExecC2C(empty, device, device, -1), cufftExecC2C(-1, device, device, -1), cufftGetSize(empty, &size));
  printf("%d %d\n", cufftExecC2C(plan, device, device, 0), cufftExecR2C(plan, device, device));
  printf("%d %d\n", cufftExecC2C(plan, nullptr, device, 1), cufftMakePlan1d(plan, 4, C2C, 1, &size));
  printf("%d %d\n", cufftXtMakePlanMany(empty, 1, n, nullptr, 1, 1, 6, nullptr, 1, 1, 6, 1, &size, 6), cufftXtSetGPUs(empty, 2, rank));
  OK(cufftMakePlan3d(empty, 2, 2, 2, R2C, &size));
  OK(cufftGetVersion(&version));
  OK(cufftDestroy(plan));
  printf("%d %d\n", cufftDestroy(plan), version / 1000);
}

__global__ void fill(float2 *all, int count) {
  for (int at = 0; at < count; at++) all[at] = make_float2(at, -at);
}

static void order() {
  float2 *device;
  cufftHandle plan;
  OK(cudaMalloc(&device, 16 * 8));
  OK(cufftPlan1d(&plan, 16, C2C, 1));
  OK(cufftSetStream(plan, one));
  fill<<<1, 1, 0, right ? one : other>>>(device, 16);
  OK(cufftExecC2C(plan, device, device, -1));  // ~order
}

static void apart() {
  float2 *device;
  float *result;
  cufftHandle plan;
  OK(cudaMalloc(&device, 9 * 8));
  OK(cudaMalloc(&result, 16 * 4));
  OK(cufftPlan1d(&plan, 16, C2R, 1));
  OK(cufftSetStream(plan, one));
  fill<<<1, 1, 0, right ? one : other>>>(device, 9);
  OK(cufftExecC2R(plan, device, result));  // ~apart
}

static void outside() {
  float *device;
  cufftHandle plan;
  OK(cufftPlan2d(&plan, 4, 6, R2C));
  // The rows have room for one more complex number if the result takes their place.
  OK(cudaMalloc(&device, 4 * (right ? 8 : 6) * 4));
  OK(cudaMemset(device, 0, 4 * (right ? 8 : 6) * 4));
  cufftExecR2C(plan, device, device);  // ~outside
}

static void unwritten() {
  float *device;
  float2 *result;
  cufftHandle plan;
  OK(cufftPlan1d(&plan, 6, R2C, 4));
  OK(cudaMalloc(&device, 24 * 4));
  OK(cudaMalloc(&result, 16 * 8));
  OK(cudaMemset(device, 0, (right ? 24 : 20) * 4));
  OK(cufftExecR2C(plan, device, result));  // ~unwritten
}

// Two plans work in the same memory.
static void area() {
  float2 *device;
  void *memory;
  size_t size;
  OK(cudaMalloc(&device, 32 * 8));
  OK(cudaMemset(device, 0, 32 * 8));
  cufftHandle plans[2];
  for (auto &plan : plans) {
    OK(cufftCreate(&plan));
    OK(cufftSetAutoAllocation(plan, 0));
    OK(cufftMakePlan1d(plan, 16, C2C, 1, &size));
  }
  OK(cudaMalloc(&memory, size));
  for (auto &plan : plans) OK(cufftSetWorkArea(plan, memory));
  OK(cufftSetStream(plans[0], one));
  OK(cufftSetStream(plans[1], right ? one : other));
  OK(cudaDeviceSynchronize());
  OK(cufftExecC2C(plans[0], device, device, -1));
  OK(cufftExecC2C(plans[1], device + 16, device + 16, -1));  // ~area
}

int main(int count, char **words) {
  right = count > 2;
  OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  const char *name = words[count - 1];
  if (!strcmp(name, "values")) values();
  if (!strcmp(name, "made")) made();
  if (!strcmp(name, "statuses")) statuses();
  if (!strcmp(name, "order")) order();
  if (!strcmp(name, "apart")) apart();
  if (!strcmp(name, "outside")) outside();
  if (!strcmp(name, "unwritten")) unwritten();
  if (!strcmp(name, "area")) area();
  cudaDeviceSynchronize();
}
