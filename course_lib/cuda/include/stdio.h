// <stdio.h> of the compiler, with the printf of a kernel: its own must not be declared under our name.
#undef printf
#include_next <stdio.h>
#ifdef COURSE_SIMULATOR_H
#define printf sim_printf
#endif
