"""An embedder that prints, as many do while they load: cheap to import in a process of its own."""

from __future__ import annotations

import os


def vectors(texts: list[str]) -> list[list[float]]:
    print("this is no message of the protocol")
    os.write(1, b"nor is this\n")
    return [[1.0, *(float(text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz")] for text in texts]
