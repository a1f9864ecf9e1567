// Batches, and products of other types.
#pragma once
#include "blas_values.cuh"

// The matrices of a batch, at a fixed distance from each other, and pointers to them in device memory.
template <class T> struct Batch {
  int rows, columns, ld, count;
  long apart;
  Matrix<T> all;
  T** pointers;

  Batch(int rows, int columns, int ld, int count)
      : rows(rows), columns(columns), ld(ld), count(count), apart(ld * columns), all(rows, columns * count, ld) {
    cudaMallocManaged(&pointers, count * sizeof(T*));
    for (int i = 0; i < count; i++) pointers[i] = all.at + i * apart;
  }
  ~Batch() { cudaFree(pointers); }
  Mat get(int b) const {
    Mat whole = all.get();
    return made(rows, columns, [&](int i, int j) { return whole(i, j + b * columns); });
  }
  void is(const string& name, std::function<Mat(int)> wanted, double error = error_of<T>()) {
    std::vector<Mat> parts;
    for (int b = 0; b < count; b++) parts.push_back(wanted(b));
    all.is(name, made(rows, columns * count, [&](int i, int j) { return parts[j / columns](i, j % columns); }), error);
  }
};

template <class T> void batches() {
  string l = letter<T>();
  const int m = 5, n = 4, k = 3, ld = 7, count = 3;
  Z alpha = Z(0.5, Of<T>::is_complex ? 1 : 0), beta(-0.75);
  for (int oa : {0, 1, 2})
    for (int ob : {0, 2}) {
      Batch<T> a(oa ? k : m, oa ? m : k, ld, count), b(ob ? n : k, ob ? k : n, ld, count), c(m, n, ld, count);
      auto wanted = [&](int i) { return alpha * (op(a.get(i), oa) * op(b.get(i), ob)) + beta * c.get(i); };
      good("cublas" + l + "gemmBatched", oa, ob, m, n, k, scalar<T>(alpha), a.pointers, ld, b.pointers, ld, scalar<T>(beta), c.pointers, ld, count);
      c.is("gemmBatched", wanted);
      good("cublas" + l + "gemmStridedBatched", oa, ob, m, n, k, scalar<T>(alpha), a.all.at, ld, a.apart, b.all.at, ld, b.apart,
           scalar<T>(beta), c.all.at, ld, c.apart, count);
      c.is("gemmStridedBatched", wanted);
      if (l == "C") {
        good("cublasCgemm3mBatched", oa, ob, m, n, k, scalar<T>(alpha), a.pointers, ld, b.pointers, ld, scalar<T>(beta), c.pointers, ld, count);
        c.is("gemm3mBatched", wanted);
        good("cublasCgemm3mStridedBatched", oa, ob, m, n, k, scalar<T>(alpha), a.all.at, ld, a.apart, b.all.at, ld, b.apart,
             scalar<T>(beta), c.all.at, ld, c.apart, count);
        c.is("gemm3mStridedBatched", wanted);
      }
    }
  for (int o : {0, 1}) {
    Batch<T> a(m, n, ld, count), x(o ? m : n, 1, ld, count), y(o ? n : m, 1, ld, count);
    auto wanted = [&](int i) { return alpha * (op(a.get(i), o) * x.get(i)) + beta * y.get(i); };
    good("cublas" + l + "gemvBatched", o, m, n, scalar<T>(alpha), a.pointers, ld, x.pointers, 1, scalar<T>(beta), y.pointers, 1, count);
    y.is("gemvBatched", wanted);
    good("cublas" + l + "gemvStridedBatched", o, m, n, scalar<T>(alpha), a.all.at, ld, a.apart, x.all.at, 1, x.apart, scalar<T>(beta),
         y.all.at, 1, y.apart, count);
    y.is("gemvStridedBatched", wanted);
  }
  Batch<T> a(m, m, ld, count), b(m, n, ld, count);
  good("cublas" + l + "trsmBatched", 0, 1, 0, 1, m, n, scalar<T>(alpha), a.pointers, ld, b.pointers, ld, count);
  std::vector<Mat> old;
  for (int i = 0; i < count; i++) old.push_back(b.get(i));
  std::vector<T> now(b.all.before.size());
  memcpy(now.data(), b.all.at, now.size() * sizeof(T));
  b.all.before = now;
  for (int i = 0; i < count; i++) {
    Mat product = whole(a.get(i), 1, UNIT) * b.get(i), is = alpha * old[i];
    for (size_t e = 0; e < is.v.size(); e++) same("trsmBatched", product.v[e], is.v[e], 50 * error_of<T>());
  }
}

