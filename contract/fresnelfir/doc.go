// Package fresnelfir implements FresnelFir IR: a JSON model of a component, with entities,
// protocols, effects and properties. Thresh explores it for sequences of actions that break its
// properties.
//
// A document compiles to one campaign. A case is one traversal: a few actors walk the protocol's
// grammar at the same time, interleaved, each step applies an action to the model, and every
// property is checked. All decisions of a traversal, from the number of actors to the last branch,
// are numbers on a tape (package choice), so that a case is its tape: it replays anywhere, and
// shrinking the tape shrinks a failing case. A round is an epoch: what its traversals reached
// determines, in Fold, how likely each branch is in the next.
//
// With a module, model and module take every action in lockstep: observers, answers, refusals and
// what bindings claim are compared after each step. Edges of the module's code and the numbers that
// it compares feed back into the campaign. A finding can be written as a capsule, a document that
// runs as that single case.
//
// Sub-packages: ir reads and checks documents, model evaluates them. The rules come from the
// published contract text; decisions beyond it are documented where they are made. The package
// imports campaign, diag and engines; it touches no module, no file and no clock. Start reading at
// [Contract] and [Campaign].
package fresnelfir
