// Tensor maps of drawn descriptions, many with a mistake. Each line has what the driver returned, and the description.
// The draws are the same each time: maps.txt has what the driver of an H100 returned (580.159.04, CUDA 13.0). No expression has two draws
// whose order a compiler chooses.
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <initializer_list>

static const int MOST = 6;

static uint64_t state = 88172645463325252;

// A number below `end`.
static uint32_t draw(uint32_t end) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 20) % end;
}

static uint64_t one_of(std::initializer_list<uint64_t> list) { return list.begin()[draw(list.size())]; }

// The rare number once in sixty times.
static uint64_t mostly(uint64_t usual, uint64_t rare) { return draw(60) ? usual : rare; }

static uint64_t size() {
  uint64_t rare = one_of({0, (1ull << 32) + 1});
  uint64_t usual = draw(3) ? one_of({16, 64, 128, 256, 1024})
                           : one_of({1, 2, 8, 16, 31, 32, 64, 100, 128, 256, 1000, 4096, 65536, 1ull << 31, 1ull << 32});
  return mostly(usual, rare);
}

static uint32_t side(int dimension) {
  uint64_t rare = one_of({0, 257, 512}), usual = one_of({1, 2, 4, 8, 16, 16, 32, 32, 64, 64, 96, 128, 256});
  uint32_t side = mostly(usual, rare);
  if (draw(3) && dimension > 1) side /= 4;
  return side || !draw(10) ? side : 1;
}

static uint32_t step() {
  uint64_t rare = one_of({0, 9, 16}), usual = draw(6) ? 1 : 1 + draw(8);
  return mostly(usual, rare);
}

static int corner() {
  int from = draw(draw(10) ? 5 : 600);
  return from - (draw(10) ? 2 : 300);
}

static uint64_t stride(uint64_t row) {
  uint64_t rare = one_of({0, 8, 16, 48, 1ull << 40, row, 1 << 20}), stride = mostly((row + 31) / 32 * 32, rare);
  return draw(6) ? stride : (stride + 15) / 16 * 16 + 16 * draw(3);
}

// The arguments of both calls.
struct Map {
  cuuint32_t rank, interleave, swizzle, type, fill, promotion, box[MOST], steps[MOST], channels, pixels;
  cuuint64_t address, sizes[MOST], strides[MOST];
  int lower[MOST], upper[MOST];
  bool has_columns;

  Map() {
    uint32_t rare_rank = draw(2) * 6, usual_rank = 1 + draw(5);
    rank = mostly(usual_rank, rare_rank);
    interleave = draw(8) ? 0 : draw(3);
    swizzle = draw(3) ? draw(4) : draw(7);
    type = draw(14) ? draw(13) : draw(17);
    fill = draw(5) == 0;
    promotion = draw(20) ? draw(4) : 4;
    const uint64_t begin = 0x7f0000000000, rare_begin = begin + one_of({16, 8, 4, 32, 64});
    address = mostly(begin, rare_begin);
    for (int i = 0; i < MOST; i++) {
      sizes[i] = size();
      box[i] = side(i);
      steps[i] = step();
      lower[i] = corner();
      upper[i] = corner();
    }
    const uint64_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1, 1};
    uint64_t row = sizes[0] * bytes[type];
    for (int i = 0; i < MOST; i++) {
      strides[i] = stride(row);
      row = strides[i] * sizes[i + 1 < MOST ? i + 1 : i];
    }
    has_columns = draw(3) == 0;
    uint64_t rare_channels = one_of({0, 257}), usual_channels = one_of({8, 16, 32, 64, 128, 256});
    channels = mostly(usual_channels, rare_channels);
    uint64_t rare_pixels = one_of({0, 1025}), usual_pixels = one_of({1, 16, 64, 128, 256, 1024});
    pixels = mostly(usual_pixels, rare_pixels);
  }

  void print(int result) const {
    printf("%d: %s, type %u, rank %u, address %llx", result, has_columns ? "im2col" : "tiled", type, rank, (unsigned long long)address);
    printf(", interleave %u, swizzle %u, promotion %u, fill %u", interleave, swizzle, promotion, fill);
    if (has_columns) printf(", channels %u, pixels %u", channels, pixels);
    for (unsigned i = 0; i < rank; i++) {
      printf("; size %llu, step %u", (unsigned long long)sizes[i], steps[i]);
      if (i + 1 < rank) printf(", stride %llu", (unsigned long long)strides[i]);
      if (!has_columns) printf(", box %u", box[i]);
      if (has_columns && i + 2 < rank) printf(", lower %d, upper %d", lower[i], upper[i]);
    }
    printf("\n");
  }
};

template <typename F>
static F *find(const char *name) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  return reinterpret_cast<F *>(found);
}

int main() {
  cudaFree(0);
  auto tiled = find<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  auto im2col = find<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  alignas(64) static CUtensorMap made;
  for (int round = 0; round < 12000; round++) {
    Map map;
    auto type = CUtensorMapDataType(map.type);
    auto interleave = CUtensorMapInterleave(map.interleave);
    auto swizzle = CUtensorMapSwizzle(map.swizzle);
    auto promotion = CUtensorMapL2promotion(map.promotion);
    auto fill = CUtensorMapFloatOOBfill(map.fill);
    void *address = reinterpret_cast<void *>(map.address);
    map.print(map.has_columns ? im2col(&made, type, map.rank, address, map.sizes, map.strides, map.lower, map.upper, map.channels,
                                       map.pixels, map.steps, interleave, swizzle, promotion, fill)
                              : tiled(&made, type, map.rank, address, map.sizes, map.strides, map.box, map.steps, interleave, swizzle,
                                      promotion, fill));
  }
}