// `cudaDataType_t`
template <class T> int type();
template <> inline int type<float>() { return 0; }
template <> inline int type<double>() { return 1; }
template <> inline int type<Half>() { return 2; }
template <> inline int type<int8_t>() { return 3; }
template <> inline int type<C>() { return 4; }
template <> inline int type<Z>() { return 5; }
template <> inline int type<int>() { return 10; }
template <> inline int type<Brain>() { return 14; }

template <> struct Of<int8_t> {
  using Real = int8_t;
  static int8_t make(Z z) { return (int8_t)lrint(100 * z.real()); }
  static Z wide(int8_t x) { return x; }
};
template <> struct Of<int> {
  using Real = int;
  static int make(Z z) { return (int)lrint(z.real()); }
  static Z wide(int x) { return x; }
};

// A product of A and B of one type, to C of another, computed in one with scalars of a third.
template <class In, class Out, class Scale> void product(int compute, Z alpha, Z beta) {
  const int m = 5, n = 4, k = 6, ld = 8, count = 2, algorithm = -1;
  double error = error_of<Out>() + (sizeof(Out) > 2 && sizeof(In) > 1 ? error_of<Scale>() : 0);
  for (int oa : {0, 1})
    for (int ob : {0, 1}) {
      Batch<In> a(oa ? k : m, oa ? m : k, ld, count), b(ob ? n : k, ob ? k : n, ld, count);
      Batch<Out> c(m, n, ld, count);
      auto of = [&](int i) { return alpha * (op(a.get(i), oa) * op(b.get(i), ob)) + beta * c.get(i); };
      auto first = [&](int i) { return i ? c.get(i) : of(i); };
      int in = type<In>(), out = type<Out>();
      good("cublasGemmEx", oa, ob, m, n, k, scalar<Scale>(alpha), a.all.at, in, ld, b.all.at, in, ld, scalar<Scale>(beta), c.all.at, out,
           ld, compute, algorithm);
      c.is("GemmEx", first, error);
      good("cublasGemmBatchedEx", oa, ob, m, n, k, scalar<Scale>(alpha), a.pointers, in, ld, b.pointers, in, ld, scalar<Scale>(beta),
           c.pointers, out, ld, count, compute, algorithm);
      c.is("GemmBatchedEx", of, error);
      good("cublasGemmStridedBatchedEx", oa, ob, m, n, k, scalar<Scale>(alpha), a.all.at, in, ld, a.apart, b.all.at, in, ld, b.apart,
           scalar<Scale>(beta), c.all.at, out, ld, c.apart, count, compute, algorithm);
      c.is("GemmStridedBatchedEx", of, error);
      if (compute != 68) continue;
      if (sizeof(Scale) == 4)
        good("cublasSgemmEx", oa, ob, m, n, k, scalar<Scale>(alpha), a.all.at, in, ld, b.all.at, in, ld, scalar<Scale>(beta), c.all.at, out, ld);
      else
        good("cublasCgemmEx", oa, ob, m, n, k, scalar<Scale>(alpha), a.all.at, in, ld, b.all.at, in, ld, scalar<Scale>(beta), c.all.at, out, ld);
      c.is("gemmEx", first, error);
    }
}

template <class T> void halves(const string& name, int compute_type) {
  (void)compute_type;
  const int m = 5, n = 4, ld = 7, count = 2;
  for (bool to_float : {false, true})
    for (int o : {0, 1}) {
      Batch<T> a(m, n, ld, count), x(o ? m : n, 1, ld, count);
      auto check = [&](auto& y, const string& full) {
        auto wanted = [&](int i) { return 0.5 * (op(a.get(i), o) * x.get(i)) + -0.75 * y.get(i); };
        good(full + "gemvBatched", o, m, n, scalar<float>(0.5), a.pointers, ld, x.pointers, 1, scalar<float>(-0.75), y.pointers, 1, count);
        y.is("gemvBatched", wanted);
        good(full + "gemvStridedBatched", o, m, n, scalar<float>(0.5), a.all.at, ld, a.apart, x.all.at, 1, x.apart, scalar<float>(-0.75),
             y.all.at, 1, y.apart, count);
        y.is("gemvStridedBatched", wanted);
      };
      if (to_float) {
        Batch<float> y(o ? n : m, 1, ld, count);
        check(y, "cublas" + name + "SS");
      } else {
        Batch<T> y(o ? n : m, 1, ld, count);
        check(y, "cublas" + name + "S" + name);
      }
    }
}

