#!/bin/sh
# `bin/gapstone` of the package: runs the Node of the folder in which it lies, also when it is called through links.
program=$(readlink -f "$0")
home=${program%/bin/gapstone}
export NODE_ENV=production
# V8 would let young objects fill 64 MB before it looks at them.
exec "$home/bin/node" --max-semi-space-size=16 "$home/dist/src/cli.js" "$@"
