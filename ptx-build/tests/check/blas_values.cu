// Calls each routine of cuBLAS, with all its operations, strides and places of scalars, and compares it with plain loops.
#include "blas_values.cuh"

static const int STEPS[] = {1, 2, -1, -3};

// A rotation that makes the second of two numbers zero.
template <class T> void rotations() {
  using R = typename Of<T>::Real;
  string l = letter<T>();
  for (Z a : {Z(3, 1), Z(-0.5, 2), Z(0)})
    for (Z b : {Z(-4, 2), Z(0.25, 1), Z(0)}) {
      T *p = scalar<T>(a), *q = scalar<T>(b), *s = scalar<T>(7);
      R* c = scalar<R>(7);
      Z x = Of<T>::wide(fetch(p)), y = Of<T>::wide(fetch(q));
      good("cublas" + l + "rotg_v2", p, q, c, s);
      Z r = Of<T>::wide(fetch(p)), cw = Of<R>::wide(fetch(c)), sw = Of<T>::wide(fetch(s));
      same("rotg r", cw * x + sw * y, r, error_of<T>());
      same("rotg 0", cw * y - std::conj(sw) * x, 0, 10 * error_of<T>());
      same("rotg c and s", std::norm(cw) + std::norm(sw), 1, error_of<T>());
    }
}

// Modified rotations: what the parameters say, and parameters that make an element zero.
template <class T> void modified() {
  string l = letter<T>();
  const int n = 5;
  auto five = [](std::vector<double> values) { return place(std::vector<T>(values.begin(), values.end()).data(), 5); };
  auto turned = [&](std::vector<double> h, T* at) {
    Vector<T> x(n, 2), y(n, -1);
    Mat u = x.get(), v = y.get();
    double f = h[0], a = f == 0 || f == -2 ? 1 : h[1], b = f == 1 ? -1 : f == -2 ? 0 : h[2], c = f == 1 ? 1 : f == -2 ? 0 : h[3],
           d = f == 0 || f == -2 ? 1 : h[4];
    good("cublas" + l + "rotm_v2", n, x.at, 2, y.at, -1, at);
    x.is("rotm x", a * u + c * v), y.is("rotm y", b * u + d * v);
    u = x.get(), v = y.get();
    good("cublasRotmEx", n, x.at, type_of<T>(), 2, y.at, type_of<T>(), -1, at, type_of<T>(), type_of<T>());
    x.is("RotmEx x", a * u + c * v), y.is("RotmEx y", b * u + d * v);
  };
  for (double flag : {-2, -1, 0, 1}) turned({flag, 0.5, -0.25, 0.75, 2}, five({flag, 0.5, -0.25, 0.75, 2}));
  for (auto& in : std::vector<std::vector<double>>{{2, 3, 1.5, -0.5}, {2, 3, 0.5, -1.5}, {1e9, 3, 2, 1}, {2, 1e-9, 2, 1}, {2, 3, 1, 0}, {-1, 3, 1, 1}}) {
    T *d1 = scalar<T>(in[0]), *d2 = scalar<T>(in[1]), *x1 = scalar<T>(in[2]), *y1 = scalar<T>(in[3]), *at = five({9, 9, 9, 9, 9});
    good("cublas" + l + "rotmg_v2", d1, d2, x1, y1, at);
    T h[5];
    cudaMemcpy(h, at, sizeof h, cudaMemcpyDefault);
    if (in[0] < 0) {
      same("rotmg of a negative", h[0], -1, 0), same("rotmg d1", fetch(d1), 0, 0);
      continue;
    }
    if (in[3] == 0) {
      same("rotmg of zero", h[0], -2, 0);
      continue;
    }
    double a = h[0] == 0 ? 1 : h[1], b = h[0] == 1 ? -1 : h[2], c = h[0] == 1 ? 1 : h[3], d = h[0] == 0 ? 1 : h[4];
    double x = a * in[2] + c * in[3], y = b * in[2] + d * in[3], dx = fetch(d1), dy = fetch(d2);
    same("rotmg x1", fetch(x1), x, error_of<T>()), same("rotmg y1", y, 0, 10 * error_of<T>());
    same("rotmg d1", dx * x * x, in[0] * in[2] * in[2] + in[1] * in[3] * in[3], 10 * error_of<T>());
    same("rotmg d2", fabs(dx) <= 1 << 24 && fabs(dy) <= 1 << 24, 1, 0);
  }
}

