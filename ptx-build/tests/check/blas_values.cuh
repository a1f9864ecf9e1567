// Matrices in memory that host and device share, and plain loops to compare the library with.
#pragma once
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <complex>
#include <functional>
#include <set>
#include <string>
#include <vector>

using Z = std::complex<double>;
using C = std::complex<float>;
using std::string;

static void* handle;
// Whether functions with numbers of 64 bits are called, and whether scalars are in device memory.
static bool wide_numbers, on_device;
static std::set<string> called;
static int comparisons, wrong;

static long long number(int n) { return n; }
template <class A> static A number(A a) { return a; }

// Calls a function of the library by its name.
template <class... A> int call(string name, A... a) {
  if (wide_numbers) name += "_64";
  void* at = dlsym(RTLD_DEFAULT, name.c_str());
  if (!at) {
    printf("%s is not there\n", name.c_str());
    exit(3);
  }
  called.insert(name);
  if (wide_numbers) return ((int (*)(decltype(number(a))...))at)(number(a)...);
  return ((int (*)(A...))at)(a...);
}

static void same(const string& name, Z is, Z wanted, double error) {
  comparisons++;
  // Not a number is not near.
  if (std::abs(is - wanted) <= error * (1 + std::abs(wanted))) return;
  if (wrong++ < 20)
    printf("%s%s%s: %g%+gi and not %g%+gi\n", name.c_str(), wide_numbers ? "_64" : "", on_device ? ", scalars on the device" : "",
           is.real(), is.imag(), wanted.real(), wanted.imag());
}

// A call that has to succeed.
template <class... A> void good(const string& name, A... a) {
  same(name + " returns", call(name, handle, a...), 0, 0);
  cudaDeviceSynchronize();
}

static double draw() {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (double)(state % 2001) / 1000 - 1;
}

template <class T> struct Of {
  static constexpr bool is_complex = false;
  using Real = T;
  static T make(Z z) { return T((float)z.real()); }
  static Z wide(T x) { return (double)(float)x; }
};
template <> struct Of<double> {
  static constexpr bool is_complex = false;
  using Real = double;
  static double make(Z z) { return z.real(); }
  static Z wide(double x) { return x; }
};
template <class R> struct Of<std::complex<R>> {
  static constexpr bool is_complex = true;
  using Real = R;
  static std::complex<R> make(Z z) { return {(R)z.real(), (R)z.imag()}; }
  static Z wide(std::complex<R> x) { return {x.real(), x.imag()}; }
};


// Floats of 16 bits. MANTISSA is the number of bits behind the point.
template <int MANTISSA, int LEAST> struct Small {
  uint16_t bits;
};
using Half = Small<10, -14>;
using Brain = Small<7, -126>;
template <int MANTISSA, int LEAST> struct Of<Small<MANTISSA, LEAST>> {
  static constexpr bool is_complex = false;
  using Real = Small<MANTISSA, LEAST>;
  static Real make(Z z) {
    double size = fabs(z.real());
    int exponent = size > 0 ? std::max(ilogb(size), LEAST) : LEAST;
    long units = lrint(ldexp(size, MANTISSA - exponent));
    // A carry goes into the exponent.
    long bits = units + ((long)(exponent - LEAST) << MANTISSA);
    return {(uint16_t)(bits | (z.real() < 0 ? 0x8000 : 0))};
  }
  static Z wide(Real x) {
    int exponent = (x.bits & 0x7fff) >> MANTISSA;
    int mantissa = x.bits & ((1 << MANTISSA) - 1);
    double size = ldexp(mantissa + (exponent ? 1 << MANTISSA : 0), std::max(exponent, 1) - 1 + LEAST - MANTISSA);
    return x.bits & 0x8000 ? -size : size;
  }
};

// `cudaDataType_t` of a real number.
template <class T> int type_of() { return sizeof(T) == 4 ? 0 : 1; }

template <class T> string letter();
template <> inline string letter<float>() { return "S"; }
template <> inline string letter<double>() { return "D"; }
template <> inline string letter<C>() { return "C"; }
template <> inline string letter<Z>() { return "Z"; }

template <class T> double error_of() { return sizeof(typename Of<T>::Real) == 8 ? 1e-12 : sizeof(typename Of<T>::Real) == 4 ? 1e-5 : 2e-2; }

// A matrix for plain loops.
struct Mat {
  int rows, columns;
  std::vector<Z> v;
  Mat(int rows, int columns) : rows(rows), columns(columns), v(rows * columns) {}
  Z& operator()(int i, int j) { return v[i + j * rows]; }
  Z operator()(int i, int j) const { return v[i + j * rows]; }
};

static Mat made(int rows, int columns, std::function<Z(int, int)> f) {
  Mat m(rows, columns);
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++) m(i, j) = f(i, j);
  return m;
}
static Mat op(const Mat& a, int o) {
  if (o == 0) return a;
  return made(a.columns, a.rows, [&](int i, int j) { return o == 2 ? std::conj(a(j, i)) : a(j, i); });
}
static Mat operator*(const Mat& a, const Mat& b) {
  return made(a.rows, b.columns, [&](int i, int j) {
    Z sum = 0;
    for (int l = 0; l < a.columns; l++) sum += a(i, l) * b(l, j);
    return sum;
  });
}
static Mat operator*(Z f, const Mat& a) { return made(a.rows, a.columns, [&](int i, int j) { return f * a(i, j); }); }
static Mat operator+(const Mat& a, const Mat& b) { return made(a.rows, a.columns, [&](int i, int j) { return a(i, j) + b(i, j); }); }

