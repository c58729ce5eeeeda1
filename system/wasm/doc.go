// Package wasm runs WebAssembly modules as devices under test: the edge behind
// [dut.Opener]. A module is rewritten (engine/wasmrewrite: fuel, coverage,
// marks of written memory, access to its globals), compiled once by wazero, and
// instantiated once for each lane. Instances share nothing; what one does
// depends on its plan and the calls made.
//
// A module cannot hurt the run: fuel bounds every call, start function and
// initialiser; memory, tables, recursion and output are capped; traps, exits and
// nonsense from an exported allocator become faults of the call. WASI preview 1
// is served by this package itself, with clocks and randomness that are part of
// an instance's state, no files, no arguments and no environment. Any other
// imported function traps when it is called.
//
// State is memory, mutable globals, WASI's clock and generator. Memory is kept
// in blocks of 4 KiB that snapshots share; restoring copies the blocks that were
// written or differ. Modules that change tables or drop segments cannot be
// restored in that way: they are instantiated anew and their calls repeated,
// which [dut.Info] notes.
//
// Two things are the machine's: the bits of a NaN, and at what depth a recursion
// with large frames overflows before its fuel is used up.
//
// The package imports engines only; it knows no contract and no run. Start
// reading at [Engine].
package wasm
