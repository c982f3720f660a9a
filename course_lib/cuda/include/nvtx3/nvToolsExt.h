// Ranges and marks for a profiler (NVTX): there is none here, so they do nothing.
#pragma once
typedef unsigned long long nvtxRangeId_t;
static inline int nvtxRangePushA(const char*) { return 0; }
static inline int nvtxRangePop() { return 0; }
static inline void nvtxMarkA(const char*) {}
static inline nvtxRangeId_t nvtxRangeStartA(const char*) { return 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t) {}
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
