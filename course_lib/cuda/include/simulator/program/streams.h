// Streams and events. Each call runs to its end before it returns, so all streams are in order; times are this machine's.
#pragma once
#include <chrono>

#include "types.h"

static inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    static size_t next = 16;  // no address: a number of its own
    return *stream = (cudaStream_t)(next += 16), cudaSuccess;
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
static inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
static inline cudaError_t cudaStreamDestroy(cudaStream_t stream, SIM_SITE) {
    return stream ? cudaSuccess : SIM_FAIL(cudaErrorInvalidResourceHandle, "the default stream cannot be destroyed");
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    sim_program_wait(stream);
    return cudaPeekAtLastError() < 700 ? cudaSuccess : cudaPeekAtLastError();
}
static inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) { return cudaSuccess; }
static inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return sim_program_wait(stream), cudaSuccess; }
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return sim_program_join(), cudaSuccess; }
static inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void* data, unsigned) {
    return sim_program_wait(stream), call(stream, cudaSuccess, data), cudaSuccess;
}
static inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void* data) {
    return sim_program_wait(stream), call(data), cudaSuccess;
}
static inline cudaError_t cudaDeviceSynchronize() { return cudaStreamSynchronize(nullptr); }
static inline cudaError_t cudaThreadSynchronize() { return cudaStreamSynchronize(nullptr); }
static inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, cudaSuccess; }

static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return *event = new CUevent_st{}, cudaSuccess; }
static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned = 0) { return cudaEventCreateWithFlags(event, 0); }
static inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr, SIM_SITE) {
    if (!event) return SIM_FAIL(cudaErrorInvalidResourceHandle, "the event was never created");
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    *event = {std::chrono::duration<double>(now).count(), true};
    return cudaSuccess;
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaStreamSynchronize(nullptr); }
static inline cudaError_t cudaEventQuery(cudaEvent_t) { return sim_program_wait(nullptr), cudaSuccess; }
static inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop, SIM_SITE) {
    if (!start || !stop || !start->recorded || !stop->recorded)
        return SIM_FAIL(cudaErrorInvalidResourceHandle, "an event was never recorded");
    sim_program_report("time", site, "%s", "");
    sim_program_wait(nullptr);
    *milliseconds = 1e3 * (stop->seconds - start->seconds);
    if (*milliseconds <= 0) *milliseconds = 1e-3f;  // programs divide by it
    return cudaSuccess;
}
