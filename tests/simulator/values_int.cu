// Integers in and out: (x, y, n). Grids and references are in test_values.py. Architectures: sm_80 and newer.
#define FULL 0xffffffffu

extern "C" __global__ void votes(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? x[i] : 0;
    unsigned ballot = __ballot_sync(FULL, v > 10);
    int any = __any_sync(FULL, v > 90), all = __all_sync(FULL, v < 98);
    if (i < n) y[i] = (int)(ballot & 0xffffff) + (any << 28) + (all << 29);
}
extern "C" __global__ void matches(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, same;
    int v = (i < n ? x[i] : 0) % 5;
    unsigned peers = __match_any_sync(FULL, v), all = __match_all_sync(FULL, v / 5, &same);
    if (i < n) y[i] = __popc(peers) + 100 * same + 1000 * (all == FULL);
}
extern "C" __global__ void reduces(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? x[i] : 0;
    int sum = __reduce_add_sync(FULL, v), low = __reduce_min_sync(FULL, v), high = __reduce_max_sync(FULL, v);
    unsigned bits = __reduce_or_sync(FULL, (unsigned)v) ^ __reduce_and_sync(FULL, (unsigned)v) ^ __reduce_xor_sync(FULL, (unsigned)v);
    if (i < n) y[i] = sum + 3 * low + 7 * high + (int)bits;
}
extern "C" __global__ void histogram(const int* x, int* y, int n) {
    __shared__ int bins[100];
    for (int j = threadIdx.x; j < 100; j += blockDim.x) bins[j] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    for (int j = threadIdx.x; j < 100; j += blockDim.x) atomicAdd(&y[j], bins[j]);
}
extern "C" __global__ void atomic_all(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    atomicAdd(&y[0], v);
    atomicSub(&y[1], v);
    atomicMin(&y[2], -v);
    atomicMax(&y[3], v);
    atomicAnd(&y[4], ~(1 << (v % 31)));
    atomicOr(&y[5], 1 << (v % 31));
    atomicXor(&y[6], v);
    atomicInc((unsigned*)&y[7], 6u);
    atomicDec((unsigned*)&y[8], 6u);
    atomicExch(&y[9], 77);
    int old = y[10], assumed;
    do {
        assumed = old;
        old = atomicCAS(&y[10], assumed, assumed + v);
    } while (old != assumed);
}
extern "C" __global__ void atomic_wide(const int* x, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long* u = (unsigned long long*)y;
    unsigned long long v = 1000000000ull * x[i];
    atomicAdd(&u[0], v);
    atomicMax(&u[1], v);
    atomicMin(&u[2], v);
    atomicMin(&y[3], (long long)-v);
    atomicMax(&y[4], (long long)v - 1);
    atomicOr(&u[5], 1ull << (x[i] % 64));
    atomicCAS(&u[6], 5ull, 9ull);
    atomicExch(&u[7], 12345678901ull);
}
extern "C" __global__ void atomic_float(const int* x, float* y, double* d, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0.0f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&total, (float)x[i]);
        atomicAdd(&d[0], (double)x[i]);
        atomicExch(&y[1], 3.0f);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&y[0], total);
}
extern "C" __global__ void atomic_ticket(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[1 + atomicAdd(&y[0], 1)] = x[i];
}
extern "C" __global__ void bits(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    y[i] = __popc(v) + __clz(v) + __ffs(v) + (int)(__brev(v) >> 20) + __mul24(v, 3) + (int)__umulhi(v, 0x80000000u) +
           (int)__byte_perm(v, 0x01020304, 0x5140) % 1000 + (int)__funnelshift_l(v, 1u, 4) + (int)__sad(v, 50, 1u) +
           __popcll(v) + __clzll(v) + __mulhi(v, 1 << 30) + __float_as_int(__int_as_float(v)) + __float2int_rn(v + 0.5f) +
           __float2int_rd(-0.5f) + (int)__umul24(v, 5);
}
extern "C" __global__ void vector_ints(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    int4 v = ((const int4*)x)[i];
    uchar4 bytes = make_uchar4(v.x, v.y, v.z, v.w);
    short2 pair = make_short2(bytes.x + 1, bytes.y + 2);
    uint2 sum = make_uint2(pair.x + bytes.z, pair.y + bytes.w);
    ((int4*)y)[i] = make_int4(sum.x, sum.y, bytes.w, pair.y);
}
extern "C" __global__ void small_types(const signed char* x, unsigned char* y, short* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = (unsigned char)(x[i] * 3);
    z[i] = x[i] - y[i];
}
extern "C" __global__ void flags(const bool* x, bool* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = !x[i];
}
extern "C" __global__ void recursive_fibonacci(const int* x, int* y, int n);
__device__ int fibonacci(int k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }
extern "C" __global__ void recursive_fibonacci(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fibonacci(x[i] % 12);
}
extern "C" __global__ void bitonic_sort(const int* x, int* y, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 1 << 30;
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t) {
                bool up = (t & size) == 0;
                if ((s[t] > s[other]) == up) {
                    int keep = s[t];
                    s[t] = s[other];
                    s[other] = keep;
                }
            }
            __syncthreads();
        }
    if (t < n) y[t] = s[t];
}
extern "C" __global__ void compact_by_ballot(const int* x, int* y, int n) {
    int lane = threadIdx.x;
    int keep = lane < n && x[lane] % 2;
    unsigned kept = __ballot_sync(FULL, keep);
    if (keep) y[__popc(kept & ((1u << lane) - 1))] = x[lane];
}
extern "C" __global__ void signal_between_warps(const int* x, int* y, int n) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) { if (threadIdx.x == 0) flag = n; }
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = flag + x[threadIdx.x];
}
extern "C" __global__ void switch_and_goto(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    switch (x[i] % 3) {
        case 0: y[i] = 10; break;
        case 1: y[i] = 20; break;
        default: y[i] = 30;
    }
}
