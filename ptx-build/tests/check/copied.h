// A function that copies, as a crate has it.
static __attribute__((noinline)) void copied(CUdeviceptr to, const void *from, size_t bytes) {
  typeof(&cuMemcpyHtoD) call = FIND(cuMemcpyHtoD);
  HOLDS(call(to, from, bytes) != 0);
}
