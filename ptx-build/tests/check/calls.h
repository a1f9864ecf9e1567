// Calls of the functions of the driver, which a program finds by their names in `driver`.
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define QUOTED(name) #name
#define TEXT(name) QUOTED(name)
#define FIND(name) ((typeof(&name))dlsym(driver, TEXT(name)))
#define GIVES(expected, name, ...)                                                           \
  do {                                                                                       \
    typeof(&name) call_ = FIND(name);                                                        \
    int status_ = call_ ? (int)call_(__VA_ARGS__) : -1;                                      \
    if (status_ != (expected)) { printf("%d: %s: %d\n", __LINE__, TEXT(name), status_); exit(3); } \
  } while (0)
#define CALL(name, ...) GIVES(0, name, __VA_ARGS__)
#define HOLDS(what)                                                     \
  do {                                                                  \
    if (!(what)) { printf("%d: %s\n", __LINE__, #what); exit(5); }       \
  } while (0)

static void *driver;

// Opens the driver, and makes a context of the first GPU current.
static inline CUcontext begin(void) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) { printf("%s\n", dlerror()); exit(4); }
  CUcontext context;
  CALL(cuInit, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuCtxSetCurrent, context);
  return context;
}
