// Loads a plugin twice and lets it work on several threads.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  for (int i = 0; i < 2; ++i) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    auto* run = reinterpret_cast<int (*)(int, int)>(dlsym(plugin, "pluginRun"));
    const int good = run != nullptr ? run(4, 50) : -1;
    std::printf("%d pods\n", good);
    if (good != 200) return 1;
    dlclose(plugin);
  }
  return 0;
}
