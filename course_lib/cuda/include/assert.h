// <assert.h> of the compiler, with the assert of a kernel.
#include_next <assert.h>
#include "simulator/assert.h"