template <class T> void vectors() {
  using R = typename Of<T>::Real;
  string l = letter<T>();
  const int n = 7;
  Z alpha = Of<T>::wide(Of<T>::make(Z(0.5, -1.25)));
  for (int incx : STEPS)
    for (int incy : STEPS) {
      Vector<T> x(n, incx), y(n, incy);
      Mat u = x.get(), v = y.get();
      good("cublas" + l + "axpy_v2", n, scalar<T>(alpha), x.at, incx, y.at, incy);
      x.is("axpy x", u), y.is("axpy", v + alpha * u), v = y.get();
      good("cublas" + l + "swap_v2", n, x.at, incx, y.at, incy);
      x.is("swap x", v), y.is("swap y", u), u = x.get(), v = y.get();
      auto dots = Of<T>::is_complex ? std::vector<string>{"dotu", "dotc"} : std::vector<string>{"dot"};
      for (auto& dot : dots) {
        T* result = scalar<T>(0);
        good("cublas" + l + dot + "_v2", n, x.at, incx, y.at, incy, result);
        same(dot, Of<T>::wide(fetch(result)), (op(u, dot == "dotc" ? 2 : 1) * v)(0, 0), error_of<T>());
      }
      R* c = scalar<R>(0.6);
      T* s = scalar<T>(Z(0.8, 0.1));
      Z cw = Of<R>::wide(fetch(c)), sw = Of<T>::wide(fetch(s));
      good("cublas" + l + "rot_v2", n, x.at, incx, y.at, incy, c, s);
      x.is("rot x", cw * u + sw * v), y.is("rot y", cw * v + -std::conj(sw) * u), u = x.get(), v = y.get();
      if (Of<T>::is_complex) {
        R* s = scalar<R>(0.8);
        Z sw = Of<R>::wide(fetch(s));
        good(l == "C" ? "cublasCsrot_v2" : "cublasZdrot_v2", n, x.at, incx, y.at, incy, c, s);
        x.is("rot x", cw * u + sw * v), y.is("rot y", cw * v + -sw * u), u = x.get(), v = y.get();
      }
      good("cublas" + l + "copy_v2", n, x.at, incx, y.at, incy);
      x.is("copy x", u), y.is("copy", u);
    }
  rotations<T>();
  for (int incx : {1, 3}) {
    Vector<T> x(n, incx);
    Mat u = x.get();
    good("cublas" + l + "scal_v2", n, scalar<T>(alpha), x.at, incx);
    x.is("scal", alpha * u), u = x.get();
    if (Of<T>::is_complex) {
      good(l == "C" ? "cublasCsscal_v2" : "cublasZdscal_v2", n, scalar<R>(0.75), x.at, incx);
      x.is("scal", 0.75 * u), u = x.get();
    }
    double squares = 0, sizes = 0;
    int most = 0, least = 0;
    auto size = [&](int i) { return fabs(u(i, 0).real()) + fabs(u(i, 0).imag()); };
    for (int i = 0; i < n; i++) {
      squares += std::norm(u(i, 0)), sizes += size(i);
      if (size(i) > size(most)) most = i;
      if (size(i) < size(least)) least = i;
    }
    string r = l == "C" ? "Sc" : l == "Z" ? "Dz" : l;
    R* result = scalar<R>(0);
    good("cublas" + r + "nrm2_v2", n, x.at, incx, result);
    same("nrm2", Of<R>::wide(fetch(result)), sqrt(squares), error_of<T>());
    good("cublas" + r + "asum_v2", n, x.at, incx, result);
    same("asum", Of<R>::wide(fetch(result)), sizes, error_of<T>());
    string i = l == "S" ? "Is" : l == "D" ? "Id" : l == "C" ? "Ic" : "Iz";
    double* index = scalar<double>(0);
    auto found = [&] { return wide_numbers ? (double)fetch((int64_t*)index) : (double)fetch((int*)index); };
    good("cublas" + i + "amax_v2", n, x.at, incx, (void*)index);
    same("amax", found(), most + 1, 0);
    good("cublas" + i + "amin_v2", n, x.at, incx, (void*)index);
    same("amin", found(), least + 1, 0);
  }
}

// A product of a matrix and a vector, by any function.
template <class T> void times_vector(int incx, int incy, const Mat& a, std::function<void(T*, T*, T*, T*)> does, const string& name) {
  Vector<T> x(a.columns, incx), y(a.rows, incy);
  Z alpha(0.5, Of<T>::is_complex ? -1.25 : 0), beta(-0.75, Of<T>::is_complex ? 0.5 : 0);
  Mat wanted = alpha * (a * x.get()) + beta * y.get();
  does(scalar<T>(alpha), x.at, scalar<T>(beta), y.at);
  y.is(name, wanted);
}

