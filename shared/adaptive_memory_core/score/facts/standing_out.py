"""How far does a newer text stand out among all that is said of a subject, once what those texts share is taken away?

Texts about one subject are alike in naming it. Without their mean, what is left of a vector is what each says of the
subject: "Ilse has moved to Turin" is then nearer to "where does Ilse live?" and to "Ilse lives in Oslo" than
"Ilse has taken up the cello" is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_SHORTEST = 1e-3  # squared length of what is left of a vector, so that nothing is divided by 0


def nearness(vectors: Sequence[Any], similarities: Sequence[float], old: int) -> list[float]:
    """For each text how near it is to the cue and to the old one, from -2 to 2, without what all of them share.

    `vectors` are unit vectors, `similarities` their cosines to the cue, which so needs no vector itself.

    >>> about = [[0.8, 0.6, 0.0, 0.0], [0.8, 0.5, 0.3, 0.1], [0.8, 0.0, 0.6, 0.0], [0.8, 0.0, 0.0, 0.6]]
    >>> [round(one, 1) for one in nearness(about, [0.9, 0.8, 0.6, 0.6], 0)]
    [1.7, 0.7, -1.0, -0.7]
    """
    rows = np.asarray(vectors, dtype=np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _SHORTEST)
    to_cue, shared = np.asarray(similarities, dtype=np.float64), rows.mean(axis=0)
    to_shared, squared = rows @ shared, float(shared @ shared)
    cue_to_shared = float(to_cue.mean())
    lengths = np.sqrt(np.maximum(1.0 - 2.0 * to_shared + squared, _SHORTEST))
    of_cue = max(1.0 - 2.0 * cue_to_shared + squared, _SHORTEST) ** 0.5
    cue = (to_cue - cue_to_shared - to_shared + squared) / (of_cue * lengths)
    other = (rows @ rows[old] - to_shared - to_shared[old] + squared) / (lengths * lengths[old])
    found: list[float] = (cue + other).tolist()
    return found