enum Fill { SYMMETRIC, HERMITIAN, TRIANGULAR, UNIT };
// The whole matrix of which a triangle is stored.
static Mat whole(const Mat& a, int upper, Fill fill) {
  return made(a.rows, a.columns, [&](int i, int j) -> Z {
    if (i == j) return fill == UNIT ? Z(1) : fill == HERMITIAN ? Z(a(i, i).real()) : a(i, i);
    if (upper ? i < j : i > j) return a(i, j);
    return fill == SYMMETRIC ? a(j, i) : fill == HERMITIAN ? std::conj(a(j, i)) : Z(0);
  });
}

// A matrix that the library is given. `place` says where an element is, or that it is not stored.
template <class T> struct Dev {
  int rows, columns;
  std::function<long(int, int)> place;
  T* at;
  std::vector<T> before;

  Dev(int rows, int columns, long count, std::function<long(int, int)> place) : rows(rows), columns(columns), place(place) {
    cudaMallocManaged(&at, count * sizeof(T));
    for (long i = 0; i < count; i++) before.push_back(Of<T>::make(Z(draw(), draw())));
    memcpy(at, before.data(), count * sizeof(T));
  }
  Dev(const Dev&) = delete;
  ~Dev() { cudaFree(at); }

  Mat get() const {
    return made(rows, columns, [&](int i, int j) { return place(i, j) < 0 ? Z(0) : Of<T>::wide(before[place(i, j)]); });
  }
  // Large numbers in the diagonal, so that an equation has an exact solution.
  void fatten() {
    for (int i = 0; i < rows; i++) at[place(i, i)] = before[place(i, i)] = Of<T>::make(Of<T>::wide(before[place(i, i)]) + Z(4));
  }
  // What is stored has these values, and all other memory is as it was.
  void is(const string& name, const Mat& wanted, double error = error_of<T>()) {
    std::vector<T> now(before.size());
    memcpy(now.data(), at, now.size() * sizeof(T));
    std::vector<bool> stored(now.size());
    for (int j = 0; j < columns; j++)
      for (int i = 0; i < rows; i++) {
        long p = place(i, j);
        if (p < 0) continue;
        stored[p] = true;
        same(name, Of<T>::wide(now[p]), wanted(i, j), error);
      }
    for (size_t p = 0; p < now.size(); p++)
      if (!stored[p]) same(name + " beside its matrix", memcmp(&now[p], &before[p], sizeof(T)), 0, 0);
    before = now;
  }
};

template <class T> struct Matrix : Dev<T> {
  Matrix(int rows, int columns, int ld) : Dev<T>(rows, columns, (long)ld * columns, [=](int i, int j) { return i + (long)j * ld; }) {}
};
template <class T> struct Vector : Dev<T> {
  Vector(int n, int inc) : Dev<T>(n, 1, 1 + (long)(n - 1) * abs(inc), [=](int i, int) { return inc > 0 ? (long)i * inc : (long)(n - 1 - i) * -inc; }) {}
};
template <class T> struct Triangle : Dev<T> {
  Triangle(int n, int ld, int upper) : Dev<T>(n, n, (long)ld * n, [=](int i, int j) { return (upper ? i <= j : i >= j) ? i + (long)j * ld : -1; }) {}
};
template <class T> struct Packed : Dev<T> {
  Packed(int n, int upper)
      : Dev<T>(n, n, (long)n * (n + 1) / 2, [=](int i, int j) {
          if (upper ? i > j : i < j) return -1l;
          return upper ? i + (long)j * (j + 1) / 2 : i + (long)j * (2 * n - j - 1) / 2;
        }) {}
};
template <class T> struct Band : Dev<T> {
  Band(int rows, int columns, int below, int above, int ld)
      : Dev<T>(rows, columns, (long)ld * columns, [=](int i, int j) { return i - j <= below && j - i <= above ? above + i - j + (long)j * ld : -1; }) {}
};

// Some numbers for the library: on the host, or on the device, where old ones make room.
template <class T> T* place(const T* values, int count) {
  if (!on_device) return (T*)memcpy(malloc(count * sizeof(T)), values, count * sizeof(T));
  const int slots = 1 << 10, bytes = 64;
  static char* all;
  static int used;
  if (!all) cudaMalloc(&all, slots * bytes);
  T* at = (T*)(all + used++ % slots * bytes);
  cudaMemcpy(at, values, count * sizeof(T), cudaMemcpyHostToDevice);
  return at;
}
template <class T> T* scalar(Z value) {
  T made = Of<T>::make(value);
  return place(&made, 1);
}
template <class T> T fetch(T* at) {
  T value;
  cudaMemcpy(&value, at, sizeof(T), cudaMemcpyDefault);
  return value;
}
