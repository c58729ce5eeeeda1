// Package wasm runs WebAssembly modules as devices under test: it implements [dut.Opener]. A module
// is rewritten (engine/wasmrewrite: fuel, coverage, marks of written memory, access to its
// globals), compiled once by wazero, and instantiated once for each lane. Instances share nothing;
// an instance's behaviour depends only on its plan and its calls.
//
// A module cannot harm the run: fuel limits every call, start function and initialiser; memory,
// tables, recursion and output are capped; traps, exits and invalid results of an exported
// allocator become faults of the call. This package itself provides WASI preview 1, with clocks and
// randomness that are part of an instance's state, but no files, arguments or environment. Any
// other imported function traps when it is called.
//
// An instance's state is its memory, its mutable globals, and WASI's clock, generator and remaining
// standard input. Memory is stored in blocks of 4 KiB that snapshots share; restoring copies the
// blocks that were written or differ. Modules that change tables or drop segments cannot be
// restored that way: they are instantiated again and their calls repeated, which [dut.Info] notes.
//
// Two things depend on the machine: the bits of a NaN, and the depth at which a recursion with
// large frames overflows before its fuel is used up.
//
// The package imports engines, ports, diag and package system; it knows no contract and no run.
// Start reading at [Engine].
package wasm
