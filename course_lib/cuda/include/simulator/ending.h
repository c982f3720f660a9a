// What is written behind a text: its kernels and variables by number, its arrays of dynamic shared memory, and a program's
// main under a name that can be called.
#pragma once

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))
// What the launcher finds in the library, by the kernel's number. No word here may be a kernel's name.
#if defined(__wasm__)
#define SIM_KERNEL(NUMBER, ...)                                                                                        \
    SIM_EXPORT void sim_body_##NUMBER(const sim::Launch* sim_a) {                                                      \
        using Entry = sim::Entry<&__VA_ARGS__>;                                                                        \
        Entry::run(sim_a, Entry::Numbers{});                                                                           \
    }                                                                                                                  \
    SIM_EXPORT int sim_parameters_##NUMBER(sim::Parameter* sim_out) {                                                  \
        return sim::Entry<&__VA_ARGS__>::describe_parameters(sim_out);                                                 \
    }
#else
#define SIM_KERNEL(NUMBER, ...)                                                                                        \
    SIM_EXPORT void sim_run_##NUMBER(const sim::Launch* sim_a, sim::Index sim_b, unsigned sim_c, unsigned sim_d) {     \
        sim::Entry<&__VA_ARGS__>::run(sim_a, sim_b, sim_c, sim_d);                                                     \
    }                                                                                                                  \
    SIM_EXPORT int sim_parameters_##NUMBER(sim::Parameter* sim_out) {                                                  \
        return sim::Entry<&__VA_ARGS__>::describe_parameters(sim_out);                                                 \
    }                                                                                                                  \
    SIM_EXPORT void* sim_kernel_##NUMBER() { return reinterpret_cast<void*>(&__VA_ARGS__); }
#endif
#define SIM_GLOBAL(NUMBER, NAME)                                                                                       \
    SIM_EXPORT void* sim_global_##NUMBER(uint64_t* sim_bytes) { /* null: const */                                      \
        *sim_bytes = sizeof(NAME);                                                                                     \
        return std::is_const_v<std::remove_all_extents_t<decltype(NAME)>> ? nullptr : (void*)&NAME;                    \
    }
// Dynamic shared memory: one array, and a symbol for each `extern __shared__` of the text, whatever its type, at its start.
// In assembly: g++ would want to construct arrays of classes, and no compiler on macOS knows aliases. There each
// array is reached through a function that returns its address; an initialiser that must run makes clang write that function.
#define SIM_TEXT(WORD) #WORD
#if defined(__APPLE__)
#define SIM_DYNAMIC_BYTES(BYTES)              \
    char sim_nothing() { return 0; }          \
    extern "C" { alignas(16384) thread_local char sim_dynamic[BYTES] = {sim_nothing()}; }
#define SIM_DYNAMIC(NAME, MANGLED) \
    asm(".globl __ZTW" SIM_TEXT(MANGLED) "\n.set __ZTW" SIM_TEXT(MANGLED) ", __ZTW11sim_dynamic\n");
#else
#define SIM_DYNAMIC_BYTES(BYTES) extern "C" { alignas(65536) thread_local char sim_dynamic[BYTES] = {}; }
#define SIM_DYNAMIC(NAME, MANGLED) \
    asm(".globl " SIM_TEXT(NAME) "\n.hidden " SIM_TEXT(NAME) "\n.set " SIM_TEXT(NAME) ", sim_dynamic\n");
#endif
// `main` may not be called, nor be declared twice: this is another name for the same symbol.
#if defined(__APPLE__)
#define SIM_MAIN_SYMBOL "_main"
#else
#define SIM_MAIN_SYMBOL "main"
#endif
#define SIM_PROGRAM_MAIN                                                                                                \
    extern "C" int sim_program_main(int, char**) __asm__(SIM_MAIN_SYMBOL);                                              \
    SIM_EXPORT int sim_main(int sim_count, char** sim_words) { return sim_program_main(sim_count, sim_words); }         \
    SIM_EXPORT void sim_kernel_0() {}  /* symbols.base asks where it lies */
