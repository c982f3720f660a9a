// memcpy, memmove and memset in the learner's text. In the checked build they are hooks, which judge both ends.
//
// g++ instruments copies of structs itself, and leaves only these calls to us; clang instruments both.
#pragma once
#include "language.h"

#if defined(SIM_CHECKED) && !defined(__clang__)
extern "C" {
void* __tsan_memcpy(void* to, const void* from, size_t bytes);
void* __tsan_memmove(void* to, const void* from, size_t bytes);
void* __tsan_memset(void* to, int value, size_t bytes);
}
namespace std {
using ::__tsan_memcpy;
using ::__tsan_memmove;
using ::__tsan_memset;
}
#define memcpy __tsan_memcpy
#define memmove __tsan_memmove
#define memset __tsan_memset
#endif
