// Cooperative groups beyond reduce and scan, and wmma of integers. Architectures: sm_80 and newer.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;

struct Best {
    float value;
    int index;
    double weight;
};

extern "C" __global__ void wide_shuffles(const uint4* x, uint4* y) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    uint4 v = x[threadIdx.x];
    uint4 a = tile.shfl(v, 3), b = tile.shfl_up(v, 1), c = tile.shfl_down(v, 2), d = tile.shfl_xor(v, 5);
    y[threadIdx.x] = make_uint4(a.x, b.y, c.z, d.w);
}
extern "C" __global__ void wide_reduce(const float* x, float* y, int* where) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    Best mine{x[threadIdx.x], (int)threadIdx.x, 1.0};
    Best best = cg::reduce(warp, mine, [](const Best& a, const Best& b) {
        Best best = a.value > b.value ? a : b;
        best.weight = a.weight + b.weight;
        return best;
    });
    y[threadIdx.x] = best.value + (float)best.weight;
    where[threadIdx.x] = best.index;
}
extern "C" __global__ void partitions(const int* x, int* y) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = x[threadIdx.x];
    auto side = cg::binary_partition(warp, v % 2 == 1);
    auto same = cg::labeled_partition(warp, v % 5);
    int sum = cg::reduce(same, v, cg::plus<int>());
    int all_same = 0;
    unsigned all = warp.match_all(v / 1000, all_same), any = warp.match_any(v % 3);
    y[8 * threadIdx.x] = side.size() + 100 * side.meta_group_rank() + 1000 * side.meta_group_size();
    y[8 * threadIdx.x + 1] = sum;
    y[8 * threadIdx.x + 2] = same.meta_group_rank();
    y[8 * threadIdx.x + 3] = same.meta_group_size();
    y[8 * threadIdx.x + 4] = all_same + (all == 0xffffffffu);
    y[8 * threadIdx.x + 5] = __popc(any);
    y[8 * threadIdx.x + 6] = cg::group_size(side) + 100 * cg::thread_rank(side);
    y[8 * threadIdx.x + 7] = cg::invoke_one_broadcast(same, [&] { return v % 5; });
}
extern "C" __global__ void ranks(int* y) {
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> part = cg::tiled_partition<8>(cg::tiled_partition<32>(block));
    cg::thread_group four = cg::tiled_partition(block, 4);
    int* mine = y + 8 * (grid.block_rank() * block.num_threads() + block.thread_rank());
    mine[0] = grid.block_rank() + 100 * grid.num_blocks();
    mine[1] = grid.block_index().x + 10 * grid.block_index().y + 100 * grid.dim_blocks().x + 1000 * grid.dim_blocks().y;
    mine[2] = block.group_dim().x + 100 * block.dim_threads().y;
    mine[3] = warp.meta_group_rank() + 100 * warp.meta_group_size();
    mine[4] = part.meta_group_rank() + 100 * part.meta_group_size();
    mine[5] = four.size() + 100 * four.thread_rank();
    mine[6] = 0;
    cg::invoke_one(part, [&] { mine[6] = 1; });
    mine[7] = 0;
    if (block.thread_rank() % 2) {
        auto odd = cg::coalesced_threads();
        auto few = cg::tiled_partition(odd, 4);
        mine[7] = few.meta_group_rank() + 10 * few.meta_group_size() + 100 * few.size() + few.shfl(1000 * mine[3], 0);
    }
}
// Tile by tile, 16 columns of `a` and 16 rows of `b` each (those one column after the other): places that a GPU takes.
template <typename T, int M, int N>
__global__ void integer_products(const T* a, const T* b, int* c, int n) {
    wmma::fragment<wmma::matrix_a, M, N, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, int> sum;
    wmma::load_matrix_sync(sum, c, N, wmma::mem_row_major);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + k * M, 16);
        wmma::load_matrix_sync(fb, b + k * N, 16);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}