template <class T, class Scale> void vectors_of(Z alpha) {
  const int n = 7, kind = type<T>(), scale = type<Scale>(), in = sizeof(T) == 2 ? 0 : kind;
  Vector<T> x(n, 2), y(n, -1);
  Mat u = x.get(), v = y.get();
  good("cublasAxpyEx", n, scalar<Scale>(alpha), scale, x.at, kind, 2, y.at, kind, -1, in);
  y.is("AxpyEx", v + alpha * u), v = y.get();
  good("cublasScalEx", n, scalar<Scale>(alpha), scale, x.at, kind, 2, in);
  x.is("ScalEx", alpha * u), u = x.get();
  T* result = scalar<T>(0);
  for (int adjoint : {0, 1}) {
    good(adjoint ? "cublasDotcEx" : "cublasDotEx", n, x.at, kind, 2, y.at, kind, -1, result, kind, in);
    same("DotEx", Of<T>::wide(fetch(result)), (op(u, adjoint ? 2 : 1) * v)(0, 0), error_of<T>());
  }
  good("cublasSwapEx", n, x.at, kind, 2, y.at, kind, -1);
  x.is("SwapEx", v), y.is("SwapEx", u);
  good("cublasCopyEx", n, x.at, kind, 2, y.at, kind, -1);
  y.is("CopyEx", v);
  using R = typename Of<T>::Real;
  R* norm = scalar<R>(0);
  good("cublasNrm2Ex", n, x.at, kind, 2, norm, type<R>(), in);
  same("Nrm2Ex", Of<R>::wide(fetch(norm)), sqrt((op(v, 2) * v)(0, 0)), error_of<T>());
  double sum = 0;
  int most = 0, least = 0;
  auto size = [&](int i) { return fabs(v(i, 0).real()) + fabs(v(i, 0).imag()); };
  for (int i = 0; i < n; i++) {
    sum += size(i);
    if (size(i) > size(most)) most = i;
    if (size(i) < size(least)) least = i;
  }
  good("cublasAsumEx", n, x.at, kind, 2, norm, type<R>(), in);
  same("AsumEx", Of<R>::wide(fetch(norm)), sum, error_of<T>());
  int64_t* index = (int64_t*)scalar<double>(0);
  good("cublasIamaxEx", n, x.at, kind, 2, (void*)index);
  same("IamaxEx", (double)(int)fetch(index), most + 1, 0);
  good("cublasIaminEx", n, x.at, kind, 2, (void*)index);
  same("IaminEx", (double)(int)fetch(index), least + 1, 0);
  R* c = scalar<R>(0.5);
  T* s = scalar<T>(0.25);
  Mat p = x.get(), q = y.get();
  good("cublasRotEx", n, x.at, kind, 2, y.at, kind, -1, c, s, kind, in);
  x.is("RotEx", 0.5 * p + 0.25 * q), y.is("RotEx", 0.5 * q + -0.25 * p);
}

// Two groups of products, with sizes of their own. All are of one type.
template <class T> void grouped(const string& name, std::function<int(const void*, const void*, const void*, const void*, const void*, const T*,
                                                                       T**, const void*, T**, const void*, const T*, T**, const void*, const void*)> does) {
  const int m[] = {5, 3}, n[] = {4, 2}, k[] = {6, 5}, op_a[] = {0, 1}, op_b[] = {1, 0}, count[] = {2, 1}, ld = 8;
  T alpha[] = {T(0.5), T(2)}, beta[] = {T(-0.75), T(0.25)};
  Batch<T> a(5, 6, ld, 2), b(4, 6, ld, 2), c(5, 4, ld, 2), p(5, 3, ld, 1), q(5, 2, ld, 1), r(3, 2, ld, 1);
  T** all;
  cudaMallocManaged(&all, 9 * sizeof(T*));
  auto fill = [&](int at, Batch<T>& two, Batch<T>& one) { all[at] = two.pointers[0], all[at + 1] = two.pointers[1], all[at + 2] = one.pointers[0]; };
  fill(0, a, p), fill(3, b, q), fill(6, c, r);
  auto numbers = [](std::vector<int> v) -> const void* {
    auto wide = new int64_t[2]{v[0], v[1]};
    auto narrow = new int[2]{v[0], v[1]};
    return wide_numbers ? (const void*)wide : (const void*)narrow;
  };
  auto of = [&](const int* v) { return numbers({v[0], v[1]}); };
  const void* lds = numbers({ld, ld});
  same(name + " returns", does(op_a, op_b, of(m), of(n), of(k), alpha, all, lds, all + 3, lds, beta, all + 6, lds, of(count)), 0, 0);
  cudaDeviceSynchronize();
  c.is(name, [&](int i) { return 0.5 * (a.get(i) * op(b.get(i), 1)) + -0.75 * c.get(i); });
  r.is(name, [&](int) { return 2.0 * (op(p.get(0), 1) * q.get(0)) + 0.25 * r.get(0); });
}