template <class T> void matrices_and_vectors() {
  string l = letter<T>();
  const int m = 6, n = 5, ld = 8, below = 2, above = 1;
  for (int incx : STEPS)
    for (int incy : {2, -1})
      for (int o : {0, 1, 2}) {
        Matrix<T> a(m, n, ld);
        times_vector<T>(incx, incy, op(a.get(), o), [&](T* alpha, T* x, T* beta, T* y) {
          good("cublas" + l + "gemv_v2", o, m, n, alpha, a.at, ld, x, incx, beta, y, incy);
        }, "gemv");
        a.is("gemv a", a.get());
        Band<T> b(m, n, below, above, ld);
        times_vector<T>(incx, incy, op(b.get(), o), [&](T* alpha, T* x, T* beta, T* y) {
          good("cublas" + l + "gbmv_v2", o, m, n, below, above, alpha, b.at, ld, x, incx, beta, y, incy);
        }, "gbmv");
      }
  for (int incx : {1, -2})
    for (int upper : {0, 1}) {
      Triangle<T> a(n, ld, upper);
      Band<T> b(n, n, upper ? 0 : below, upper ? below : 0, ld);
      Packed<T> p(n, upper);
      auto each = [&](Fill fill, string matrix, string band, string packed) {
        auto with = [&](const Mat& of, const string& name, std::function<void(T*, T*, T*, T*)> does) {
          times_vector<T>(incx, 3, whole(of, upper, fill), does, name);
        };
        with(a.get(), matrix, [&](T* alpha, T* x, T* beta, T* y) {
          good("cublas" + l + matrix + "_v2", upper, n, alpha, a.at, ld, x, incx, beta, y, 3);
        });
        if (band.empty()) return;
        with(b.get(), band, [&](T* alpha, T* x, T* beta, T* y) {
          good("cublas" + l + band + "_v2", upper, n, below, alpha, b.at, ld, x, incx, beta, y, 3);
        });
        with(p.get(), packed, [&](T* alpha, T* x, T* beta, T* y) {
          good("cublas" + l + packed + "_v2", upper, n, alpha, p.at, x, incx, beta, y, 3);
        });
      };
      each(SYMMETRIC, "symv", Of<T>::is_complex ? "" : "sbmv", "spmv");
      if (Of<T>::is_complex) each(HERMITIAN, "hemv", "hbmv", "hpmv");
      a.fatten(), b.fatten(), p.fatten();
      for (int o : {0, 1, 2})
        for (int unit : {0, 1}) {
          auto with = [&](const Mat& of, const string& name, std::function<void(string, T*)> does) {
            Mat full = op(whole(of, upper, unit ? UNIT : TRIANGULAR), o);
            Vector<T> x(n, incx);
            Mat u = x.get();
            does("cublas" + l + name + "mv_v2", x.at);
            x.is(name + "mv", full * u);
            // The solution is what it was before.
            does("cublas" + l + name + "sv_v2", x.at);
            x.is(name + "sv", u, 50 * error_of<T>());
          };
          with(a.get(), "tr", [&](string name, T* x) { good(name, upper, o, unit, n, a.at, ld, x, incx); });
          with(b.get(), "tb", [&](string name, T* x) { good(name, upper, o, unit, n, below, b.at, ld, x, incx); });
          with(p.get(), "tp", [&](string name, T* x) { good(name, upper, o, unit, n, p.at, x, incx); });
        }
    }
}

