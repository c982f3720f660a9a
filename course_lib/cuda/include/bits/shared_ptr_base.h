// A part of g++'s <memory> that writes __attribute__((__noinline__)): CUDA's macro of that name is undefined meanwhile.
#pragma once
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
