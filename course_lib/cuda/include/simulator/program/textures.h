// Texture and surface objects of one and two dimensions, over arrays, pitched and linear memory.
//
// Filtering is that of the CUDA C++ Programming Guide, "Texture Fetching": a coordinate's fraction has eight bits behind the point.
// How hardware rounds to them is not documented; here to the nearest. What a texture reads is not watched: it cannot leave the
// texture, and is cached apart from what the kernel writes. Three dimensions, layers and cubes: volumes.h. Not simulated: mipmaps,
// texture references.
#pragma once
#include "../../cuda_fp16.h"
#include "memory.h"

enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4;

struct cudaArray {
    char* data;
    size_t width, height;  // in elements; height 0: one dimension
    cudaChannelFormatDesc format;
    size_t depth = 0;      // planes or layers, one behind the other; 0: neither
    size_t element() const { return (format.x + format.y + format.z + format.w) / 8; }
    size_t pitch() const { return width * element(); }
    size_t plane() const { return pitch() * (height ? height : 1); }
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;

struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

static inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) { return {x, y, z, w, f}; }
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc() {
    constexpr int bits = 8 * sim::Kind<T>::element, many = sizeof(T) / sim::Kind<T>::element;
    constexpr char kind = sim::Kind<T>::kind;
    return {bits, many > 1 ? bits : 0, many > 2 ? bits : 0, many > 3 ? bits : 0,
            kind == 'f' || kind == 'h' ? cudaChannelFormatKindFloat : kind == 'u' || kind == 'b' ? cudaChannelFormatKindUnsigned
                                                                                                  : cudaChannelFormatKindSigned};
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }

// ---- arrays -----------------------------------------------------------------------------------------------------------

static inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height = 0,
                                          unsigned = 0, SIM_SITE) {
    cudaArray made{nullptr, width, height, *format};
    if (cudaError_t code = sim_allocate((void**)&made.data, made.pitch() * (height ? height : 1), SIM_DEVICE, __func__, site)) return code;
    *array = new cudaArray(made);
    return cudaSuccess;
}
static inline cudaError_t cudaFreeArray(cudaArray_t array, SIM_SITE) {
    if (!array) return cudaSuccess;
    cudaError_t code = sim_release(array->data, false, __func__, site);
    delete array;
    return code;
}
// Rows of `width` bytes, from or to byte x of row y.
static inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                              size_t height, cudaMemcpyKind kind, SIM_SITE) {
    if (x + width > to->pitch() || y + height > (to->height ? to->height : 1))
        return SIM_FAIL(cudaErrorInvalidValue, "%zu bytes x %zu rows from byte %zu of row %zu on do not fit into the array", width, height, x, y);
    return cudaMemcpy2D(to->data + y * to->pitch() + x, to->pitch(), from, pitch, width, height, kind, site);
}
static inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                                   size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr, SIM_SITE) {
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind, site);
}
static inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                                size_t height, cudaMemcpyKind kind, SIM_SITE) {
    if (x + width > from->pitch() || y + height > (from->height ? from->height : 1))
        return SIM_FAIL(cudaErrorInvalidValue, "%zu bytes x %zu rows from byte %zu of row %zu on lie beyond the array", width, height, x, y);
    return cudaMemcpy2D(to, pitch, from->data + y * from->pitch() + x, from->pitch(), width, height, kind, site);
}
static inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind, SIM_SITE) {
    return sim_copy(to->data + y * to->pitch() + x, from, bytes, kind, __func__, site);
}
static inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind, SIM_SITE) {
    return sim_copy(to, from->data + y * from->pitch() + x, bytes, kind, __func__, site);
}

// ---- objects ----------------------------------------------------------------------------------------------------------

