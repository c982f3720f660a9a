// A header of the program's own.
#pragma once
#include <string>

inline void check_at(cudaError_t code, const char* file, int line) {
    if (code == cudaSuccess) return;
    printf("%s:%d: %s\n", file, line, cudaGetErrorString(code));
    exit(2);
}
#define check(CALL) check_at(CALL, __FILE__, __LINE__)
