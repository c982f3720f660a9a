// Layers of one dimension, and memory of three dimensions whose rows are padded. test_textures.py knows what they give.
#include <cstdio>
#include <cstring>

__global__ void in_lines(cudaTextureObject_t texture, const float* at, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = tex1DLayered<float>(texture, at[i], i % 6 - 1);
}
__global__ void raise(cudaPitchedPtr volume, cudaExtent size) {  // each element by its place
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    char* plane = (char*)volume.ptr + z * volume.pitch * size.height;
    ((float*)(plane + y * volume.pitch))[x] += 100 * z + 10 * y + x;
}
__global__ void behind(cudaPitchedPtr volume, cudaExtent size) {
    ((char*)volume.ptr)[volume.pitch * size.height * size.depth] = 1;  // expect: out-of-bounds
}

const int W = 7, H = 5, D = 4, N = 60;
template <class T> void show(const T* y, int n) {
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) printf("%.9g ", (float)y[i]);
    printf("\n");
}
int main(int count, char**) {
    float lines[D * W], volume[D * H * W];
    for (int i = 0; i < D * W; i++) lines[i] = i * 13 % 17 - 5;
    for (int i = 0; i < D * H * W; i++) volume[i] = i * 29 % 31;
    float *at, *y;
    cudaMallocManaged(&at, N * sizeof *at), cudaMallocManaged(&y, N * sizeof *y);

    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc3DArray(&array, &format, make_cudaExtent(W, 0, D), cudaArrayLayered);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(lines, W * 4, W, 1);
    copy.dstArray = array, copy.extent = make_cudaExtent(W, 1, D), copy.kind = cudaMemcpyHostToDevice;
    printf("%d\n", cudaMemcpy3D(&copy));
    cudaResourceDesc what;
    cudaTextureDesc how;
    memset(&what, 0, sizeof what), memset(&how, 0, sizeof how);
    what.resType = cudaResourceTypeArray, what.res.array.array = array;
    for (int normalised = 0; normalised < 2; normalised++)
        for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
            for (int i = 0; i < N; i++) at[i] = (i - 20) * 0.31f, at[i] /= normalised ? W : 1;
            how.addressMode[0] = normalised ? cudaAddressModeWrap : cudaAddressModeBorder;
            how.filterMode = filter, how.normalizedCoords = normalised;
            cudaTextureObject_t texture;
            cudaCreateTextureObject(&texture, &what, &how, nullptr);
            in_lines<<<1, 64>>>(texture, at, y, N);
            show(y, N);
            cudaDestroyTextureObject(texture);
        }

    cudaPitchedPtr padded;
    cudaExtent size = make_cudaExtent(W * sizeof(float), H, D), inner = make_cudaExtent((W - 2) * sizeof(float), H - 1, D - 1);
    cudaMalloc3D(&padded, size);
    printf("%d %d %d\n", padded.pitch >= size.width && padded.pitch % 16 == 0, (int)padded.xsize, (int)padded.ysize);
    cudaMemset3D(padded, 0, size);
    copy = {};
    copy.srcPtr = make_cudaPitchedPtr(volume, W * 4, W, H), copy.dstPtr = padded;
    copy.srcPos = make_cudaPos(2 * 4, 1, 1), copy.dstPos = make_cudaPos(4, 0, 1);
    copy.extent = inner, copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    raise<<<D, dim3(W, H)>>>(padded, size);
    copy = {};
    copy.srcPtr = padded, copy.dstPtr = make_cudaPitchedPtr(volume, W * 4, W, H);
    copy.extent = size, copy.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&copy);
    show(volume, D * H * W);
    cudaMemset3D(padded, 1, inner);
    copy.extent = size;
    cudaMemcpy3D(&copy);
    show((int*)volume, D * H * W);
    if (count > 1) behind<<<1, 1>>>(padded, size);
    cudaFreeArray(array), cudaFree(padded.ptr), cudaFree(at), cudaFree(y);
}
