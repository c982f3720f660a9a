// Textures and surfaces: every way to address and to filter. test_textures.py knows what they give.
#include <cstdio>
#include <cstring>

__global__ void sample(cudaTextureObject_t texture, const float2* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2D<float>(texture, at[i].x, at[i].y);
}
__global__ void sample4(cudaTextureObject_t texture, const float2* at, float4* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2D<float4>(texture, at[i].x, at[i].y);
}
__global__ void lines(cudaTextureObject_t linear, cudaTextureObject_t array, const float2* at, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = tex1Dfetch<int>(linear, i - 2) + tex1D<float>(array, at[i].x);
}
__global__ void doubled(cudaSurfaceObject_t surface, int width) {
    float v;
    surf2Dread(&v, surface, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(2 * v, surface, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(0.0f, surface, width * 4, threadIdx.y, cudaBoundaryModeZero);
}
__global__ void in_a_volume(cudaTextureObject_t texture, const float2* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex3D<float>(texture, at[i].x, at[i].y, i % 9 * 0.41f - 0.5f);
}
__global__ void in_layers(cudaTextureObject_t texture, const float2* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2DLayered<float>(texture, at[i].x, at[i].y, i % 5 - 1);
}
__global__ void on_a_cube(cudaTextureObject_t texture, float* y, int n) {  // a direction with each pair of signs, each face its turn
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float d[3] = {(i / 6 % 7 - 3) * 0.3f, (i / 42 % 7 - 3) * 0.3f, 0};
    d[2] = i % 2 ? -1 : 1;
    if (i < n) y[i] = texCubemap<float>(texture, d[(i / 2 + 1) % 3], d[(i / 2 + 2) % 3], d[i / 2 % 3]);
}
__global__ void planes(cudaSurfaceObject_t surface, int plane) {
    float v = surf3Dread<float>(surface, threadIdx.x * 4, threadIdx.y, plane);
    surf3Dwrite(v + 100, surface, threadIdx.x * 4, threadIdx.y, plane);
}
__global__ void outside(cudaSurfaceObject_t surface) { surf2Dwrite(1.0f, surface, 4 * threadIdx.x, 9); }  // expect: crash

const int W = 7, H = 5, N = 400;
void show(const float* y, int n) {
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) printf("%.9g ", y[i]);
    printf("\n");
}
int main(int count, char** words) {
    float pixels[W * H];
    unsigned char bytes[W * H][4];
    for (int i = 0; i < W * H; i++) {
        pixels[i] = i * 13 % 17 - 5;
        for (int c = 0; c < 4; c++) bytes[i][c] = (i * 31 + c * 50) % 256;
    }
    float2* at;
    float* y;
    cudaMallocManaged(&at, N * sizeof *at), cudaMallocManaged(&y, 4 * N * sizeof *y);
    cudaArray_t array, four;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), format4 = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore);
    cudaMallocArray(&four, &format4, W, H);
    cudaMemcpy2DToArray(array, 0, 0, pixels, W * 4, W * 4, H, cudaMemcpyHostToDevice);
    cudaMemcpyToArray(four, 0, 0, bytes, sizeof bytes, cudaMemcpyHostToDevice);
    cudaResourceDesc what;
    cudaTextureDesc how;
    memset(&what, 0, sizeof what), memset(&how, 0, sizeof how);
    what.resType = cudaResourceTypeArray;
    for (int normalised = 0; normalised < 2; normalised++) {
        for (int i = 0; i < N; i++) {
            at[i].x = (i % 20 - 6) * 0.71f, at[i].y = (i / 20 - 7) * 0.53f;
            if (normalised) at[i].x /= W, at[i].y /= H;
        }
        for (auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
            for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
                if (!normalised && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) continue;
                what.res.array.array = array;
                how.addressMode[0] = how.addressMode[1] = mode;
                how.filterMode = filter, how.normalizedCoords = normalised, how.readMode = cudaReadModeElementType;
                cudaTextureObject_t texture;
                cudaCreateTextureObject(&texture, &what, &how, nullptr);
                sample<<<(N + 63) / 64, 64>>>(texture, at, y, N);
                show(y, N);
                cudaDestroyTextureObject(texture);
                what.res.array.array = four;
                how.readMode = cudaReadModeNormalizedFloat;
                cudaCreateTextureObject(&texture, &what, &how, nullptr);
                sample4<<<(N + 63) / 64, 64>>>(texture, at, (float4*)y, N);
                show(y, 4 * N);
                cudaDestroyTextureObject(texture);
            }
    }
    int* numbers;
    float* pitched;
    size_t pitch;
    cudaMallocManaged(&numbers, 10 * sizeof(int));
    for (int i = 0; i < 10; i++) numbers[i] = i * i + 1;
    cudaMallocPitch(&pitched, &pitch, W * 4, H);
    cudaMemcpy2D(pitched, pitch, pixels, W * 4, W * 4, H, cudaMemcpyHostToDevice);
    cudaTextureObject_t linear, second;
    memset(&how, 0, sizeof how), memset(&what, 0, sizeof what);
    what.resType = cudaResourceTypeLinear;
    what.res.linear = {numbers, cudaCreateChannelDesc<int>(), 10 * sizeof(int)};
    cudaCreateTextureObject(&linear, &what, &how, nullptr);
    memset(&what, 0, sizeof what);
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D = {pitched, format, W, H, pitch};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp, how.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&second, &what, &how, nullptr);
    for (int i = 0; i < N; i++) at[i].x = i * 0.6f - 1, at[i].y = i * 0.37f;
    lines<<<1, 32>>>(linear, second, at, y, 14);
    show(y, 14);
    sample<<<1, 32>>>(second, at, y, 14);
    show(y, 14);
    memset(&what, 0, sizeof what);
    what.resType = cudaResourceTypeArray, what.res.array.array = array;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &what);
    doubled<<<1, dim3(W, H)>>>(surface, W);
    cudaMemcpy2DFromArray(y, W * 4, array, 0, 0, W * 4, H, cudaMemcpyDeviceToHost);
    show(y, W * H);

    const int D = 3;  // planes
    float volume[6 * W * W], back[D * W * H];
    for (int i = 0; i < 6 * W * W; i++) volume[i] = i * 29 % 31;
    cudaArray_t planes_of, faces;
    cudaMalloc3DArray(&planes_of, &format, make_cudaExtent(W, H, D), cudaArraySurfaceLoadStore);
    cudaMalloc3DArray(&faces, &format, make_cudaExtent(W, W, 6), cudaArrayCubemap);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(volume, W * 4, W, H);
    copy.dstArray = planes_of, copy.extent = make_cudaExtent(W, H, D), copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    copy.srcPtr = make_cudaPitchedPtr(volume, W * 4, W, W);
    copy.dstArray = faces, copy.extent = make_cudaExtent(W, W, 6);
    cudaMemcpy3D(&copy);
    for (int i = 0; i < N; i++) at[i].x = (i % 20 - 6) * 0.71f, at[i].y = (i / 20 - 7) * 0.53f;
    how.addressMode[2] = cudaAddressModeClamp;
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        cudaTextureObject_t texture;
        how.filterMode = filter, how.normalizedCoords = 0, what.res.array.array = planes_of;
        cudaCreateTextureObject(&texture, &what, &how, nullptr);
        in_a_volume<<<(N + 63) / 64, 64>>>(texture, at, y, N);
        show(y, N);
        in_layers<<<(N + 63) / 64, 64>>>(texture, at, y, N);
        show(y, N);
        cudaDestroyTextureObject(texture);
        how.normalizedCoords = 1, what.res.array.array = faces;
        cudaCreateTextureObject(&texture, &what, &how, nullptr);
        on_a_cube<<<(N + 63) / 64, 64>>>(texture, y, N);
        show(y, N);
        cudaDestroyTextureObject(texture);
    }
    cudaSurfaceObject_t stack;
    what.res.array.array = planes_of;
    cudaCreateSurfaceObject(&stack, &what);
    planes<<<1, dim3(W, H)>>>(stack, 1);
    copy = {};
    copy.srcArray = planes_of, copy.srcPos = make_cudaPos(1, 2, 1), copy.dstPtr = make_cudaPitchedPtr(back, (W - 1) * 4, W - 1, H - 2);
    copy.extent = make_cudaExtent(W - 1, H - 2, D - 1), copy.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&copy);
    for (int i = 0; i < (W - 1) * (H - 2) * (D - 1); i++) printf("%g ", back[i]);
    printf("\n");
    cudaDestroySurfaceObject(stack), cudaFreeArray(planes_of), cudaFreeArray(faces);
    if (count > 1) outside<<<1, 4>>>(surface);
    cudaDestroyTextureObject(linear), cudaDestroyTextureObject(second), cudaDestroySurfaceObject(surface);
    cudaFree(numbers), cudaFree(pitched), cudaFree(at), cudaFree(y), cudaFreeArray(array), cudaFreeArray(four);
}
