// What the tests use of cuRAND, by its own names and numbers. Each case is named on the command line; "right" before it is its twin. A
// line that a finding names has the name of the case in a comment.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

typedef struct Generator *curandGenerator_t;
extern "C" {
int curandCreateGenerator(curandGenerator_t *, int);
int curandCreateGeneratorHost(curandGenerator_t *, int);
int curandDestroyGenerator(curandGenerator_t);
int curandGenerate(curandGenerator_t, unsigned *, size_t);
int curandGenerateLongLong(curandGenerator_t, unsigned long long *, size_t);
int curandGenerateLogNormal(curandGenerator_t, float *, size_t, float, float);
int curandGenerateLogNormalDouble(curandGenerator_t, double *, size_t, double, double);
int curandGenerateNormal(curandGenerator_t, float *, size_t, float, float);
int curandGenerateNormalDouble(curandGenerator_t, double *, size_t, double, double);
int curandGeneratePoisson(curandGenerator_t, unsigned *, size_t, double);
int curandGenerateUniform(curandGenerator_t, float *, size_t);
int curandGenerateUniformDouble(curandGenerator_t, double *, size_t);
int curandGetDirectionVectors32(void *, int);
int curandGetVersion(int *);
int curandSetGeneratorOffset(curandGenerator_t, unsigned long long);
int curandSetGeneratorOrdering(curandGenerator_t, int);
int curandSetPseudoRandomGeneratorSeed(curandGenerator_t, unsigned long long);
int curandSetStream(curandGenerator_t, cudaStream_t);
}

static const int XORWOW = 101, MT19937 = 142, SOBOL32 = 201;
static const size_t COUNT = 1 << 18;
static bool right;
static curandGenerator_t generator;
static cudaStream_t one, other;

#define OK(call)                                                                                   \
  do {                                                                                             \
    int error = (call);                                                                            \
    if (error) { printf("%d: %s: %d\n", __LINE__, #call, error); exit(3); }                        \
  } while (0)

template <typename T> static std::vector<T> drawn(std::function<int(T *)> draw) {
  T *device;
  OK(cudaMalloc(&device, COUNT * sizeof(T)));
  OK(draw(device));
  std::vector<T> all(COUNT);
  OK(cudaMemcpy(all.data(), device, COUNT * sizeof(T), cudaMemcpyDeviceToHost));
  OK(cudaFree(device));
  return all;
}

// Whether the mean and the deviation are what they should be, by five standard errors of each, and how many numbers are below `middle`.
template <typename T> static void tell(const char *name, const std::vector<T> &all, double mean, double deviation, double middle) {
  double sum = 0, squares = 0, below = 0;
  for (T one : all) sum += one, squares += (one - mean) * (one - mean), below += one < middle;
  double error = sum / COUNT - mean, spread = std::sqrt(squares / COUNT) / deviation;
  bool is_so = std::fabs(error) < 5 * deviation / std::sqrt(COUNT) && std::fabs(spread - 1) < 0.02;
  printf("%s: %s, %.2f below %g\n", name, is_so ? "right" : "wrong", below / COUNT, middle);
}

static void values() {
  OK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  auto g = generator;
  tell<unsigned>("bits", drawn<unsigned>([=](unsigned *to) { return curandGenerate(g, to, COUNT); }), 2147483647.5, 1239850262.2, 1u << 31);
  auto uniform = drawn<float>([=](float *to) { return curandGenerateUniform(g, to, COUNT); });
  tell<float>("uniform", uniform, 0.5, 0.288675, 0.25);
  tell<double>("uniform double", drawn<double>([=](double *to) { return curandGenerateUniformDouble(g, to, COUNT); }), 0.5, 0.288675, 0.25);
  tell<float>("normal", drawn<float>([=](float *to) { return curandGenerateNormal(g, to, COUNT, 3, 2); }), 3, 2, 1);
  tell<double>("normal double", drawn<double>([=](double *to) { return curandGenerateNormalDouble(g, to, COUNT, -1, 4); }), -1, 4, 3);
  double e = std::exp(0.125), v = std::sqrt((std::exp(0.25) - 1) * std::exp(0.25));
  tell<float>("log-normal", drawn<float>([=](float *to) { return curandGenerateLogNormal(g, to, COUNT, 0, 0.5f); }), e, v, 1);
  tell<double>("log-normal double", drawn<double>([=](double *to) { return curandGenerateLogNormalDouble(g, to, COUNT, 0, 0.5); }), e, v, 1);
  tell<unsigned>("Poisson", drawn<unsigned>([=](unsigned *to) { return curandGeneratePoisson(g, to, COUNT, 4); }), 4, 2, 3.5);
  bool are_in = true, is_one = false;
  for (float one : uniform) are_in &= one > 0 && one <= 1;
  // The same seed and the same offset are the same numbers, of whatever generator of the kind.
  curandGenerator_t same;
  OK(curandCreateGeneratorHost(&same, XORWOW));
  OK(curandSetPseudoRandomGeneratorSeed(same, 1234));
  std::vector<unsigned> first(100), second(50), third(100);
  OK(curandGenerate(same, first.data(), 100));
  OK(curandSetGeneratorOffset(same, 50));
  OK(curandGenerate(same, second.data(), 50));
  OK(curandGenerate(same, third.data(), 100));
  is_one = !memcmp(&first[50], second.data(), 200) && memcmp(first.data(), third.data(), 400);
  OK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  auto again = drawn<unsigned>([=](unsigned *to) { return curandGenerate(g, to, COUNT); });
  printf("%d %d %d\n", are_in, is_one, !memcmp(first.data(), again.data(), 400));
}

// What each wrong argument returns.
static void statuses() {
  curandGenerator_t no = nullptr, quasi, twister;
  float *device;
  OK(cudaMalloc(&device, 64));
  printf("%d %d %d\n", curandCreateGenerator(&quasi, SOBOL32), curandCreateGenerator(&quasi, 7), curandGenerateUniform(no, device, 8));
  OK(curandCreateGenerator(&twister, MT19937));
  printf("%d %d\n", curandSetGeneratorOffset(twister, 3), curandSetGeneratorOrdering(twister, 9));
  printf("%d %d\n", curandGenerateNormal(generator, device, 7, 0, 1), curandGeneratePoisson(generator, (unsigned *)device, 8, -1));
  printf("%d %d\n", curandGenerateLongLong(generator, nullptr, 8), curandGetDirectionVectors32(nullptr, 0));
  OK(curandDestroyGenerator(twister));
  printf("%d\n", curandDestroyGenerator(twister));
}

static void outside() {
  float *device;
  OK(cudaMalloc(&device, 64));
  curandGenerateUniform(generator, device, right ? 16 : 17);  // ~outside
}

static void order() {
  float *device, *host;
  OK(cudaMalloc(&device, 64));
  OK(cudaMallocHost(&host, 64));
  OK(curandSetStream(generator, one));
  OK(curandGenerateNormal(generator, device, 16, 0, 1));  // ~order
  if (right) OK(cudaStreamSynchronize(one));
  OK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, other));
}

int main(int count, char **words) {
  right = count > 2;
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&other));
  OK(curandCreateGenerator(&generator, XORWOW));
  const char *name = words[count - 1];
  if (!strcmp(name, "values")) values();
  if (!strcmp(name, "statuses")) statuses();
  if (!strcmp(name, "outside")) outside();
  if (!strcmp(name, "order")) order();
  cudaDeviceSynchronize();
}
