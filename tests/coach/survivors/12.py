"""Mutants of chapter 12 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "adamw_step": {
        "int low = 0, high = arrays.count - 1;  // the first array whose end is beyond this block -> int low = 0, high = arrays.count - 0;  // the first array whose end is beyond this block": "equivalent: the search never looks at its upper end",
    },
    "global_norm_squares": {
        "int low = 0, high = gradients.count - 1;  // the first array whose end is beyond this block -> int low = 0, high = gradients.count - 0;  // the first array whose end is beyond this block": "equivalent: the search never looks at its upper end",
        "for (int i = 4 * threadIdx.x; i < length; i += 4 * THREADS) { -> for (int i = 4 * threadIdx.x; i <= length; i += 4 * THREADS) {": "equivalent: from `length` on load_four gives zeros",
        "if (threadIdx.x == 0) partial[first + blockIdx.x] = sum; -> if (threadIdx.x == 1) partial[first + blockIdx.x] = sum;": "harmless: every thread has the sum of the block, so any may write it",
    },
    "plan_memory": {
        "offsets = [0] * len(lives) -> offsets = [1] * len(lives)": "an open challenge: every plan that makes some use of lifetimes is right",
        "for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][1])): -> for i in range(len(lives)):": "an open challenge: every plan that makes some use of lifetimes is right",
        "for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][1])): -> for i in sorted(range(len(lives))):": "an open challenge: every plan that makes some use of lifetimes is right",
        "for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][1])): -> for i in sorted(range(len(lives)), key=lambda i: (lives[i][0], lives[i][1])):": "an open challenge: every plan that makes some use of lifetimes is right",
        "for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][1])): -> for i in sorted(range(len(lives)), key=lambda i: (-lives[i][1], lives[i][1])):": "an open challenge: every plan that makes some use of lifetimes is right",
        "for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][1])): -> for i in sorted(range(len(lives)), key=lambda i: (-lives[i][0], lives[i][0])):": "an open challenge: every plan that makes some use of lifetimes is right",
        "meets = lives[j][1] < ends and begins < lives[j][2] -> meets = lives[j][1] <= ends and begins < lives[j][2]": "an open challenge: every plan that makes some use of lifetimes is right",
        "if meets and at + size > offsets[j]: -> if meets and at + size >= offsets[j]:": "an open challenge: every plan that makes some use of lifetimes is right",
    },
}