template <class T> void updates() {
  using R = typename Of<T>::Real;
  string l = letter<T>();
  const int m = 6, n = 5, ld = 8;
  Z alpha(0.5, Of<T>::is_complex ? -1.25 : 0);
  for (int incx : STEPS)
    for (int incy : {2, -1}) {
      for (int o : {1, 2}) {
        if (o == 2 && !Of<T>::is_complex) continue;
        Matrix<T> a(m, n, ld);
        Vector<T> x(m, incx), y(n, incy);
        Mat wanted = a.get() + alpha * (x.get() * op(y.get(), o));
        string name = !Of<T>::is_complex ? "ger" : o == 1 ? "geru" : "gerc";
        good("cublas" + l + name + "_v2", m, n, scalar<T>(alpha), x.at, incx, y.at, incy, a.at, ld);
        a.is(name, wanted);
      }
      for (int upper : {0, 1})
        for (int hermitian : {0, 1}) {
          if (hermitian && !Of<T>::is_complex) continue;
          string s = hermitian ? "he" : "sy", p = hermitian ? "hp" : "sp";
          Triangle<T> a(n, ld, upper);
          Packed<T> packed(n, upper);
          Vector<T> x(n, incx), y(n, incy);
          Mat u = x.get(), v = y.get();
          int o = hermitian ? 2 : 1;
          auto real = [&](Mat sum) {
            if (hermitian) for (int i = 0; i < n; i++) sum(i, i) = sum(i, i).real();
            return sum;
          };
          void* one = hermitian ? (void*)scalar<R>(0.5) : (void*)scalar<T>(alpha);
          Mat more = (hermitian ? Z(0.5) : alpha) * (u * op(u, o)), old = a.get();
          good("cublas" + l + s + "r_v2", upper, n, one, x.at, incx, a.at, ld);
          a.is(s + "r", real(old + more)), old = a.get();
          Mat both = alpha * (u * op(v, o)) + (hermitian ? std::conj(alpha) : alpha) * (v * op(u, o));
          good("cublas" + l + s + "r2_v2", upper, n, scalar<T>(alpha), x.at, incx, y.at, incy, a.at, ld);
          a.is(s + "r2", real(old + both));
          if (p == "sp" && Of<T>::is_complex) continue;
          old = packed.get();
          good("cublas" + l + p + "r_v2", upper, n, one, x.at, incx, packed.at);
          packed.is(p + "r", real(old + more)), old = packed.get();
          good("cublas" + l + p + "r2_v2", upper, n, scalar<T>(alpha), x.at, incx, y.at, incy, packed.at);
          packed.is(p + "r2", real(old + both));
        }
    }
  if (!wide_numbers)
    for (int upper : {0, 1}) {
      Triangle<T> a(n, ld, upper), b(n, ld, upper);
      Packed<T> p(n, upper);
      good("cublas" + l + "trttp", upper, n, a.at, ld, p.at);
      p.is("trttp", a.get());
      good("cublas" + l + "tpttr", upper, n, p.at, b.at, ld);
      b.is("tpttr", a.get());
    }
}

