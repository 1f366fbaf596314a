"""The measurements of ``scripts/benchmark.py``, one module a subject."""
