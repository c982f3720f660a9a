// How a kernel walks over memory that is not in its own order: views with shape and strides, and packs of neighbours.
#pragma once
#include "vector.cuh"

// The shape of a result, and for each axis how far apart its elements lie in memory, counted in elements: 0 where the
// same element is repeated (broadcast), negative where it is read backwards. course_lib/devices/gpu/views.py fills it in.
struct View {
    int axes;
    int sizes[6];
    long long strides[6];
};

// Where element i of a view lies, counting elements in row-major order: the last axis turns fastest.
__device__ inline long long place(const View& view, unsigned i) {
    long long offset = 0;
    for (int axis = view.axes - 1; axis >= 0; axis--) {
        unsigned size = view.sizes[axis];
        offset += i % size * view.strides[axis];
        i /= size;
    }
    return offset;
}
