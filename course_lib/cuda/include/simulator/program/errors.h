// cudaError_t, its names and its sentences (CUDA Runtime API, "Data types used by CUDA Runtime").
#pragma once
#include "../../../runtime/program.h"

#define SIM_ERRORS(X)                                                                             \
    X(Success, 0, "no error")                                                                     \
    X(ErrorInvalidValue, 1, "invalid argument")                                                   \
    X(ErrorMemoryAllocation, 2, "out of memory")                                                  \
    X(ErrorInitializationError, 3, "initialization error")                                        \
    X(ErrorCudartUnloading, 4, "driver shutting down")                                            \
    X(ErrorInvalidConfiguration, 9, "invalid configuration argument")                             \
    X(ErrorInvalidPitchValue, 12, "invalid pitch argument")                                       \
    X(ErrorInvalidSymbol, 13, "invalid device symbol")                                            \
    X(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                    \
    X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                       \
    X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    X(ErrorInvalidDeviceFunction, 98, "invalid device function")                                  \
    X(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                   \
    X(ErrorInvalidDevice, 101, "invalid device ordinal")                                          \
    X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                 \
    X(ErrorNotReady, 600, "device not ready")                                                     \
    X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                       \
    X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                  \
    X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                         \
    X(ErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                       \
    X(ErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                         \
    X(ErrorAssert, 710, "device-side assert triggered")                                           \
    X(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    X(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    X(ErrorMisalignedAddress, 716, "misaligned address")                                          \
    X(ErrorLaunchFailure, 719, "unspecified launch failure")                                      \
    X(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")               \
    X(ErrorNotSupported, 801, "operation not supported")                                          \
    X(ErrorUnknown, 999, "unknown error")

enum cudaError {
#define SIM_ERROR(NAME, CODE, TEXT) cuda##NAME = CODE,
    SIM_ERRORS(SIM_ERROR)
#undef SIM_ERROR
};
typedef enum cudaError cudaError_t;
#define __DRIVER_TYPES_H__  // headers of others ask by this whether cudaError_t is known

static inline const char* cudaGetErrorName(cudaError_t code) {
    switch (code) {
#define SIM_ERROR(NAME, CODE, TEXT) case CODE: return "cuda" #NAME;
        SIM_ERRORS(SIM_ERROR)
#undef SIM_ERROR
    }
    return "unrecognized error code";
}
static inline const char* cudaGetErrorString(cudaError_t code) {
    switch (code) {
#define SIM_ERROR(NAME, CODE, TEXT) case CODE: return TEXT;
        SIM_ERRORS(SIM_ERROR)
#undef SIM_ERROR
    }
    return "unrecognized error code";
}
static inline cudaError_t cudaGetLastError() { return cudaError_t(sim_program_last_error(1)); }
static inline cudaError_t cudaPeekAtLastError() { return cudaError_t(sim_program_last_error(0)); }

// Where the program calls a function of CUDA.
#define SIM_SITE SimSite site = {__builtin_FILE(), __builtin_LINE()}
#define SIM_FAIL(CODE, ...) cudaError_t(sim_program_error(CODE, __func__, site, __VA_ARGS__))
#define SIM_NOT_SIMULATED(WHAT) SIM_FAIL(cudaErrorNotSupported, WHAT " not simulated")
