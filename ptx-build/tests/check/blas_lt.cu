// Products of cuBLASLt: orders, batches, types, epilogues and factors, compared with plain loops.
#include "blas_batches.cuh"

enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72 };
enum { RELU = 2, BIAS = 4, DRELU = 8 | 128, BGRAD = 16, GELU = 32, DGELU = 64 | 128, AUX = 128, BGRADA = 256, BGRADB = 512 };
// Attributes of a product.
enum { TRANSA = 3, TRANSB = 4, EPILOGUE = 7, BIAS_POINTER = 8, AUX_POINTER = 11, AUX_LD = 12, A_SCALE = 17, B_SCALE = 18, D_SCALE = 20, AMAX_D = 21, BIAS_TYPE = 26 };

struct E4 {
  uint8_t bits;
};
template <> struct Of<E4> {
  static constexpr bool is_complex = false;
  using Real = E4;
  static E4 make(Z z) {
    double size = std::min(fabs(z.real()), 448.0);
    int exponent = size > 0 ? std::max(ilogb(size), -6) : -6;
    long bits = lrint(ldexp(size, 3 - exponent)) + ((exponent + 6) << 3);
    return {(uint8_t)(bits | (z.real() < 0 ? 0x80 : 0))};
  }
  static Z wide(E4 x) {
    int exponent = x.bits >> 3 & 15;
    double size = ldexp((x.bits & 7) + (exponent ? 8 : 0), std::max(exponent, 1) - 10);
    return x.bits & 0x80 ? -size : size;
  }
};
template <> int type<E4>() { return 28; }

struct Product {
  void* what;
  Product(int compute, int scale) { same("desc", call("cublasLtMatmulDescCreate", &what, compute, scale), 0, 0); }
  template <class T> void set(int attribute, T value) {
    same("set", call("cublasLtMatmulDescSetAttribute", what, attribute, (const void*)&value, sizeof value), 0, 0);
    T back;
    size_t written;
    same("get", call("cublasLtMatmulDescGetAttribute", what, attribute, (void*)&back, sizeof back, &written), 0, 0);
    same("the attribute", memcmp(&back, &value, sizeof value), 0, 0), same("its bytes", (double)written, sizeof value, 0);
  }
};

static void* layout(int kind, long rows, long columns, long ld, int order = 0, int batch = 1, long apart = 0) {
  void* made;
  same("layout", call("cublasLtMatrixLayoutCreate", &made, kind, (uint64_t)rows, (uint64_t)columns, (int64_t)ld), 0, 0);
  auto set = [&](int attribute, auto value) {
    same("layout", call("cublasLtMatrixLayoutSetAttribute", made, attribute, (const void*)&value, sizeof value), 0, 0);
  };
  set(1, order), set(5, batch), set(6, (int64_t)apart);
  return made;
}

struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

static void multiply(Product& p, const void* alpha, const void* a, void* la, const void* b, void* lb, const void* beta, const void* c, void* lc,
                     void* d, void* ld) {
  Heuristic found;
  int count = 0;
  void* wishes;
  call("cublasLtMatmulPreferenceCreate", &wishes);
  good("cublasLtMatmulAlgoGetHeuristic", p.what, la, lb, lc, ld, wishes, 1, (void*)&found, &count);
  same("algorithms", count, 1, 0), same("the state", found.state, 0, 0);
  good("cublasLtMatmul", p.what, alpha, a, la, b, lb, beta, c, lc, d, ld, (const void*)&found, (void*)0, (size_t)0, (void*)0);
}

// A matrix by rows.
template <class T> struct ByRows : Dev<T> {
  ByRows(int rows, int columns, int ld) : Dev<T>(rows, columns, (long)rows * ld, [=](int i, int j) { return j + (long)i * ld; }) {}
};

template <class T, class Scale> void orders(int compute) {
  const int m = 5, n = 4, k = 6, ld = 8;
  Z alpha(0.5, Of<T>::is_complex ? 1 : 0), beta = -0.75;
  for (int mask = 0; mask < 8; mask++)
    for (int oa : {0, 1, 2})
      for (int ob : {0, 1, 2}) {
        int ra = oa ? k : m, ca = oa ? m : k, rb = ob ? n : k, cb = ob ? k : n;
        auto made = [&](bool by_rows, int rows, int columns) -> Dev<T>* {
          if (by_rows) return new ByRows<T>(rows, columns, ld);
          return new Matrix<T>(rows, columns, ld);
        };
        auto *a = made(mask & 1, ra, ca), *b = made(mask & 2, rb, cb), *c = made(mask & 4, m, n), *d = made(mask & 4, m, n);
        Product p(compute, type<Scale>());
        p.set(TRANSA, oa), p.set(TRANSB, ob);
        auto of = [&](Dev<T>* x, bool by_rows) { return layout(type<T>(), x->rows, x->columns, ld, by_rows); };
        Mat wanted = alpha * (op(a->get(), oa) * op(b->get(), ob)) + beta * c->get();
        multiply(p, new Scale(Of<Scale>::make(alpha)), a->at, of(a, mask & 1), b->at, of(b, mask & 2), new Scale(Of<Scale>::make(beta)), c->at,
                 of(c, mask & 4), d->at, of(d, mask & 4));
        d->is("cublasLtMatmul", wanted), c->is("its C", c->get());
      }
}

