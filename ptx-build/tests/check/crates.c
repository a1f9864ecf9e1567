// A program that copies by a function of somebody else's, beyond the end of its allocation.
#include "calls.h"
#include <copied.h>

int main(void) {
  CUdeviceptr to;
  unsigned numbers[512] = {0};
  begin();
  CALL(cuMemAlloc, &to, sizeof numbers / 2);
  copied(to, numbers, sizeof numbers);  // ~copied
  return 0;
}
