// Leave one fiber and continue another: the only machine-dependent code of the simulator.
//
// The switch is expanded inline. All registers are declared clobbered, so the compiler saves just those that are live
// here, far fewer than a function call would have to save. On the stack remains the address at which to resume.
#pragma once
#include <cstdint>
#include <cstring>

namespace sim {

#if defined(__x86_64__)

#ifdef __AVX512F__
#define SIM_HIGH_REGISTERS                                                                                     \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",        \
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define SIM_HIGH_REGISTERS
#endif

// The kernel is compiled with -mno-red-zone, so the pushes below overwrite nothing.
__attribute__((always_inline)) static inline void switch_stack(void** save, void* to) {
    asm volatile(
        "pushq %%rbp\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%rax\n\t"
        "jmp *%%rax\n\t"
        "1:\n\t"
        "popq %%rbp\n\t"
        : "+D"(save), "+S"(to)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
          "xmm14", "xmm15" SIM_HIGH_REGISTERS);
}

// A stack on which `entry` will start when it is first switched to.
inline void* new_stack(char* top, void (*entry)()) {
    void** stack = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t(15)) - 10;
    stack[0] = reinterpret_cast<void*>(entry);
    stack[1] = nullptr;  // a return address that is never used: ends a debugger's backtrace, and aligns the stack
    return stack;
}

#elif defined(__aarch64__)

#ifdef __APPLE__
#define SIM_PLATFORM_REGISTER  // x18 belongs to the system there
#else
#define SIM_PLATFORM_REGISTER , "x18"
#endif

__attribute__((always_inline)) static inline void switch_stack(void** save, void* to) {
    register void** from asm("x0") = save;
    register void* target asm("x1") = to;
    asm volatile(
        "adr x2, 1f\n\t"
        "stp x29, x2, [sp, #-16]!\n\t"
        "mov x3, sp\n\t"
        "str x3, [x0]\n\t"
        "mov sp, x1\n\t"
        "ldr x2, [sp, #8]\n\t"
        "br x2\n\t"
        "1:\n\t"
        "ldr x29, [sp], #16\n\t"
        : "+r"(from), "+r"(target)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
          "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "cc", "memory", "v0", "v1", "v2",
          "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
          "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31" SIM_PLATFORM_REGISTER);
}

// At its entry the fiber's first function sees this very frame as its caller's.
inline void* new_stack(char* top, void (*entry)()) {
    char* stack = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t(15)) - 96;
    memset(stack, 0, 96);
    *reinterpret_cast<void**>(stack + 8) = reinterpret_cast<void*>(entry);
    return stack;
}

#else
#error "The simulator has stack switches for x86-64 and 64-bit ARM only."
#endif

}  // namespace sim
