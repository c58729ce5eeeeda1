// Package dut holds the values that describe a device under test: a module whose exported functions
// are called with values of a model, and the result of each call. Contracts that test modules build
// a [Plan] and judge a [Reply]; package system/wasm makes the calls. The package executes nothing:
// it is pure values and the rules by which model values become WebAssembly values, so that
// contracts can describe modules, and check their bindings, without importing an edge.
//
// Start reading at [Plan], then [Device] and [Instance].
package dut
