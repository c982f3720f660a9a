// The device: properties of the card that `--gpu` names, limits, occupancy. One device, number 0.
#pragma once
#include "types.h"

static inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
static inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
static inline cudaError_t cudaSetDevice(int device, SIM_SITE) {
    return device == 0 ? cudaSuccess : SIM_FAIL(cudaErrorInvalidDevice, "there is no device %d: the simulator has one, number 0", device);
}
static inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
static inline cudaError_t cudaDeviceReset(SIM_SITE) { return sim_program_reset(site), cudaSuccess; }
static inline cudaError_t cudaInitDevice(int, unsigned, unsigned) { return cudaSuccess; }
static inline cudaError_t cudaThreadExit(SIM_SITE) { return cudaDeviceReset(site); }
static inline cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
static inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
static inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
static inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned, SIM_SITE) { return SIM_NOT_SIMULATED("a second device is"); }
static inline cudaError_t cudaDeviceDisablePeerAccess(int, SIM_SITE) { return SIM_NOT_SIMULATED("a second device is"); }
static inline cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) { return *value = 0, cudaSuccess; }
static inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
static inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    *value = limit == cudaLimitStackSize ? 64 << 10 : limit == cudaLimitPrintfFifoSize ? 1 << 20 : 8 << 20;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
static inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
static inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
static inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device, SIM_SITE) {
    if (cudaError_t code = cudaSetDevice(device, site)) return code;
    *p = {};
    __builtin_memcpy(p->name, sim_card.name, sizeof sim_card.name);
    p->totalGlobalMem = sim_card.memory_bytes;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = sim_card.shared_per_block;
    p->sharedMemPerMultiprocessor = sim_card.shared_per_multiprocessor;
    p->reservedSharedMemPerBlock = sim_card.shared_per_multiprocessor - sim_card.shared_per_block;
    p->totalConstMem = 64 << 10;
    p->memPitch = 2147483647;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->regsPerBlock = p->regsPerMultiprocessor = sim_card.registers_per_multiprocessor;
    p->warpSize = 32;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->clockRate = sim_card.clock_khz;
    p->memoryClockRate = sim_card.memory_clock_khz;
    p->memoryBusWidth = sim_card.memory_bus_bits;
    p->l2CacheSize = sim_card.l2_bytes;
    p->persistingL2CacheMaxSize = sim_card.major >= 8 ? sim_card.l2_bytes / 4 * 3 : 0;  // as NVIDIA's best practices guide has it
    p->accessPolicyMaxWindowSize = sim_card.major >= 8 ? 128 << 20 : 0;
    p->major = sim_card.major;
    p->minor = sim_card.minor;
    p->multiProcessorCount = sim_card.multiprocessors;
    p->maxThreadsPerMultiProcessor = sim_card.threads_per_multiprocessor;
    p->maxBlocksPerMultiProcessor = sim_card.blocks_per_multiprocessor;
    p->deviceOverlap = p->concurrentKernels = p->asyncEngineCount = p->unifiedAddressing = p->canMapHostMemory = 1;
    p->managedMemory = p->concurrentManagedAccess = p->cooperativeLaunch = p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = p->computePreemptionSupported = p->memoryPoolsSupported = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->singleToDoublePrecisionPerfRatio = 2;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int) { return snprintf(id, bytes, "0000:00:00.0"), cudaSuccess; }
static inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
static inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device, SIM_SITE) {
    cudaDeviceProp p;
    if (cudaError_t code = cudaGetDeviceProperties(&p, device, site)) return code;
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock: case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = 1024; break;
        case cudaDevAttrMaxBlockDimZ: *value = 64; break;
        case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
        case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = int(p.sharedMemPerBlock); break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(p.sharedMemPerBlockOptin); break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = int(p.sharedMemPerMultiprocessor); break;
        case cudaDevAttrTotalConstantMemory: *value = int(p.totalConstMem); break;
        case cudaDevAttrWarpSize: *value = 32; break;
        case cudaDevAttrMaxPitch: *value = int(p.memPitch); break;
        case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerBlock; break;
        case cudaDevAttrClockRate: *value = p.clockRate; break;
        case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
        case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
        case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
        case cudaDevAttrMaxPersistingL2CacheSize: *value = p.persistingL2CacheMaxSize; break;
        case cudaDevAttrMaxAccessPolicyWindowSize: *value = p.accessPolicyMaxWindowSize; break;
        case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
        case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
        case cudaDevAttrTextureAlignment: *value = 512; break;
        case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
        case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
        case cudaDevAttrKernelExecTimeout: case cudaDevAttrIntegrated: case cudaDevAttrComputeMode: case cudaDevAttrEccEnabled:
        case cudaDevAttrHostNativeAtomicSupported: case cudaDevAttrPageableMemoryAccess: *value = 0; break;
        default: *value = 1;  // what is left are abilities that the simulator has
    }
    return cudaSuccess;
}

// ---- what a kernel may use --------------------------------------------------------------------------------------------

template <class K> cudaError_t cudaFuncSetAttribute(K, cudaFuncAttribute attribute, int value, SIM_SITE) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value > sim_card.shared_per_block)
        return SIM_FAIL(cudaErrorInvalidValue, "%d bytes of shared memory; a block of %s has at most %lld", value, sim_card.name,
                        (long long)sim_card.shared_per_block);
    return sim_program_allow_shared(value), cudaSuccess;
}
template <class K> cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) { return cudaSuccess; }
template <class K> cudaError_t cudaFuncSetSharedMemConfig(K, cudaSharedMemConfig) { return cudaSuccess; }
// Registers are not known here: 32 for each thread is taken, with which every block size that CUDA has runs.
constexpr int SIM_REGISTERS = 32;
template <class K> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, K) {
    *out = {0, 0, 0, 1024, SIM_REGISTERS, 80, 80, 0, 48 << 10, -1};
    return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K, int threads, size_t shared) {
    int warps = (threads + 31) / 32, most = sim_card.threads_per_multiprocessor / 32;
    int by_registers = sim_card.registers_per_multiprocessor / (SIM_REGISTERS * 32);
    most = most < by_registers ? most : by_registers;
    int64_t each = int64_t(shared) + sim_card.shared_per_multiprocessor - sim_card.shared_per_block;
    int64_t by_shared = shared ? sim_card.shared_per_multiprocessor / each : sim_card.blocks_per_multiprocessor;
    int64_t found = warps ? most / warps : 0;
    found = found < by_shared ? found : by_shared;
    *blocks = int(found < sim_card.blocks_per_multiprocessor ? found : sim_card.blocks_per_multiprocessor);
    return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K kernel, int threads, size_t shared, unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K kernel, F shared, int limit = 0) {
    int best = 0, blocks;
    for (int threads = limit > 0 && limit < 1024 ? limit / 32 * 32 : 1024; threads > 0; threads -= 32) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared(threads));
        if (blocks * threads > best) best = blocks * threads, *block = threads, *grid = blocks * sim_card.multiprocessors;
    }
    return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K kernel, size_t shared = 0, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, [=](int) { return shared; }, limit);
}
