"""AdamW: kernels/adamw.wgsl, one launch for each parameter."""

from __future__ import annotations

from ..layout import blocks
from .launching import kernel

__all__ = "adamw_step".split()


def adamw_step(
    parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps, weight_decay, max_norm
):
    run = kernel("adamw.wgsl", "adamw_step", CLIP=norm is not None)
    shared = {"beta1": beta1, "rest1": 1 - beta1, "beta2": beta2, "rest2": 1 - beta2, "eps": eps}
    lists = zip(parameters, gradients, first_moments, second_moments, weight_decay, strict=True)
    for p, g, m, v, decay in lists:
        if p.size:
            run(
                blocks(p.size), parameter=p, gradient=g, first=m, second=v, settings=settings,
                norm=settings if norm is None else norm, n=p.size, decay=decay, max_norm=float(max_norm or 0), **shared,
            )  # fmt: skip
