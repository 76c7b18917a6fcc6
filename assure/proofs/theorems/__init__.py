"""All theorems, in the order of their proofs."""

from . import (  # noqa: F401, I001
    doubling,
    blocks,
    comparisons,
    poly1305,
    poly1305_vectors,
    umac_poly,
    umac_l3,
    umac_pads,
    nh,
    pmac,
    lightmac,
    elimac,
)
