// Inline PTX as public kernels write it. test_inline_ptx.py knows what it gives.
#include <cuda_fp16.h>
#include <cstdint>
#include <cstdio>
#define COPY_16(TO, FROM) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(TO), "l"(FROM), "n"(16))
#define COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define LEFT(N) asm volatile("cp.async.wait_group %0;\n" ::"n"(N))
#define LDMATRIX_X4(R0, R1, R2, R3, ADDRESS)                                          \
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
                 : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                             \
                 : "r"(ADDRESS))
#define LDMATRIX_X2_T(R0, R1, ADDRESS) \
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(ADDRESS))

__device__ __forceinline__ uint32_t shared_address(const void* p) {
    uint32_t address;
    asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(address) : "l"(p));
    return address;
}
__device__ __forceinline__ int lane() {
    unsigned number;
    asm("mov.u32 %0, %%laneid;" : "=r"(number));
    return number;
}
// C = A B of 16 x 16 and 16 x 8 by the tensor cores, half and float sums.
__global__ void product(const half* a, const half* b, float* c, half* c_half) {
    __shared__ __align__(16) half tile_a[256], tile_b[128];
    COPY_16(shared_address(tile_a + 8 * lane()), a + 8 * lane());
    COMMIT();
    if (lane() < 16) COPY_16((uint32_t)__cvta_generic_to_shared(tile_b + 8 * lane()), b + 8 * lane());
    COMMIT();
    LEFT(0);
    __syncwarp();
    uint32_t ra[4], rb[2], rd[2] = {0, 0};
    float sums[4] = {0, 0, 0, 0};
    LDMATRIX_X4(ra[0], ra[1], ra[2], ra[3], shared_address(tile_a + lane() % 16 * 16 + lane() / 16 * 8));
    LDMATRIX_X2_T(rb[0], rb[1], shared_address(tile_b + lane() % 16 * 8));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
                 : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "f"(sums[0]), "f"(sums[1]), "f"(sums[2]),
                   "f"(sums[3]));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n"
                 : "=r"(rd[0]), "=r"(rd[1])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rd[0]), "r"(rd[1]));
    for (int i = 0; i < 4; i++) c[(lane() / 4 + i / 2 * 8) * 8 + lane() % 4 * 2 + i % 2] = sums[i];
    for (int i = 0; i < 2; i++) *(uint32_t*)(c_half + (lane() / 4 + i * 8) * 8 + lane() % 4 * 2) = rd[i];
}
// Rows of 32 results, one of each lane, as unsigned numbers.
__global__ void scalars(const uint32_t* x, const float* f, uint32_t* y) {
    uint32_t v = x[lane()], w = x[lane() + 32], r, row = 0;
    int taken;
    float g = f[lane()], h;
    uint64_t wide;
    __shared__ uint32_t shared[32];
#define KEEP(VALUE) y[32 * row++ + lane()] = (VALUE)
    asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(r) : "r"(v), "r"(w));
    KEEP(r);
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(v), "r"(w), "r"(v * 3));
    KEEP(r);
    asm("bfe.u32 %0, %1, 5, 9;" : "=r"(r) : "r"(v));
    KEEP(r);
    asm("bfi.b32 %0, %1, %2, 7, 11;" : "=r"(r) : "r"(v), "r"(w));
    KEEP(r);
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(v));
    KEEP(r);
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(v), "r"(w));
    KEEP(uint32_t(wide >> 32));
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(taken) : "r"((int)v), "r"(-3), "r"(17));
    KEEP(taken);
    asm("mul.hi.s32 %0, %1, %2;" : "=r"(taken) : "r"((int)v), "r"((int)w));
    KEEP(taken);
    asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.u32 %0, %3, 99, p; }" : "=r"(r) : "r"((int)v), "r"((int)w), "r"(v));
    KEEP(r);
    r = 5;
    asm("{\n .reg .pred %%q;\n setp.ne.u32 %%q, %1, 0;\n @!%%q mov.u32 %0, 7;\n @%%q add.u32 %0, %0, 1;\n}" : "+r"(r) : "r"(v & 1));
    KEEP(r);
    asm("shfl.sync.bfly.b32 %0, %1, 3, 0x1f, 0xffffffff;" : "=r"(r) : "r"(v));
    KEEP(r);
    asm("shfl.sync.down.b32 %0, %1, %2, 0x181f, -1;" : "=r"(r) : "r"(v), "r"(1));
    KEEP(r);
    asm("{ .reg .pred p; setp.gt.u32 p, %1, 0x7fffffff; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(r) : "r"(v));
    KEEP(r);
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
    KEEP(r + threadIdx.x);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(shared + lane())), "r"(v) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("ld.shared.u32 %0, [%1+4];" : "=r"(r) : "r"(shared_address(shared + lane() / 2)));
    KEEP(r);
    asm("fma.rn.f32 %0, %1, %1, 0f3F800000;" : "=f"(h) : "f"(g));
    KEEP(__float_as_uint(h));
    asm("{ .reg .b16 low; cvt.rn.f16.f32 low, %1; cvt.f32.f16 %0, low; }" : "=f"(h) : "f"(g));
    KEEP(__float_as_uint(h));
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(taken) : "f"(1000 * g));
    KEEP(taken);
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(g), "f"(g + 1));
    KEEP(r);
    asm("shf.l.wrap.b32 %0, %1, %2, 9;" : "=r"(r) : "r"(v), "r"(w));
    KEEP(r);
    asm("max.f32 %0, %1, %2;" : "=f"(h) : "f"(g), "f"(0.25f));
    KEEP(__float_as_uint(h));
}
__global__ void vectors(const float* x, float* y, unsigned* count) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + 4 * threadIdx.x));
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(y + 4 * threadIdx.x), "f"(v.w), "f"(v.z), "f"(v.y), "f"(v.x));
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(count), "r"(2u));
    unsigned before;
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count + 1));
    (void)before;
}
__global__ void unknown(float* y) {
    if (y) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");  // expect: crash
    else y[0] = 1;
}
#ifdef __x86_64__
int host_assembly() {
    int five = 0;
    asm("movl $5, %0" : "=r"(five));
    return five;
}
#endif
int main(int count, char** words) {
    uint32_t* x;
    float *f, *c;
    half *a, *c_half;
    cudaMallocManaged(&x, 4 * 64), cudaMallocManaged(&f, 4 * 128), cudaMallocManaged(&c, 4096), cudaMallocManaged(&a, 4096);
    cudaMallocManaged(&c_half, 256);
    for (int i = 0; i < 64; i++) x[i] = 2654435761u * (i + 1) ^ i << 7;
    for (int i = 0; i < 128; i++) f[i] = (i * 37 % 101 - 50) / 64.0f;
    for (int i = 0; i < 384; i++) a[i] = __float2half((i * 29 % 41 - 20) / 16.0f);
    product<<<1, 32>>>(a, a + 256, c, c_half);
    cudaDeviceSynchronize();
    for (int i = 0; i < 128; i++) printf("%.9g %.9g ", c[i], __half2float(c_half[i]));
    scalars<<<1, 32>>>(x, f, (uint32_t*)c);
    cudaDeviceSynchronize();
    printf("\n");
    for (int i = 0; i < 21 * 32; i++) printf("%u ", ((uint32_t*)c)[i]);
    x[0] = x[1] = 0;
    vectors<<<1, 32>>>(f, c, x);
    cudaDeviceSynchronize();
    printf("\n");
    for (int i = 0; i < 128; i++) printf("%.9g ", c[i]);
    printf("%u %u\n", x[0], x[1]);
#ifdef __x86_64__
    if (host_assembly() != 5) return 1;
#endif
    if (count > 1) unknown<<<1, 1>>>(c);
    cudaDeviceReset();
}
