// Memory of a program: cudaMalloc and the like, copies, symbols. What a GPU's runtime would refuse is refused, and reported.
#pragma once
#include "types.h"

static inline cudaError_t sim_allocate(void** data, size_t bytes, SimMemory memory, const char* function, SimSite site) {
    if (!data) return cudaError_t(sim_program_error(1, function, site, "the pointer's own address is null"));
    *data = nullptr;
    if (!bytes) return cudaSuccess;
    if (memory != SIM_PINNED && sim_program_used() + int64_t(bytes) > sim_card.memory_bytes)
        return cudaError_t(sim_program_error(2, function, site, "%zu bytes do not fit into the memory of %s", bytes, sim_card.name));
    *data = sim_program_allocate(bytes, memory, site);
    return *data ? cudaSuccess : cudaError_t(sim_program_error(2, function, site, "this machine has no room for %zu bytes", bytes));
}
template <class T> cudaError_t cudaMalloc(T** data, size_t bytes, SIM_SITE) {
    return sim_allocate((void**)data, bytes, SIM_DEVICE, __func__, site);
}
template <class T> cudaError_t cudaMallocManaged(T** data, size_t bytes, unsigned = cudaMemAttachGlobal, SIM_SITE) {
    return sim_allocate((void**)data, bytes, SIM_MANAGED, __func__, site);
}
template <class T> cudaError_t cudaMallocAsync(T** data, size_t bytes, cudaStream_t, SIM_SITE) {
    return sim_allocate((void**)data, bytes, SIM_DEVICE, __func__, site);
}
template <class T> cudaError_t cudaMallocHost(T** data, size_t bytes, unsigned = 0, SIM_SITE) {
    return sim_allocate((void**)data, bytes, SIM_PINNED, __func__, site);
}
template <class T> cudaError_t cudaHostAlloc(T** data, size_t bytes, unsigned, SIM_SITE) {
    return sim_allocate((void**)data, bytes, SIM_PINNED, __func__, site);
}
template <class T> cudaError_t cudaMallocPitch(T** data, size_t* pitch, size_t width, size_t height, SIM_SITE) {
    *pitch = (width + 511) / 512 * 512;
    return sim_allocate((void**)data, *pitch * height, SIM_DEVICE, __func__, site);
}
static inline cudaError_t sim_release(void* data, bool of_host, const char* function, SimSite site) {
    if (!data || sim_program_free(data, of_host)) return cudaSuccess;
    bool other = sim_program_memory(data, nullptr) >= 0;
    return cudaError_t(sim_program_error(1, function, site, other ? "%p is no start of memory that this function frees" :
                                         "%p was never allocated, or it was freed before", data));
}
static inline cudaError_t cudaFree(void* data, SIM_SITE) {
    sim_program_wait(nullptr);
    return sim_release(data, false, __func__, site);
}
static inline cudaError_t cudaFreeAsync(void* data, cudaStream_t, SIM_SITE) { return sim_release(data, false, __func__, site); }
static inline cudaError_t cudaFreeHost(void* data, SIM_SITE) {
    sim_program_wait(nullptr);
    return sim_release(data, true, __func__, site);
}
static inline cudaError_t cudaHostRegister(void* data, size_t bytes, unsigned, SIM_SITE) {
    if (sim_program_register(data, bytes, site)) return cudaSuccess;
    return SIM_FAIL(cudaErrorHostMemoryAlreadyRegistered, "%p is registered already", data);
}
static inline cudaError_t cudaHostUnregister(void* data, SIM_SITE) {
    if (sim_program_register(data, 0, site)) return cudaSuccess;
    return SIM_FAIL(cudaErrorHostMemoryNotRegistered, "%p is not registered", data);
}
template <class T> cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned, SIM_SITE) {
    if (sim_program_memory(host, nullptr) < SIM_PINNED) return SIM_FAIL(cudaErrorInvalidValue, "%p is not pinned memory", host);
    *device = (T*)host;
    return cudaSuccess;
}
static inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* data) {
    int memory = sim_program_memory(data, nullptr);
    bool device = memory == SIM_DEVICE || memory == SIM_MANAGED;
    *out = {memory < 0 ? cudaMemoryTypeUnregistered : memory == SIM_DEVICE ? cudaMemoryTypeDevice
            : memory == SIM_MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0, memory < 0 ? nullptr : (void*)data,
            device && memory != SIM_MANAGED ? nullptr : (void*)data};
    return cudaSuccess;
}

// ---- copies -----------------------------------------------------------------------------------------------------------