struct SimTexture {
    char* data;
    long width, height;
    size_t pitch;
    cudaChannelFormatDesc format;
    cudaTextureDesc how;
    long depth = 1;
};
static inline cudaError_t sim_make_texture(unsigned long long* out, const cudaResourceDesc* what, const cudaTextureDesc* how,
                                           const char* function, SimSite site) {
    SimTexture made{};
    if (how) made.how = *how;
    if (what->resType == cudaResourceTypeArray) {
        const cudaArray* a = what->res.array.array;
        if (!a) return cudaError_t(sim_program_error(1, function, site, "the array is null"));
        made = {a->data, long(a->width), long(a->height ? a->height : 1), a->pitch(), a->format, made.how, long(a->depth ? a->depth : 1)};
    } else if (what->resType == cudaResourceTypeLinear) {
        const auto& l = what->res.linear;
        long elements = long(l.sizeInBytes * 8 / (l.desc.x + l.desc.y + l.desc.z + l.desc.w));
        made = {(char*)l.devPtr, elements, 1, l.sizeInBytes, l.desc, made.how};
    } else if (what->resType == cudaResourceTypePitch2D) {
        const auto& p = what->res.pitch2D;
        made = {(char*)p.devPtr, long(p.width), long(p.height), p.pitchInBytes, p.desc, made.how};
    } else {
        return cudaError_t(sim_program_error(cudaErrorNotSupported, function, site, "mipmapped arrays are not simulated"));
    }
    if (!made.data) return cudaError_t(sim_program_error(1, function, site, "the memory is null"));
    *out = (unsigned long long)new SimTexture(made);
    return cudaSuccess;
}
static inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* what, const cudaTextureDesc* how,
                                                  const cudaResourceViewDesc*, SIM_SITE) {
    return sim_make_texture(out, what, how, __func__, site);
}
static inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { return delete (SimTexture*)texture, cudaSuccess; }
static inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* what, SIM_SITE) {
    return sim_make_texture(out, what, nullptr, __func__, site);
}
static inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return cudaDestroyTextureObject(surface); }

// ---- fetches ----------------------------------------------------------------------------------------------------------

// The element that an index means, or -1 for the border's zero. Wrap and mirror are for normalised coordinates.
SIM_FUNCTION long sim_texture_index(long i, long size, cudaTextureAddressMode mode, bool normalised) {
    if (i >= 0 && i < size) return i;
    if (mode == cudaAddressModeBorder) return -1;
    if (normalised && mode == cudaAddressModeWrap) return (i % size + size) % size;
    if (normalised && mode == cudaAddressModeMirror) {
        long at = (i % (2 * size) + 2 * size) % (2 * size);
        return at < size ? at : 2 * size - 1 - at;
    }
    return i < 0 ? 0 : size - 1;
}
// z: of the third dimension, or a layer.
SIM_FUNCTION const char* sim_texel(const SimTexture* t, long x, long y, long z = 0) {
    bool normalised = t->how.normalizedCoords;
    long column = sim_texture_index(x, t->width, t->how.addressMode[0], normalised);
    long row = sim_texture_index(y, t->height, t->how.addressMode[1], normalised);
    long plane = sim_texture_index(z, t->depth, t->how.addressMode[2], normalised);
    if (column < 0 || row < 0 || plane < 0) return nullptr;
    return t->data + (plane * t->height + row) * t->pitch + column * ((t->format.x + t->format.y + t->format.z + t->format.w) / 8);
}
// One channel as a float: integers by their largest value.
SIM_FUNCTION float sim_channel(const SimTexture* t, const char* texel, int channel) {
    if (!texel) return 0;
    const bool is_signed = t->format.f == cudaChannelFormatKindSigned;
    if (t->format.x == 32) return ((const float*)texel)[channel];
    if (t->format.f == cudaChannelFormatKindFloat) return sim::half_to_float(((const uint16_t*)texel)[channel]);
    if (t->format.x == 16) return is_signed ? fmaxf(-1.0f, ((const short*)texel)[channel] / 32767.0f) : ((const uint16_t*)texel)[channel] / 65535.0f;
    return is_signed ? fmaxf(-1.0f, ((const signed char*)texel)[channel] / 127.0f) : ((const unsigned char*)texel)[channel] / 255.0f;
}
SIM_FUNCTION float sim_weight(float fraction) { return rintf(fraction * 256.0f) / 256.0f; }

