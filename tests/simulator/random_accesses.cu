// Each thread runs a little program of its own: (what to do, where) step by step. For tests that compare ways of judging.

extern "C" __global__ void program(const int* steps, int count, int* g, int* out) {
    __shared__ int s[64];
    extern __shared__ int d[];
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, n = blockDim.x * blockDim.y * blockDim.z;
    const int* mine = steps + (blockIdx.x * n + t) * 2 * count;
    int sum = 0;
    for (int k = 0; k < count; k++) {
        int what = mine[2 * k], w = mine[2 * k + 1];
        switch (what) {
            case 1: sum += g[w]; break;
            case 2: g[w] = t; break;
            case 3: g[w] = 7; break;
            case 4: sum += atomicAdd(&g[w], 1); break;
            case 5: sum += ((char*)g)[w * 4 + (t & 3)]; break;
            case 6: ((char*)g)[w * 4 + (t & 3)] = 3; break;
            case 7: sum += s[w]; break;
            case 8: s[w] = t; break;
            case 9: s[w] = 7; break;
            case 10: sum += atomicAdd(&s[w], 1); break;
            case 11: ((short*)s)[2 * w + (t & 1)] = t; break;
            case 12: sum += ((short*)s)[2 * w + (t & 1)]; break;
            case 13: sum += (int)((long long*)s)[w / 2]; break;
            case 14: ((long long*)s)[w / 2] = t; break;
            case 15: __threadfence(); break;
            case 16: { int old = g[w]; atomicCAS(&g[w], old, old + 1); } break;
            case 17: { int old = s[w]; atomicCAS(&s[w], old, old + 1); } break;
            case 18: { int4 v = ((int4*)g)[w / 4]; sum += v.x + v.w; } break;
            case 19: ((int4*)g)[w / 4] = make_int4(t, t, t, t); break;
            case 20: d[w] = t; break;
            case 21: sum += d[w]; break;
            case 22: ((double*)g)[w / 2] = t; break;
            // waits, which all lanes that they are for must come to
            case 30: __syncthreads(); break;
            case 31: __syncwarp(); break;
            case 32: if (t % 32 < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000); break;
            case 33: sum += __shfl_xor_sync(0xffffffffu, sum, 1); break;
        }
    }
    out[blockIdx.x * n + t] = sum;
}
