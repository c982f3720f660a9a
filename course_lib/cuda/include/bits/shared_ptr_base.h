// A part of g++'s <memory> that writes __attribute__((__noinline__)): CUDA's word of that name steps aside for it.
#pragma once
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
