// A pointer chase: every load waits for the one before it.
extern "C" __global__ void chase(unsigned long long *__restrict__ out, unsigned long long start, unsigned steps) {
    unsigned long long at = start;
// As often as rustc unrolls it.
#pragma unroll 8
    for (unsigned left = steps; left > 0; --left) at = __ldcg(reinterpret_cast<const unsigned long long *>(at));
    __stcs(out, at);
}
