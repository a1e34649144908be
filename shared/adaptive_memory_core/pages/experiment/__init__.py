"""How is a comparison of systems drawn? Tables with intervals, differences from the baseline, ablations as lines."""
