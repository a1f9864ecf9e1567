// A program that knows nothing of CUDA calls a library that does: it is linked to that, or opens it by the name in its first argument.
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
extern float run(int beyond);
int main(int count, char **words) {
  (void)words;
  printf("%g\n", run(count > 1));
}
#else
int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_NOW);
  float (*run)(int) = library ? (float (*)(int))dlsym(library, "run") : NULL;
  if (!run) return printf("%s\n", dlerror()), 3;
  printf("%g\n", run(count > 2));
}
#endif
