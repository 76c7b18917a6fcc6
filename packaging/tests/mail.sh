#!/bin/sh
# Keeps a mail as a file, complete once it has its name.
{ echo "mail: $*"; cat; } >/mail && mv /mail /mailed