template <class In, class Out, class Scale> void batches_of(int compute, Z alpha, Z beta) {
  const int m = 5, n = 4, k = 6, ld = 8, count = 3;
  Batch<In> a(k, m, ld, count), b(k, n, ld, count);
  Batch<Out> c(m, n, ld, count);
  Product p(compute, type<Scale>());
  p.set(TRANSA, 1);
  auto of = [&](auto& x, int kind) { return layout(kind, x.rows, x.columns, ld, 0, count, x.apart); };
  auto wanted = [&](int i) {
    Mat sums = alpha * (op(a.get(i), 1) * b.get(i)) + beta * c.get(i);
    if (sizeof(Out) == 1) for (Z& sum : sums.v) sum = rint(sum.real());
    return sums;
  };
  void* lc = of(c, type<Out>());
  multiply(p, new Scale(Of<Scale>::make(alpha)), a.all.at, of(a, type<In>()), b.all.at, of(b, type<In>()), new Scale(Of<Scale>::make(beta)),
           c.all.at, lc, c.all.at, lc);
  c.is("cublasLtMatmul of a batch", wanted, error_of<Out>() + 1e-5);
}

static double gelu(double x) { return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
static double slope(double x) { return (gelu(x + 1e-6) - gelu(x - 1e-6)) / 2e-6; }
static Mat each(const Mat& a, std::function<double(double)> f) { return made(a.rows, a.columns, [&](int i, int j) { return f(a(i, j).real()); }); }

static void epilogues() {
  const int m = 11, n = 4, k = 6, ld = 16, bits = 128;
  float one = 1, zero = 0;
  const int all[] = {1, RELU, BIAS, RELU | BIAS, RELU | AUX, RELU | AUX | BIAS, GELU, GELU | BIAS, GELU | AUX, GELU | AUX | BIAS, DRELU, DGELU,
                     DRELU | BGRAD, DGELU | BGRAD, BGRADA, BGRADB};
  for (int epilogue : all) {
    string name = "epilogue " + std::to_string(epilogue);
    Matrix<float> a(m, k, ld), b(k, n, ld), d(m, n, ld), aux(m, n, ld);
    Vector<float> bias(epilogue & BGRADB ? n : m, 1);
    Matrix<int8_t> mask((m + 7) / 8, n, bits / 8);
    bool by_mask = epilogue & (RELU | 8);
    Product p(COMPUTE_32F, 0);
    p.set(EPILOGUE, epilogue), p.set(BIAS_POINTER, bias.at);
    p.set(AUX_POINTER, by_mask ? (void*)mask.at : (void*)aux.at), p.set(AUX_LD, (int64_t)(by_mask ? bits : ld));
    Mat sums = a.get() * b.get(), kept = aux.get();
    auto bit = [&](int i, int j) { return (uint8_t)mask.at[i / 8 + j * (bits / 8)] >> (i % 8) & 1; };
    if (epilogue & BIAS) sums = made(m, n, [&](int i, int j) { return sums(i, j) + bias.get()(i, 0); });
    Mat before = sums;
    if ((epilogue & 64) == 64) sums = made(m, n, [&](int i, int j) { return sums(i, j) * slope(kept(i, j).real()); });
    else if ((epilogue & 8) == 8) sums = made(m, n, [&](int i, int j) { return sums(i, j) * (double)bit(i, j); });
    if (epilogue & RELU) sums = each(sums, [](double x) { return std::max(x, 0.0); });
    if (epilogue & GELU) sums = each(sums, gelu);
    multiply(p, &one, a.at, layout(0, m, k, ld), b.at, layout(0, k, n, ld), &zero, d.at, layout(0, m, n, ld), d.at, layout(0, m, n, ld));
    d.is(name, sums, 2e-5);
    if ((epilogue & (GELU | AUX)) == (GELU | AUX)) aux.is(name + " aux", before, 2e-5);
    else aux.is(name + " aux", kept);
    if ((epilogue & (RELU | AUX)) == (RELU | AUX))
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) same(name + " mask", bit(i, j), before(i, j).real() > 0, 0);
    auto total = [](const Mat& x, int o) {
      Mat y = op(x, o), sum(y.rows, 1);
      for (int j = 0; j < y.columns; j++)
        for (int i = 0; i < y.rows; i++) sum(i, 0) += y(i, j);
      return sum;
    };
    if (epilogue & BGRAD) bias.is(name + " bias", total(sums, 0), 2e-5);
    else if (epilogue & BGRADA) bias.is(name + " bias", total(a.get(), 0), 2e-5);
    else if (epilogue & BGRADB) bias.is(name + " bias", total(b.get(), 1), 2e-5);
    else bias.is(name + " bias", bias.get());
  }
}