template <class T> void groups() {
  string name = "cublas" + letter<T>() + "gemmGroupedBatched";
  grouped<T>(name, [&](auto oa, auto ob, auto m, auto n, auto k, auto alpha, auto a, auto lda, auto b, auto ldb, auto beta, auto c, auto ldc,
                       auto count) { return call(name, handle, oa, ob, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 2, count); });
  int kind = type<T>(), compute = kind ? 70 : 68;
  grouped<T>("cublasGemmGroupedBatchedEx", [&](auto oa, auto ob, auto m, auto n, auto k, auto alpha, auto a, auto lda, auto b, auto ldb,
                                               auto beta, auto c, auto ldc, auto count) {
    return call("cublasGemmGroupedBatchedEx", handle, oa, ob, m, n, k, alpha, a, kind, lda, b, kind, ldb, beta, c, kind, ldc, 2, count, compute);
  });
}

static void types() {
  const int f16 = 64, f32 = 68, tf32 = 77, f64 = 70, i32 = 72;
  product<float, float, float>(f32, 0.5, -0.75);
  product<float, float, float>(tf32, 0.5, 0);
  product<double, double, double>(f64, 0.5, -0.75);
  product<C, C, C>(f32, Z(0.5, 1), -0.75);
  product<Z, Z, Z>(f64, Z(0.5, 1), -0.75);
  product<Half, Half, Half>(f16, 0.5, -0.75);
  product<Half, Half, float>(f32, 0.5, -0.75);
  product<Half, float, float>(f32, 0.5, -0.75);
  product<Brain, Brain, float>(f32, 0.5, -0.75);
  product<Brain, float, float>(f32, 0.5, -0.75);
  product<int8_t, float, float>(f32, 0.5, -0.75);
  product<int8_t, int, int>(i32, 2, -3);
  halves<Half>("H", f32);
  halves<Brain>("T", f32);
  vectors_of<float, float>(0.5);
  vectors_of<double, double>(0.5);
  vectors_of<C, C>(Z(0.5, 1));
  vectors_of<Z, Z>(Z(0.5, 1));
  vectors_of<Half, float>(0.5);
  vectors_of<Brain, float>(0.5);
  if (!on_device) groups<float>(), groups<double>();
  // Half numbers by names of their own.
  const int m = 5, n = 4, k = 3, ld = 7, count = 2;
  Batch<Half> a(m, k, ld, count), b(k, n, ld, count), c(m, n, ld, count);
  auto wanted = [&](int i) { return 0.5 * (a.get(i) * b.get(i)) + -0.75 * c.get(i); };
  auto alpha = scalar<Half>(0.5), beta = scalar<Half>(-0.75);
  good("cublasHgemm", 0, 0, m, n, k, alpha, a.all.at, ld, b.all.at, ld, beta, c.all.at, ld);
  c.is("Hgemm", [&](int i) { return i ? c.get(i) : wanted(i); });
  good("cublasHgemmBatched", 0, 0, m, n, k, alpha, a.pointers, ld, b.pointers, ld, beta, c.pointers, ld, count);
  c.is("HgemmBatched", wanted);
  good("cublasHgemmStridedBatched", 0, 0, m, n, k, alpha, a.all.at, ld, a.apart, b.all.at, ld, b.apart, beta, c.all.at, ld, c.apart, count);
  c.is("HgemmStridedBatched", wanted);
}
