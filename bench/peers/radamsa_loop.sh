#!/bin/sh
# radamsa as its manual shows it: one process makes the input, one runs it.
#
#     sh radamsa_loop.sh CASES SEED FOLDER PROGRAM
set -eu
cases=$1 seed=$2 input=$3/input program=$4
i=0
while [ "$i" -lt "$cases" ]; do
	radamsa --seed "$i" "$seed" >"$input"
	"$program" "$input" >/dev/null 2>&1 || true
	i=$((i + 1))
done
