"""Mutants of chapter 21 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "group_advantages": {
        "return apart / spread if spread > 1e-9 else np.zeros(len(rewards)) -> "
        "return apart / spread if spread >= 1e-9 else np.zeros(len(rewards))": "no group has exactly this deviation",
        "return apart / spread if spread > 1e-9 else np.zeros(len(rewards)) -> "
        "return apart / spread if spread > 2e-09 else np.zeros(len(rewards))": "any number as good as zero will do",
    },
    "policy_entropy": {
        "log_p = log_chances.sum(-1) -> log_p = log_chances.sum(1)": "the array has two axes, so the last one is axis 1",
    },
    "credit_by_fault": {
        "credit = np.full((len(last), width), wrong / max(sum(last), 1)) -> "
        "credit = np.full((len(last), width), wrong / max(sum(last), 0))": "a text has at least one token, its end",
    },
}
