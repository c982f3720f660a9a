// Strided views, for memory that is not in the order of the indices: shape and strides.
#pragma once
#include "vector.cuh"

// The shape of a result, and for each axis the distance of its elements in memory, counted in elements: 0 where the
// same element is repeated (broadcast), negative where it is read backwards. course_lib/devices/gpu/views.py fills it in.
struct View {
    int axes;
    int sizes[6];
    long long strides[6];
};

// The offset of element i of a view, counting elements in row-major order: the last axis varies fastest.
__device__ inline long long offset_of(const View& view, unsigned i) {
    long long offset = 0;
    for (int axis = view.axes - 1; axis >= 0; axis--) {
        unsigned size = view.sizes[axis];
        offset += i % size * view.strides[axis];
        i /= size;
    }
    return offset;
}
