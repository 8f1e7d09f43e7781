#!/bin/sh
# fingerprint-test.sh TREEDIGEST SOURCE-DIR: sbox and the script agree with each other and with the
# committed vectors.
set -eu
treedigest=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$source/tests/helpers/fingerprint.py" --make "$scratch/tree"
"$treedigest" "$scratch/tree" >"$scratch/sbox"
python3 "$source/tests/helpers/fingerprint.py" "$scratch/tree" >"$scratch/python"
diff -u "$scratch/python" "$scratch/sbox"
diff -u "$source/fixtures/fingerprint/tree.expected" "$scratch/sbox"
