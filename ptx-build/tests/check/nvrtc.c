// Stands for NVRTC in a library of its name. A program that asks it for machine code gets PTX.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY
static volatile int compiled;
#define GIVES(NAME, PTX, SIZE)                                        \
  int NAME##Size(void *program, size_t *size) {                       \
    for (int i = 0; i < 4; i++) compiled += i;                        \
    return program ? (*size = SIZE, 0) : 1;                           \
  }                                                                   \
  int NAME(void *program, char *to) {                                 \
    for (int i = 0; i < 4; i++) compiled += i;                        \
    return program ? (memcpy(to, PTX, SIZE), 0) : 1;                  \
  }
GIVES(nvrtcGetPTX, "//ptx", 6)
GIVES(nvrtcGetCUBIN, "\x7f" "ELF", 5)
#else
int nvrtcGetCUBINSize(void *program, size_t *size);
int nvrtcGetCUBIN(void *program, char *to);
int main(void) {
  size_t size = 0;
  char text[16] = "";
  int status = nvrtcGetCUBINSize(text, &size) | nvrtcGetCUBIN(text, text);
  printf("%d %zu %s\n", status, size, text);
}
#endif
