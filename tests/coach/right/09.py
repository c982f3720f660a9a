"""Right answers to the exercises of chapter 9, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "masked_scores": [
        Changed(("return column <= row ? scale * sum : -INFINITY;",
                 "if (row < column) {\n            return -INFINITY;\n        }\n        return sum * scale;")),
        Changed(("column <= row ? scale * sum : -INFINITY", "scale * sum + (column > row ? -INFINITY : 0.0f)")),
    ],
    "fold_norm": [
        "def fold_norm(W, gain, bias):\n    return W @ np.diag(gain), (W * bias).sum(axis=1)",
        "def fold_norm(W, gain, bias):\n    return [np.einsum('nk,k->nk', W, gain), np.dot(W, bias)]",
    ],
    "logsumexp_of_parts": [
        "def logsumexp_of_parts(m, l):\n    return np.logaddexp.reduce(m + np.log(l), axis=1)",
        """def logsumexp_of_parts(m, l):
    results = []
    for row_m, row_l in zip(m, l):
        most, total = -math.inf, 0.0
        for part_m, part_l in zip(row_m, row_l):
            new = max(most, part_m)
            total = total * math.exp(most - new) + part_l * math.exp(part_m - new)
            most = new
        results.append(most + math.log(total))
    return np.array(results)
""",
    ],
    "gemm_gelu": [
        Changed(("const float4 x = bias.added_to(sums, column);", "float4 x = sums;\n        if (bias.bias) x = sums + "
                 "load_four(bias.bias, column, bias.N, bias.aligned);")),
        Changed(("        pre.store(row, column, x);\n        c.store(row, column, make_float4(gelu(x.x), gelu(x.y), gelu(x.z), "
                 "gelu(x.w)));",
                 "        float4 bent = x;\n        bent.x *= gelu_gate(x.x);\n        bent.y *= gelu_gate(x.y);\n"
                 "        bent.z *= gelu_gate(x.z);\n        bent.w *= gelu_gate(x.w);\n        c.store(row, column, bent);\n"
                 "        pre.store(row, column, x);")),
    ],
    "gemm_row_scale": [
        Changed(("        const float s = scale[row];\n        c.store(row, column, make_float4(s * sums.x, s * sums.y, s * "
                 "sums.z, s * sums.w));",
                 "        sums.x *= scale[row];\n        sums.y *= scale[row];\n        sums.z *= scale[row];\n        sums.w *= "
                 "scale[row];\n"
                 "        c.store(row, column, sums);")),
        Changed(("        c.store(row, column, make_float4(s * sums.x, s * sums.y, s * sums.z, s * sums.w));",
                 "        const float four[4] = {sums.x, sums.y, sums.z, sums.w};\n"
                 "        for (int j = 0; j < 4; j++) {\n            if (column + j < c.N) c.first[(size_t)row * c.N + column + "
                 "j] = s * four[j];\n"
                 "        }")),
    ],
    "gemm_residual": [
        Changed(("        c.store(row, column, bias.added_to(sums, column) + residual.load(row, column));",
                 "        const float4 old = residual.load(row, column);\n        sums = bias.added_to(sums, column);\n"
                 "        c.store(row, column, make_float4(sums.x + old.x, sums.y + old.y, sums.z + old.z, sums.w + old.w));")),
        Changed(("bias.added_to(sums, column) + residual.load(row, column)", "bias.added_to(residual.load(row, column) + sums, "
                                                                             "column)")),
    ],
    "gemm_logsumexp": [
        Changed(("if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M)", "if (threadIdx.x / narrowest % (2 * widest / "
                                                                                  "narrowest) == 0 && row < M)")),
        Changed(("        for (int step = widest; step >= narrowest; step /= 2)\n", "        for (int step = narrowest; step <= "
                                                                                    "widest; step *= 2)\n")),
    ],
    "gemm_split_sum": [
        """extern "C" __global__ void gemm_split_sum(const float* partial, float* C, int n, int splits) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (const float* part = partial + i; splits > 0 && part < partial + (size_t)splits * n; part += n) sum += *part;
        C[i] = sum;
    }
}
""",
        """extern "C" __global__ void gemm_split_sum(const float* partial, float* C, int n, int splits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int split = splits - 1; split >= 0; split--) sum += partial[split * n + i];
        C[i] = sum;
    }
}
""",
    ],
    "gemm_bias": [
        Changed(("c.store(row, column, bias.added_to(sums, column));",
                 "float4 x = sums;\n        if (bias.bias) x = load_four(bias.bias, column, bias.N, bias.aligned) + sums;\n"
                 "        c.store(row, column, x);")),
        Changed(("c.store(row, column, bias.added_to(sums, column));",
                 "const float own[4] = {sums.x, sums.y, sums.z, sums.w};\n        for (int j = 0; j < 4; j++) {\n            "
                 "if (column + j < c.N) c.first[(size_t)row * c.N + column + j] = own[j] + (bias.bias ? bias.bias[column + j] : "
                 "0.0f);\n        }")),
    ],
    "gemm_swiglu": [
        Changed(("""        if (N % 2 == 0 && j + 1 < N) {
            *(float2*)(y + (size_t)row * N + j) = make_float2(first, second);
        } else {
            if (j < N) y[(size_t)row * N + j] = first;
            if (j + 1 < N) y[(size_t)row * N + j + 1] = second;
        }""", """        if (j < N) y[(size_t)row * N + j] = first;
        if (j + 1 < N) y[(size_t)row * N + j + 1] = second;""")),
        Changed(("float silu(float z) { return z / (1.0f + expf(-z)); }", "float silu(float z) { return 0.5f * z * (1.0f + "
                                                                          "tanhf(0.5f * z)); }")),
    ],
}  # fmt: skip
