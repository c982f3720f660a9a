// Hooks of the checked build for matrix operations and asynchronous copies (ptx.h, mma.h).
#pragma once
#include "language.h"

#ifdef SIM_CHECKED
#pragma GCC visibility push(default)
extern "C" {
void* sim_check_issue(void* to, void* from, unsigned bytes);
void sim_check_completion(void* to, void* from, const unsigned* words, unsigned bytes, void* pc);
void sim_check_row(const void* row);
void sim_check_tile(const void* tile, unsigned stride, unsigned bytes, const char* file, int line);
void sim_check_warp(const char* file, int line);
}
#pragma GCC visibility pop
#define SIM_CHECK_ROW(row) sim_check_row(row);
#define SIM_CHECK_TILE(tile, stride, file, line) sim_check_tile(tile, stride, sizeof *(tile), file, line);
#define SIM_CHECK_WARP(file, line) sim_check_warp(file, line);
#else
#define SIM_CHECK_ROW(row)
#define SIM_CHECK_TILE(tile, stride, file, line)
#define SIM_CHECK_WARP(file, line)
#endif
