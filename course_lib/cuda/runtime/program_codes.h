// The codes of cudaError_t that the runtime itself gives (CUDA Runtime API, "Data types used by CUDA Runtime").
#pragma once

namespace sim {
enum Code { INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, ILLEGAL_ADDRESS = 700, LAUNCH_TIMEOUT = 702, ASSERT = 710, COOPERATIVE_TOO_LARGE = 720 };
}
