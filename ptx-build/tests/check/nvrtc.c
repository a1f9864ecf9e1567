// Stands for NVRTC in a library of its name. A program that asks it for machine code gets PTX, with lines.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY
static volatile int compiled;
static char asked[64];
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
int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  asked[0] = 0;
  for (int i = 0; i < count; i++) strcat(asked, options[i]);
  return program ? 0 : 1;
}
const char *asked_for(void) { return asked; }
#else
int nvrtcCompileProgram(void *program, int count, const char *const *options);
int nvrtcGetCUBINSize(void *program, size_t *size);
int nvrtcGetCUBIN(void *program, char *to);
const char *asked_for(void);
int main(void) {
  size_t size = 0;
  char text[16] = "";
  const char *options[] = {"-G"};
  int status = nvrtcCompileProgram(text, 0, NULL);
  printf("[%s] ", asked_for());
  status |= nvrtcCompileProgram(text, 1, options) | nvrtcGetCUBINSize(text, &size) | nvrtcGetCUBIN(text, text);
  printf("[%s] %d %zu %s\n", asked_for(), status, size, text);
}
#endif
