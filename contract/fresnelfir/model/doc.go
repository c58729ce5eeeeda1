// Package model is the executable side of a FresnelFir document: entities with their instances,
// variables, effects, invariants and temporal rules, compiled so that a step is cheap.
//
// [Compile] turns a checked document into a [Program], which is immutable and may be shared. A
// [Machine] is one state of the model with everything needed to continue from it: it applies
// actions, evaluates guards and reports which properties a step broke. Expressions are closures
// over values of two words; evaluating one allocates nothing. Every change is logged, so that a
// step that fails halfway or that a module refuses can be undone ([Machine.Undo]).
//
// The semantics follow the contract text. Where it leaves room:
//   - An action's effect is one mutation: invariants are looked at when all of
//     its sets are done, not between them.
//   - An instance has a declared bool's default from the start, and an id that
//     no other has if it has a string field "id". Reading any other field
//     before it was set is a fault of the document, not of what is tested.
//   - A variable that is not bound yet is nothing: a guard or a property that
//     names it is not met, or not put to the test.
//   - A reference holds the id of the instance that it refers to.
//
// The package imports package ir of the contract. It knows no campaign, no module and no
// randomness.
package model