template <class T> void matrices() {
  using R = typename Of<T>::Real;
  string l = letter<T>();
  const int m = 6, n = 5, k = 4, ld = 8;
  bool complex = Of<T>::is_complex;
  for (Z alpha : {Z(0.5, complex ? -1.25 : 0), Z(0)})
    for (Z beta : {Z(-0.75, complex ? 0.5 : 0), Z(0)}) {
      // Where beta is zero, C is not read.
      auto old = [&](Mat c) { return beta == Z(0) ? Mat(c.rows, c.columns) : beta * c; };
      for (int oa : {0, 1, 2})
        for (int ob : {0, 1, 2}) {
          Matrix<T> a(oa ? k : m, oa ? m : k, ld), b(ob ? n : k, ob ? k : n, ld + 1), c(m, n, ld + 2);
          if (beta == Z(0)) c.at[0] = Of<T>::make(Z(0.0 / 0.0));
          auto names = complex ? std::vector<string>{"gemm_v2", "gemm3m"} : std::vector<string>{"gemm_v2"};
          for (auto& name : names) {
            Mat wanted = alpha * (op(a.get(), oa) * op(b.get(), ob)) + old(c.get());
            good("cublas" + l + name, oa, ob, m, n, k, scalar<T>(alpha), a.at, ld, b.at, ld + 1, scalar<T>(beta), c.at, ld + 2);
            c.is(name, wanted);
          }
          Matrix<T> p(oa ? n : m, oa ? m : n, ld), q(ob ? n : m, ob ? m : n, ld), r(m, n, ld);
          good("cublas" + l + "geam", oa, ob, m, n, scalar<T>(alpha), p.at, ld, scalar<T>(beta), q.at, ld, r.at, ld);
          r.is("geam", alpha * op(p.get(), oa) + beta * op(q.get(), ob));
        }
      for (int right : {0, 1})
        for (int upper : {0, 1}) {
          int order = right ? n : m;
          Triangle<T> a(order, ld, upper);
          Matrix<T> b(m, n, ld), c(m, n, ld);
          for (Fill fill : {SYMMETRIC, HERMITIAN}) {
            if (fill == HERMITIAN && !complex) continue;
            Mat full = whole(a.get(), upper, fill);
            Mat wanted = alpha * (right ? b.get() * full : full * b.get()) + old(c.get());
            good("cublas" + l + (fill == SYMMETRIC ? "symm_v2" : "hemm_v2"), right, upper, m, n, scalar<T>(alpha), a.at, ld, b.at, ld,
                 scalar<T>(beta), c.at, ld);
            c.is("symm", wanted);
          }
          if (beta != Z(0)) continue;
          a.fatten();
          for (int o : {0, 1, 2})
            for (int unit : {0, 1}) {
              Mat full = op(whole(a.get(), upper, unit ? UNIT : TRIANGULAR), o);
              Mat product = right ? b.get() * full : full * b.get(), before = b.get();
              good("cublas" + l + "trmm_v2", right, upper, o, unit, m, n, scalar<T>(alpha), a.at, ld, b.at, ld, c.at, ld);
              c.is("trmm", alpha * product);
              good("cublas" + l + "trmm_v2", right, upper, o, unit, m, n, scalar<T>(1), a.at, ld, b.at, ld, b.at, ld);
              b.is("trmm in its place", product);
              good("cublas" + l + "trsm_v2", right, upper, o, unit, m, n, scalar<T>(alpha), a.at, ld, b.at, ld);
              b.is("trsm", alpha * before, 50 * error_of<T>());
            }
        }
      for (int upper : {0, 1})
        for (int o : {0, 1, 2})
          for (int hermitian : {0, 1}) {
            if (complex ? o == (hermitian ? 1 : 2) : hermitian) continue;
            string s = hermitian ? "he" : "sy";
            Matrix<T> a(o ? k : n, o ? n : k, ld), b(o ? k : n, o ? n : k, ld);
            Triangle<T> c(n, ld, upper);
            Z real_alpha = hermitian ? Z(alpha.real()) : alpha, real_beta = hermitian ? Z(beta.real()) : beta;
            int t = hermitian ? 2 : 1;
            Mat x = op(a.get(), o), y = op(b.get(), o);
            auto wanted = [&](Mat sum) {
              sum = sum + (beta == Z(0) ? Mat(n, n) : real_beta * c.get());
              if (hermitian) for (int i = 0; i < n; i++) sum(i, i) = sum(i, i).real();
              return sum;
            };
            auto real = [&](Z value) { return hermitian ? (void*)scalar<R>(value) : (void*)scalar<T>(value); };
            Mat is = wanted(real_alpha * (x * op(x, t)));
            good("cublas" + l + s + "rk_v2", upper, o, n, k, real(real_alpha), a.at, ld, real(real_beta), c.at, ld);
            c.is(s + "rk", is);
            if (l == "C")
              for (const char* more : {"rkEx", "rk3mEx"}) {
                is = wanted(real_alpha * (x * op(x, t)));
                good("cublasC" + s + more, upper, o, n, k, real(real_alpha), a.at, 4, ld, real(real_beta), c.at, 4, ld);
                c.is(more, is);
              }
            is = wanted(alpha * (x * op(y, t)) + (hermitian ? std::conj(alpha) : alpha) * (y * op(x, t)));
            good("cublas" + l + s + "r2k_v2", upper, o, n, k, scalar<T>(alpha), a.at, ld, b.at, ld, real(real_beta), c.at, ld);
            c.is(s + "r2k", is);
            is = wanted(alpha * (x * op(y, t)));
            good("cublas" + l + s + "rkx", upper, o, n, k, scalar<T>(alpha), a.at, ld, b.at, ld, real(real_beta), c.at, ld);
            c.is(s + "rkx", is);
          }
    }
  for (int right : {0, 1})
    for (int inc : {1, -2}) {
      Matrix<T> a(m, n, ld), c(m, n, ld);
      Vector<T> x(right ? n : m, inc);
      Mat u = x.get(), old = a.get();
      good("cublas" + l + "dgmm", right, m, n, a.at, ld, x.at, inc, c.at, ld);
      c.is("dgmm", made(m, n, [&](int i, int j) { return old(i, j) * u(right ? j : i, 0); }));
    }
}

#include "blas_batches.cuh"

template <class T> void all() {
  vectors<T>();
  matrices_and_vectors<T>();
  updates<T>();
  matrices<T>();
  batches<T>();
}

int main() {
  // Its name has no twin for numbers of 64 bits.
  call("cublasCreate_v2", &handle);
  for (int mode : {0, 1}) {
    wide_numbers = false, on_device = mode;
    call("cublasSetPointerMode_v2", handle, mode);
    for (bool wide : {false, true}) {
      wide_numbers = wide;
      all<float>(), all<double>(), all<C>(), all<Z>();
      modified<float>(), modified<double>();
      types();
    }
  }
  wide_numbers = false;
  call("cublasDestroy_v2", handle);
  printf("%d wrong of %d values, %zu functions\n", wrong, comparisons, called.size());
}
