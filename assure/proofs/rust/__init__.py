"""Rust functions, run on numbers that may be unknown.

- `tokens`, `parser` and `items` read a file: the part of the language that tagmac's arithmetic is written in.
- `numbers` and `values` are what variables hold.
- `machine` runs functions: `names` says what a name is, `evaluation` what a statement or expression does,
  `arithmetic` what an operation does, and `methods` what methods of the standard library do.

What none of them knows is an error, never skipped, so that a proof cannot pass because code was overlooked.
"""