template <class T> SIM_FUNCTION T sim_fetch(const SimTexture* t, long x, long y, long z = 0) {
    T value{};
    const char* texel = sim_texel(t, x, y, z);
    if (t->how.readMode == cudaReadModeNormalizedFloat) {
        for (unsigned i = 0; i < sizeof(T) / sizeof(float); i++) ((float*)&value)[i] = sim_channel(t, texel, i);
    } else if (texel) {
        __builtin_memcpy((void*)&value, texel, sizeof(T));
    }
    return value;
}
template <class T> SIM_FUNCTION T sim_sample(const SimTexture* t, float x, float y, long z = 0) {
    if (t->how.normalizedCoords) x *= t->width, y *= t->height;
    if (t->how.filterMode == cudaFilterModePoint) return sim_fetch<T>(t, long(floorf(x)), long(floorf(y)), z);
    if constexpr (sim::Kind<T>::kind != 'f') {
        sim_stop(sim_thread(), "linear filtering gives float: an integer type was asked for", nullptr, 0);
    } else {
        float left = floorf(x - 0.5f), top = floorf(y - 0.5f), a = sim_weight(x - 0.5f - left), b = sim_weight(y - 0.5f - top);
        const char* corners[4];
        for (int i = 0; i < 4; i++) corners[i] = sim_texel(t, long(left) + i % 2, long(top) + i / 2, z);
        T value{};
        for (unsigned i = 0; i < sizeof(T) / sizeof(float); i++)
            ((float*)&value)[i] = (1 - b) * ((1 - a) * sim_channel(t, corners[0], i) + a * sim_channel(t, corners[1], i)) +
                                  b * ((1 - a) * sim_channel(t, corners[2], i) + a * sim_channel(t, corners[3], i));
        return value;
    }
}
template <class T> SIM_FUNCTION T tex1Dfetch(cudaTextureObject_t texture, int i) {
    auto* t = (const SimTexture*)texture;
    return i < 0 || i >= t->width ? T{} : sim_fetch<T>(t, i, 0);
}
template <class T> SIM_FUNCTION T tex1D(cudaTextureObject_t texture, float x) {
    auto* t = (const SimTexture*)texture;
    return sim_sample<T>(t, x, 0.5f / (t->how.normalizedCoords ? t->height : 1));
}
template <class T> SIM_FUNCTION T tex2D(cudaTextureObject_t texture, float x, float y) { return sim_sample<T>((const SimTexture*)texture, x, y); }
template <class T> SIM_INLINE void tex1Dfetch(T* out, cudaTextureObject_t texture, int i) { *out = tex1Dfetch<T>(texture, i); }
template <class T> SIM_INLINE void tex1D(T* out, cudaTextureObject_t texture, float x) { *out = tex1D<T>(texture, x); }
template <class T> SIM_INLINE void tex2D(T* out, cudaTextureObject_t texture, float x, float y) { *out = tex2D<T>(texture, x, y); }

// Surfaces count x in bytes.
template <class T> SIM_FUNCTION T* sim_surface(cudaSurfaceObject_t surface, int& x, int& y, cudaSurfaceBoundaryMode mode, const char* file, int line) {
    auto* t = (const SimTexture*)surface;
    int bytes = int(t->width * ((t->format.x + t->format.y + t->format.z + t->format.w) / 8));
    if (x < 0 || y < 0 || x + int(sizeof(T)) > bytes || y >= t->height) {
        if (mode == cudaBoundaryModeZero) return nullptr;
        if (mode == cudaBoundaryModeTrap) sim_stop(sim_thread(), "an access lies outside of the surface (x counts bytes)", file, line);
        x = x < 0 ? 0 : x + int(sizeof(T)) > bytes ? bytes - int(sizeof(T)) : x;
        y = y < 0 ? 0 : y >= t->height ? int(t->height) - 1 : y;
    }
    return (T*)(t->data + y * t->pitch + x);
}
template <class T> SIM_INLINE T surf2Dread(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) {
    T* at = sim_surface<T>(surface, x, y, mode, file, line);
    return at ? *at : T{};
}
template <class T> SIM_INLINE void surf2Dread(T* out, cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) {
    *out = surf2Dread<T>(surface, x, y, mode, file, line);
}
template <class T>
SIM_INLINE void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) {
    if (T* at = sim_surface<T>(surface, x, y, mode, file, line)) *at = value;
}
template <class T> SIM_INLINE T surf1Dread(cudaSurfaceObject_t surface, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) {
    return surf2Dread<T>(surface, x, 0, mode, file, line);
}
template <class T> SIM_INLINE void surf1Dwrite(T value, cudaSurfaceObject_t surface, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, SIM_HERE) {
    surf2Dwrite(value, surface, x, 0, mode, file, line);
}
