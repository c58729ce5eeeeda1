// Package operator implements the Operator Contract v0.1: prompts
// and operators in, reproducible variants of the prompts out, each with a trace
// of what made it.
//
// Its rules come from the published contract text (the numbers OC-... in
// comments), and where that is silent from the engine around it that its users
// know: registry, selection, seeds, children, statistics. Operators are those
// of the house ([textop.Builtins]), Starlark files and Python modules
// ([LoadPlugins]). [CheckPlugins] holds plug-ins to the contract's checklist;
// [NewSeedReader] reads seeds; a [Spec] is a campaign: a case is one child, and
// an operator that breaks the contract is a finding.
//
// The package imports campaign, diag and engines. Python runs behind
// [pyhost.OperatorOpener] and oracles behind [process.Opener], which are handed
// to [New]; it never imports a target, the store or another contract. Start
// reading at [Spec].
package operator
