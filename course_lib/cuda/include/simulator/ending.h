// What is written behind a text: its arrays of dynamic shared memory, and a program's main under a name that can be called.
#pragma once

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))
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
