// Stands for nvJitLink in a library of its name. A program that links machine code gets PTX.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int gives_ptx, count, is_done; } *Handle;
#ifdef LIBRARY
static int create(Handle *handle, unsigned count, const char **options) {
  *handle = calloc(1, sizeof **handle);
  for (unsigned i = 0; i < count; i++) (*handle)->gives_ptx |= !strcmp(options[i], "-ptx");
  return 0;
}
int __nvJitLinkCreate_13_0(Handle *handle, unsigned count, const char **options) { return create(handle, count, options); }
int nvJitLinkCreate(Handle *handle, unsigned count, const char **options) { return create(handle, count, options); }
int nvJitLinkDestroy(Handle *handle) { return free(*handle), *handle = NULL, 0; }
int nvJitLinkAddData(Handle handle, int kind, const void *data, size_t size, const char *name) {
  return handle->count++, 0;
}
int nvJitLinkAddFile(Handle handle, int kind, const char *file) { return handle->count++, 0; }
int nvJitLinkComplete(Handle handle) { return handle->is_done = 1, 0; }
#define GIVES(NAME, TEXT, IS)                                                                             \
  int nvJitLinkGetLinked##NAME##Size(Handle handle, size_t *size) {                                       \
    return handle->is_done && handle->gives_ptx == IS ? (*size = sizeof TEXT, 0) : 4;                     \
  }                                                                                                       \
  int nvJitLinkGetLinked##NAME(Handle handle, char *to) {                                                 \
    return handle->is_done && handle->gives_ptx == IS ? (memcpy(to, TEXT, sizeof TEXT), 0) : 4;           \
  }
GIVES(Ptx, "// of the library\n.version 9.0\n.target sm_90\n.address_size 64\n", 1)
GIVES(Cubin, "\x7f" "ELF", 0)
#else
int __nvJitLinkCreate_13_0(Handle *handle, unsigned count, const char **options);
int nvJitLinkCreate(Handle *handle, unsigned count, const char **options);
int nvJitLinkDestroy(Handle *handle);
int nvJitLinkAddData(Handle handle, int kind, const void *data, size_t size, const char *name);
int nvJitLinkAddFile(Handle handle, int kind, const char *file);
int nvJitLinkComplete(Handle handle);
int nvJitLinkGetLinkedCubinSize(Handle handle, size_t *size);
int nvJitLinkGetLinkedCubin(Handle handle, char *to);

static const char *const ONE = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .func one() { ret; }\n";
static const char *const OTHER = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .func other() { ret; }\n";

static const char machine_code[128] = "\x7f" "ELF";

// PTX is of kind 2, what is compiled for the linker alone of kind 4.
static void give(Handle handle, int status) {
  size_t size = 0;
  status |= nvJitLinkComplete(handle) | nvJitLinkGetLinkedCubinSize(handle, &size);
  char *text = calloc(size + 1, 1);
  status |= nvJitLinkGetLinkedCubin(handle, text);
  printf("%d %d%d%d%d%d %d\n", status, !strncmp(text, "\x7f" "ELF", 4), !!strstr(text, "of the library"), !!strstr(text, "one()"),
         !!strstr(text, "other()"), strlen(text) + 1 == size, nvJitLinkDestroy(&handle));
  free(text);
}

int main(int count, char **words) {
  const char *plain[] = {"-arch=sm_90"}, *later[] = {"-arch=sm_90", "-lto"};
  Handle handle;
  int status = nvJitLinkCreate(&handle, 1, plain) | nvJitLinkAddData(handle, 2, ONE, strlen(ONE), "one");
  give(handle, status | nvJitLinkAddFile(handle, 2, words[1]));
  status = __nvJitLinkCreate_13_0(&handle, 2, later) | nvJitLinkAddData(handle, 4, "later", 5, "later");
  give(handle, status | nvJitLinkAddData(handle, 2, OTHER, strlen(OTHER), "other"));
  status = nvJitLinkCreate(&handle, 1, plain) | nvJitLinkAddData(handle, 1, machine_code, sizeof machine_code, "machine code");
  give(handle, status);
}
#endif
