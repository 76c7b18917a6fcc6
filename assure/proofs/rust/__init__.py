"""Runs Rust functions on numbers that may be unknown.

- `tokens`, `parser` and `items` read a file, in the part of the language that tagmac's arithmetic
  uses.
- `numbers` and `values` are the contents of variables.
- `machine` runs functions: `names` resolves names, `evaluation` runs statements and expressions,
  `arithmetic` runs operators, and `methods` runs methods of the standard library.

Unknown code is an error and is never skipped, so no proof can pass because code was overlooked.
"""
