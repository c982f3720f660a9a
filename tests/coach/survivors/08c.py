"""Mutants of chapter 08c that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "async_copy_pipeline": {
        "ptx::cp_async_wait<1>(); -> ptx::cp_async_wait<0>();": "harmless: it waits for more copies than it need; the task counts results alone",
    },
    "matmul_wmma_few_bytes": {
        "wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4]; -> wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[5];": "harmless: one fragment more, which nobody uses",
    },
}
