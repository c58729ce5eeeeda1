// Package wasmrewrite prepares a WebAssembly module for testing: bytes in, bytes
// out. The module keeps its behaviour and its indices of types, functions,
// tables and globals, and gains
//
//   - fuel: every function counts the instructions it executes, by basic block,
//     and stops when the budget is used up, at the same instruction everywhere;
//   - coverage of both ways of every branch, and the operands of comparisons;
//   - marks of the memory blocks that were written, so that restoring a state
//     need copy those alone;
//   - functions that read and set all mutable globals at once, so that a state
//     can be taken and restored whole.
//
// All of this lives in globals and locals that the module cannot name: its
// memory, tables and globals are not disturbed. The start function becomes an
// export, to be called under fuel. Imported memories, tables and globals become
// the module's own, limits of memory and tables are lowered, custom sections are
// dropped; function names are returned beside the binary.
//
// The rules are those of the WebAssembly core specification 2.0 with tail calls
// and extended constant expressions. The rewriter checks what its additions
// could otherwise make valid (every index) and decodes every instruction; full
// validation of types is the engine's, which compiles the result. It never
// panics on any input.
//
// Start reading at [Rewrite]. The package is pure; it executes nothing.
package wasmrewrite
