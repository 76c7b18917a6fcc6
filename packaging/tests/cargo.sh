#!/bin/sh -e
# In place of `cargo install --quiet --locked --path CRATE --root FOLDER`.
[ -f "$5/Cargo.toml" ]
mkdir -p "$7/bin"
cp "$BUILT" "$7/bin/tagmac"