// One end of a copy, of `bytes` bytes. Returns null if all is well, else what is wrong with it.
static inline const char* sim_judge_end(const void* data, size_t bytes, bool device) {
    size_t room = 0;
    int memory = sim_program_memory(data, &room);
    if (!data) return "is null";
    if (device && (memory < 0 || memory == SIM_REGISTERED)) return "is not in device memory";
    if (!device && memory == SIM_DEVICE) return "is in device memory, not in the host's";
    if (memory >= 0 && room < bytes) return "has less room than that";
    return nullptr;
}
static inline cudaError_t sim_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* function,
                                   SimSite site, bool waits = true) {
    if (!bytes) return cudaSuccess;
    if (unsigned(kind) > cudaMemcpyDefault)
        return cudaError_t(sim_program_error(21, function, site, "%d is no direction of a copy", int(kind)));
    bool into = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool out = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        into = sim_program_memory(to, nullptr) >= 0 && sim_program_memory(to, nullptr) < SIM_REGISTERED;
        out = sim_program_memory(from, nullptr) >= 0 && sim_program_memory(from, nullptr) < SIM_REGISTERED;
    }
    if (const char* wrong = sim_judge_end(to, bytes, into))
        return cudaError_t(sim_program_error(1, function, site, "%zu bytes: the target %p %s", bytes, to, wrong));
    if (const char* wrong = sim_judge_end(from, bytes, out))
        return cudaError_t(sim_program_error(1, function, site, "%zu bytes: the source %p %s", bytes, from, wrong));
    sim_program_copy(to, from, bytes);
    if (waits) sim_program_wait(nullptr);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, SIM_SITE) {
    return sim_copy(to, from, bytes, kind, __func__, site);
}
static inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                          cudaStream_t stream = nullptr, SIM_SITE) {
    if (cudaError_t code = sim_copy(to, from, bytes, kind, __func__, site, false)) return code;
    if (sim_program_memory(to, nullptr) == SIM_PINNED) sim_program_copying(stream, to, bytes, true);
    else if (sim_program_memory(to, nullptr) < 0) sim_program_wait(stream);  // it returns when pageable memory is written
    if (sim_program_memory(from, nullptr) == SIM_PINNED) sim_program_copying(stream, from, bytes, false);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes, SIM_SITE) {
    return sim_copy(to, from, bytes, cudaMemcpyDeviceToDevice, __func__, site);
}
static inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                                       cudaMemcpyKind kind, SIM_SITE) {
    if (width > to_pitch || width > from_pitch)
        return SIM_FAIL(cudaErrorInvalidPitchValue, "a row of %zu bytes is longer than a pitch (%zu, %zu)", width, to_pitch, from_pitch);
    for (size_t row = 0; row < height; row++)
        if (cudaError_t code = sim_copy((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind, __func__, site))
            return code;
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                            size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr, SIM_SITE) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, site);
}
static inline cudaError_t cudaMemset(void* data, int value, size_t bytes, SIM_SITE) {
    if (!bytes) return cudaSuccess;
    if (const char* wrong = sim_judge_end(data, bytes, true))
        return SIM_FAIL(cudaErrorInvalidValue, "%zu bytes: the target %p %s", bytes, data, wrong);
    sim_program_fill(data, value, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t = nullptr, SIM_SITE) {
    return cudaMemset(data, value, bytes, site);
}
static inline cudaError_t cudaMemset2D(void* data, size_t pitch, int value, size_t width, size_t height, SIM_SITE) {
    for (size_t row = 0; row < height; row++)
        if (cudaError_t code = cudaMemset((char*)data + row * pitch, value, width, site)) return code;
    return cudaSuccess;
}

// ---- pools ------------------------------------------------------------------------------------------------------------

// One pool, the default one, which keeps nothing back.
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic, cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh
};
static inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return *pool = (cudaMemPool_t)1, cudaSuccess; }
static inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) { return cudaDeviceGetDefaultMemPool(pool, 0); }
static inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
static inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T> cudaError_t cudaMallocFromPoolAsync(T** data, size_t bytes, cudaMemPool_t, cudaStream_t, SIM_SITE) {
    return sim_allocate((void**)data, bytes, SIM_DEVICE, __func__, site);
}

// ---- variables of the device ------------------------------------------------------------------------------------------

template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice, SIM_SITE) {
    if (offset + bytes > sizeof(T))
        return SIM_FAIL(cudaErrorInvalidValue, "%zu bytes from byte %zu on do not fit into a symbol of %zu", bytes, offset, sizeof(T));
    sim_program_copy((char*)&symbol + offset, from, bytes);
    sim_program_wait(nullptr);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost, SIM_SITE) {
    if (offset + bytes > sizeof(T))
        return SIM_FAIL(cudaErrorInvalidValue, "%zu bytes from byte %zu on lie beyond a symbol of %zu", bytes, offset, sizeof(T));
    sim_program_copy(to, (const char*)&symbol + offset, bytes);
    sim_program_wait(nullptr);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t = nullptr, SIM_SITE) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind, site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t = nullptr, SIM_SITE) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind, site);
}
template <class T> cudaError_t cudaGetSymbolAddress(void** data, const T& symbol) {
    sim_program_variable(*data = (void*)&symbol, sizeof(T));
    return cudaSuccess;
}
template <class T> cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) { return *bytes = sizeof(T), cudaSuccess; }
static inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }
static inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t = nullptr) { return cudaSuccess; }
static inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
static inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = cudaMemAttachSingle) { return cudaSuccess; }
static inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    *total = sim_card.memory_bytes;
    *free = sim_card.memory_bytes - sim_program_used();
    return cudaSuccess;
}
