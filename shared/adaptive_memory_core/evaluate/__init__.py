"""Measurement: comparisons of systems, replays of past recalls, and tuning of a policy."""
