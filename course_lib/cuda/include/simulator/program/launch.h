// The launch of a kernel by the host code of a program: what `kernel<<<grid, block>>>(arguments)` becomes (launches.py).
#pragma once
#include <tuple>

#include "types.h"

namespace sim {

// Runs threads of a block: calls `Call`, which the launcher has put behind the kernel's arguments.
template <class Call, class... A> struct Task {
    static void once(Call& call, A&... arguments) { call(arguments...); }

#ifdef SIM_CHECKED
    template <size_t... I>
    SIM_UNCHECKED static void threads(const Launch* launch, Index, unsigned first, unsigned last, std::index_sequence<I...>) {
        void (*volatile entered)(Call&, A&...) = once;  // not inlined: its threadIdx must not be taken for a constant here
        Block* state = sim_block;
        for (unsigned thread = first; thread < last; thread++) {
            if (last - first > 1) state->current = thread;
            entered(Copy<Call>(launch->arguments[sizeof...(A)]).value(), Copy<A>(launch->arguments[I]).value()...);
            if (last - first > 1 && !(state->mode & PLAIN)) return;
        }
    }
#else
    template <size_t... I>
    static void threads(const Launch* launch, Index block, unsigned first, unsigned last, std::index_sequence<I...>) {
        void (*volatile entered)(Call&, A&...) = once;
        Call& call = *static_cast<Call*>(launch->arguments[sizeof...(A)]);
        const unsigned X = launch->block.x, Y = launch->block.y;
        gridDim = dim3(launch->grid.x, launch->grid.y, launch->grid.z);
        blockDim = dim3(X, Y, launch->block.z);
        blockIdx = uint3{block.x, block.y, block.z};
        if (last - first > 1) sim_waited = false;  // a thread on a fiber of its own leaves the loop's flag alone
        for (unsigned thread = first; thread < last; thread++) {
            threadIdx = uint3{thread % X, thread / X % Y, thread / (X * Y)};
            std::tuple<A...> copies(*static_cast<A*>(launch->arguments[I])...);
            entered(call, std::get<I>(copies)...);
            if (last - first > 1 && sim_waited) return;
        }
    }
#endif
    static void run(const Launch* launch, Index block, unsigned first, unsigned last) {
        threads(launch, block, first, last, std::index_sequence_for<A...>{});
    }
};

// What stands between <<< and >>>.
struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    Configuration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
        : grid(grid), block(block), shared(shared), stream(stream) {}
};

template <class Call> struct Launcher {
    const char *kernel, *names;
    SimSite site;
    Call call;
    Configuration size;

    template <class... A> cudaError_t operator()(A... arguments) {
        void* pointers[] = {(void*)&arguments..., (void*)&call};
        const char* const named[] = {(std::is_pointer<A>::value ? "" : nullptr)..., nullptr};
        Launch launch{pointers, {size.grid.x, size.grid.y, size.grid.z}, {size.block.x, size.block.y, size.block.z}, size.shared,
                      0, 0, 0, sizeof...(A), named};
        return cudaError_t(sim_program_launch(kernel, names, &launch, Task<Call, A...>::run, site, size.stream));
    }
};

template <class Call>
Launcher<Call> launcher(const char* kernel, const char* names, SimSite site, Call call, Configuration size) {
    return {kernel, names, site, call, size};
}

// A kernel by its address.
template <class... A> struct Known {
    using Kernel = void (*)(A...);
    static int register_kernel(Kernel kernel, const char* name, const char* names) {
        sim_program_know((const void*)kernel, {Task<Kernel, std::decay_t<A>...>::run, sizeof...(A), name, names});
        return 0;
    }
};
template <class... A> int know(void (*kernel)(A...), const char* name, const char* names) {
    return Known<A...>::register_kernel(kernel, name, names);
}

}  // namespace sim

// Launches by a kernel's address. resident: all blocks at once, so that they may wait for each other.
inline cudaError_t sim_launch_by_address(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared, bool resident,
                                         cudaStream_t stream, const char* function, SimSite site) {
    const SimKnown* known = sim_program_known(kernel);
    if (!known)
        return cudaError_t(sim_program_error(cudaErrorInvalidDeviceFunction, function, site,
                                             "no kernel has this address (a template's instance passes without a cast)"));
    void* pointers[129];
    const char* named[129];
    for (unsigned i = 0; i < known->parameters; i++) pointers[i] = arguments[i], named[i] = nullptr;
    pointers[known->parameters] = &kernel;
    sim::Launch launch{pointers, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, 0, 0, 0, known->parameters, named,
                       resident};
    return cudaError_t(sim_program_launch(known->name, known->names, &launch, known->run, site, stream));
}
#define SIM_LAUNCHES(FUNCTION, RESIDENT)                                                                                         \
    inline cudaError_t FUNCTION(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,                  \
                                cudaStream_t stream = nullptr, SIM_SITE) {                                                       \
        return sim_launch_by_address(kernel, grid, block, arguments, shared, RESIDENT, stream, #FUNCTION, site);                 \
    }                                                                                                                            \
    template <class... A>                                                                                                        \
    cudaError_t FUNCTION(void (*kernel)(A...), dim3 grid, dim3 block, void** arguments, size_t shared = 0,                       \
                         cudaStream_t stream = nullptr, SIM_SITE) {                                                              \
        if (!sim_program_known((const void*)kernel)) sim::know(kernel, "a kernel by its address", "");                           \
        return sim_launch_by_address((const void*)kernel, grid, block, arguments, shared, RESIDENT, stream, #FUNCTION, site);    \
    }
SIM_LAUNCHES(cudaLaunchKernel, false)
SIM_LAUNCHES(cudaLaunchCooperativeKernel, true)
