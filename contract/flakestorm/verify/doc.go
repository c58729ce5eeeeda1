// Package verify decides whether an agent's reply keeps an invariant of a
// flakestorm configuration. [Checker.Check] knows every type of invariant.
//
// What a check says is parted in two: the reason is the same in every equal
// run, the measure (milliseconds, tokens, scores) may differ. The rules are the
// format's; where its checks are known to err (bare numbers taken for telephone
// numbers, details that say the opposite when negated) they are mended. A check
// that cannot be made is an error, never a verdict.
//
// The package opens nothing: the measure of similarity and the model that
// judges come through interfaces. It imports engines and the configuration.
package verify
