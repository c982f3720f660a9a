// Runs the kernel of arm64.cu without Python: 3 blocks of 96 threads, 80 of them at work. Prints the results, one a line.
#include <unistd.h>

#include <cstdio>

#include "block.h"

extern "C" {
void* sim_alloc(size_t bytes, int kind);
void sim_start(const sim::Launch*, sim::Run, unsigned workers);
int sim_wait(int milliseconds);
int sim_fault_count();
void sim_run_0(const sim::Launch*, sim::Index block, unsigned first, unsigned last);
}

int main() {
    const int n = 80, blocks = 3;
    auto* x = static_cast<float*>(sim_alloc(n * sizeof(float), 1));
    auto* out = static_cast<float*>(sim_alloc(blocks * n * sizeof(float), 1));
    if (!x || !out) return 2;
    for (int i = 0; i < n; i++) x[i] = i * i % 17;
    int count = n;
    void* arguments[] = {&x, &out, &count};
    sim::Launch launch{arguments, {blocks, 1, 1}, {96, 1, 1}, 0, 0, 0};
    sim_start(&launch, sim_run_0, 2);
    while (sim_wait(1000)) {}
    printf("page %ld faults %d\n", sysconf(_SC_PAGESIZE), sim_fault_count());
    for (int i = 0; i < blocks * n; i++) printf("%.1f\n", out[i]);
}
