// Package operator implements the Operator Contract v0.1: prompts and operators in, reproducible
// variants of the prompts out, each with a trace of how it was made.
//
// Its rules come from the published contract text (the numbers OC-... in comments); where that is
// silent, from the existing engine that its users know: registry, selection, seeds, children,
// statistics. Operators are built in ([textop.Builtins]), Starlark files or Python modules
// ([LoadPlugins]). [CheckPlugins] checks plug-ins against the contract's checklist; [NewSeedReader]
// reads seeds; a [Spec] is a campaign: a case is one child, and an operator that breaks the
// contract is a finding.
//
// The package imports campaign, diag and engines. Python runs behind [pyhost.OperatorOpener] and
// oracles behind [process.Opener], which [New] receives; the package never imports a target, the
// store or another contract. Start reading at [Spec].
package operator