// Floats of 8 bits, with a factor for each matrix.
static void small_floats() {
  const int m = 16, n = 16, k = 32;
  float one = 1, zero = 0, *factors;
  cudaMallocManaged(&factors, 16);
  factors[0] = 2, factors[1] = 0.5, factors[2] = 4;
  Matrix<E4> a(k, m, k), b(k, n, k), d8(m, n, m);
  Matrix<Brain> c(m, n, m), d16(m, n, m);
  Mat sums = op(a.get(), 1) * b.get();
  Product p(COMPUTE_32F, 0);
  p.set(TRANSA, 1), p.set(A_SCALE, factors), p.set(B_SCALE, factors + 1);
  void *la = layout(28, k, m, k), *lb = layout(28, k, n, k), *lc = layout(14, m, n, m);
  multiply(p, &one, a.at, la, b.at, lb, &zero, c.at, lc, d16.at, lc);
  d16.is("floats of 8 bits", sums, 1e-2);
  p.set(D_SCALE, factors + 2), p.set(AMAX_D, factors + 3);
  multiply(p, &one, a.at, la, b.at, lb, &zero, c.at, lc, d8.at, layout(28, m, n, m));
  d8.is("floats of 8 bits to such", 4.0 * sums, 0.07);
  double most = 0;
  for (Z z : sums.v) most = std::max(most, std::abs(z));
  same("the greatest", factors[3], most, 1e-5);
  // A is not transposed.
  p.set(TRANSA, 0), p.set(TRANSB, 0);
  void *square = layout(28, 16, 16, 16), *out = layout(14, 16, 16, 16);
  same("not transposed", call("cublasLtMatmul", handle, p.what, (const void*)&one, (const void*)a.at, square, (const void*)b.at, square,
                              (const void*)&zero, (const void*)c.at, out, (void*)d16.at, out, (const void*)0, (void*)0, (size_t)0, (void*)0), 15, 0);
}

static void transforms() {
  const int m = 5, n = 4, ld = 8;
  float alpha = 0.5, beta = -0.75;
  for (int o : {0, 1})
    for (int by_rows : {0, 1}) {
      Matrix<float> a(o ? n : m, o ? m : n, ld), b(m, n, ld);
      ByRows<float> rows(m, n, ld);
      Matrix<float> columns(m, n, ld);
      void* what;
      same("transform", call("cublasLtMatrixTransformDescCreate", &what, 0), 0, 0);
      same("transform", call("cublasLtMatrixTransformDescSetAttribute", what, 2, (const void*)&o, sizeof o), 0, 0);
      Mat wanted = 0.5 * op(a.get(), o) + -0.75 * b.get();
      good("cublasLtMatrixTransform", what, &alpha, a.at, layout(0, a.rows, a.columns, ld), &beta, b.at, layout(0, m, n, ld),
           by_rows ? rows.at : columns.at, layout(0, m, n, ld, by_rows), (void*)0);
      if (by_rows) rows.is("cublasLtMatrixTransform", wanted);
      else columns.is("cublasLtMatrixTransform", wanted);
    }
}

int main() {
  call("cublasLtCreate", &handle);
  orders<float, float>(COMPUTE_32F);
  orders<double, double>(COMPUTE_64F);
  orders<C, C>(COMPUTE_32F);
  batches_of<float, float, float>(COMPUTE_32F, 0.5, -0.75);
  batches_of<double, double, double>(COMPUTE_64F, 0.5, -0.75);
  batches_of<Half, Half, float>(COMPUTE_32F, 0.5, -0.75);
  batches_of<Half, float, float>(COMPUTE_32F, 0.5, -0.75);
  batches_of<Brain, Brain, float>(COMPUTE_32F, 0.5, -0.75);
  batches_of<int8_t, int, int>(COMPUTE_32I, 2, -3);
  batches_of<int8_t, int8_t, float>(COMPUTE_32I, 0.001, 0.5);
  epilogues();
  small_floats();
  transforms();
  call("cublasLtDestroy", handle);
  printf("%d wrong of %d values, %zu functions\n", wrong, comparisons, called.size());
}
