// A failed assert stops the kernel with a sentence. Included again and again, as <assert.h> is: NDEBUG may have changed.
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#elif defined(SIM_PROGRAM)
#define assert(condition) ((condition) ? (void)0 : sim_program_assert(#condition, __FILE__, __LINE__))
#else
#define assert(condition) ((condition) ? (void)0 : sim_stop(sim_thread(), "assertion failed: " #condition, __FILE__, __LINE__))
#endif
