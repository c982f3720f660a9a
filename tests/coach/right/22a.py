"""Right answers to the exercises of chapter 22a, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "quantise_row": [
        """def quantise_row(row):
    scale = max(row.max(), -row.min()) / 127
    codes = np.round(row / (scale or 1.0))
    return np.array(codes, dtype=np.int8), scale
""",
        """def quantise_row(row):
    scale = max(abs(float(w)) for w in row) / 127
    return np.array([round(float(w) / scale) if scale else 0 for w in row], np.int8), scale
""",
    ],
    "group_scales": [
        """def group_scales(weight):
    N, K = weight.shape
    return np.array([[max(abs(row[k : k + GROUP])) / 7 for k in range(0, K, GROUP)] for row in weight])
""",
        Changed(("np.abs(groups).max(axis=2) / 7", "np.maximum(groups.max(-1), -groups.min(-1)) / 7")),
    ],
    "pack_nibbles": [
        Changed(("codes[:, 0::2] | codes[:, 1::2] << 4", "(codes[:, ::2] + 16 * codes[:, 1::2]).astype(np.uint8)")),
        """def pack_nibbles(codes):
    pairs = codes.reshape(len(codes), -1, 2)
    return pairs[..., 0] | (pairs[..., 1] << 4)
""",
    ],
    "int8_dot": [
        Changed(("(a.astype(np.int32) * b).sum()", "a.astype(np.int64) @ b.astype(np.int64)")),
        Changed(("(a.astype(np.int32) * b).sum()", "sum(int(x) * int(y) for x, y in zip(a, b))")),
    ],
    "best_scale": [
        """def best_scale(groups, shrinks):
    scales = np.array(shrinks)[:, None] * np.abs(groups).max(axis=1) / 7  # (tries, J)
    divisor = np.where(scales == 0, 1, scales)[..., None]
    codes = np.clip(np.rint(groups / divisor), -8, 7)
    errors = ((codes * scales[..., None] - groups) ** 2).sum(axis=-1)  # (tries, J)
    return np.take_along_axis(scales, errors.argmin(axis=0)[None], axis=0)[0]
""",
        """def best_scale(groups, shrinks):
    best = []
    for group in groups:
        tries = []
        for shrink in shrinks:
            scale = shrink * np.abs(group).max() / 7
            codes = np.clip(np.rint(group / (scale or 1.0)), -8, 7)
            tries.append((((codes * scale - group) ** 2).sum(), scale))
        best.append(min(tries, key=lambda one: one[0])[1])
    return np.array(best)
""",
    ],
    "linear_int4_kernel": [
        Changed(("for (int w = lane; w < line; w += 32) {", "for (int step = 0; step < (line + 31) / 32; step++) {\n"
                 "            const int w = 32 * step + lane;\n            if (w >= line) break;")),
        Changed(("            float part = 0.0f;\n", "            float part = 0.0f, all = 0.0f;\n"),
                ("part += ((word >> 4 * i & 15) - zero) * values[i];",
                 "{\n                part += (word >> 4 * i & 15) * values[i];\n"
                 "                all += values[i];\n            }"),
                ("sum += scales[group] * part;", "sum += scales[group] * (part - zero * all);")),
    ],
    "linear_int8_kernel": [
        Changed(("for (int w = 2 * lane; w < line; w += 64) {", "for (int step = lane; 2 * step < line; step += 32) {\n"
                 "            const int w = 2 * step;")),
        Changed(("sum += (signed char)(pair[0] >> 8 * i) * values[i];",
                 "sum += ((int)(pair[0] << 24 - 8 * i) >> 24) * values[i];"),
                ("sum += (signed char)(pair[1] >> 8 * i) * values[4 + i];",
                 "sum += ((int)(pair[1] << 24 - 8 * i) >> 24) * values[4 + i];")),
    ],
    "unpack_int4": [
        Changed(("    if (i < args.n) {\n        for", "    if (i >= args.n) {\n        return;\n    }\n    {\n        for")),
        Changed(("let code = f32((words[i] >> (4 * j)) & 15u);", "let code = f32(extractBits(words[i], 4 * j, 4));")),
    ],
}  # fmt: skip
