// Arrays of three dimensions, of layers, and of the six faces of a cube: copies to and from them, and fetches.
//
// "CUDA C++ Programming Guide", Texture and Surface Memory: 3D, layered and cubemap textures; Texture Fetching, Linear Filtering.
#pragma once
#include "textures.h"

struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
static inline cudaPitchedPtr make_cudaPitchedPtr(void* data, size_t pitch, size_t xsize, size_t ysize) { return {data, pitch, xsize, ysize}; }
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};

static inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent size, unsigned = 0, SIM_SITE) {
    cudaArray made{nullptr, size.width, size.height, *format, size.depth};
    if (cudaError_t code = sim_allocate((void**)&made.data, made.plane() * (size.depth ? size.depth : 1), SIM_DEVICE, __func__, site)) return code;
    *array = new cudaArray(made);
    return cudaSuccess;
}
// The width of the size is in bytes here.
static inline cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent size, SIM_SITE) {
    *out = {nullptr, (size.width + 511) / 512 * 512, size.width, size.height};
    return sim_allocate(&out->ptr, out->pitch * size.height * size.depth, SIM_DEVICE, __func__, site);
}

// One end of a copy: where it begins, and how far apart its rows and planes lie. A position counts elements, or bytes without an array.
struct SimEnd { char* data; size_t row, plane; };
static inline SimEnd sim_end(cudaArray_t array, cudaPitchedPtr given, cudaPos at) {
    if (array) return {array->data + at.z * array->plane() + at.y * array->pitch() + at.x * array->element(), array->pitch(), array->plane()};
    size_t plane = given.pitch * given.ysize;
    return {(char*)given.ptr + at.z * plane + at.y * given.pitch + at.x, given.pitch, plane};
}
static inline bool sim_fits(cudaArray_t array, cudaPos at, cudaExtent size) {
    return !array || (at.x + size.width <= array->width && at.y + size.height <= (array->height ? array->height : 1) &&
                      at.z + size.depth <= (array->depth ? array->depth : 1));
}
static inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what, SIM_SITE) {
    cudaExtent size = what->extent;
    cudaArray_t array = what->srcArray ? what->srcArray : what->dstArray;
    if (!sim_fits(what->srcArray, what->srcPos, size) || !sim_fits(what->dstArray, what->dstPos, size))
        return SIM_FAIL(cudaErrorInvalidValue, "%zu x %zu x %zu elements do not fit into the array at that position", size.width, size.height, size.depth);
    SimEnd from = sim_end(what->srcArray, what->srcPtr, what->srcPos), to = sim_end(what->dstArray, what->dstPtr, what->dstPos);
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++)
            if (cudaError_t code = sim_copy(to.data + z * to.plane + y * to.row, from.data + z * from.plane + y * from.row,
                                            size.width * (array ? array->element() : 1), what->kind, __func__, site))
                return code;
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* what, cudaStream_t = nullptr, SIM_SITE) { return cudaMemcpy3D(what, site); }
static inline cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent size, SIM_SITE) {
    for (size_t row = 0; row < size.depth * to.ysize; row++)
        if (row % to.ysize < size.height)
            if (cudaError_t code = cudaMemset((char*)to.ptr + row * to.pitch, value, size.width, site)) return code;
    return cudaSuccess;
}

// ---- fetches ----------------------------------------------------------------------------------------------------------

template <class T> SIM_FUNCTION T tex3D(cudaTextureObject_t texture, float x, float y, float z) {
    auto* t = (const SimTexture*)texture;
    if (t->how.normalizedCoords) z *= t->depth;
    if (t->how.filterMode == cudaFilterModePoint) return sim_sample<T>(t, x, y, long(floorf(z)));
    float plane = floorf(z - 0.5f), c = sim_weight(z - 0.5f - plane);
    T near = sim_sample<T>(t, x, y, long(plane)), far = sim_sample<T>(t, x, y, long(plane) + 1);
    for (unsigned i = 0; i < sizeof(T) / sizeof(float); i++)
        ((float*)&near)[i] = (1 - c) * ((float*)&near)[i] + c * ((float*)&far)[i];
    return near;
}
SIM_FUNCTION long sim_layer(const SimTexture* t, int layer) { return layer < 0 ? 0 : layer >= t->depth ? t->depth - 1 : layer; }
template <class T> SIM_FUNCTION T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
    auto* t = (const SimTexture*)texture;
    return sim_sample<T>(t, x, y, sim_layer(t, layer));
}
template <class T> SIM_FUNCTION T tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
    auto* t = (const SimTexture*)texture;
    return sim_sample<T>(t, x, 0.5f / (t->how.normalizedCoords ? t->height : 1), sim_layer(t, layer));
}
// The direction's largest component says which face, the other two where on it, whether or not coordinates are normalised.
template <class T> SIM_FUNCTION T texCubemap(cudaTextureObject_t texture, float x, float y, float z) {
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), most, s, t;
    int face;
    if (ax >= ay && ax >= az) face = x < 0, most = ax, s = x < 0 ? z : -z, t = -y;
    else if (ay >= az) face = 2 + (y < 0), most = ay, s = x, t = y < 0 ? -z : z;
    else face = 4 + (z < 0), most = az, s = z < 0 ? -x : x, t = -y;
    auto* cube = (const SimTexture*)texture;
    float size = cube->how.normalizedCoords ? 1 : cube->width;
    return tex2DLayered<T>(texture, (s / most + 1) / 2 * size, (t / most + 1) / 2 * size, face);
}
template <class T> SIM_INLINE void tex3D(T* out, cudaTextureObject_t texture, float x, float y, float z) { *out = tex3D<T>(texture, x, y, z); }
template <class T> SIM_INLINE void tex2DLayered(T* out, cudaTextureObject_t texture, float x, float y, int layer) {
    *out = tex2DLayered<T>(texture, x, y, layer);
}

// The plane's surface is one of two dimensions.
template <class T> SIM_FUNCTION T* sim_plane(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode, const char* file, int line) {
    auto* t = (const SimTexture*)surface;
    bool within = z >= 0 && z < t->depth;
    if (!within && mode == cudaBoundaryModeTrap) sim_stop(sim_thread(), "an access lies outside of the surface (no such plane or layer)", file, line);
    T* at = sim_surface<T>(surface, x, y, mode, file, line);
    return !at || (!within && mode == cudaBoundaryModeZero) ? nullptr : (T*)((char*)at + sim_layer(t, z) * t->height * t->pitch);
}
#define SIM_PLANES(NAME)                                                                                                             \
    template <class T>                                                                                                               \
    SIM_INLINE T NAME##read(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) { \
        T* at = sim_plane<T>(surface, x, y, z, mode, file, line);                                                                    \
        return at ? *at : T{};                                                                                                       \
    }                                                                                                                                \
    template <class T>                                                                                                               \
    SIM_INLINE void NAME##write(T value, cudaSurfaceObject_t surface, int x, int y, int z,                                           \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) {                                     \
        if (T* at = sim_plane<T>(surface, x, y, z, mode, file, line)) *at = value;                                                   \
    }
SIM_PLANES(surf3D)
SIM_PLANES(surf2DLayered)
