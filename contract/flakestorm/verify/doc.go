// Package verify decides whether an agent's reply keeps an invariant of a flakestorm configuration.
// [Checker.Check] knows every type of invariant.
//
// The result of a check has two parts: the reason, which is the same in every equal run, and the
// measure (milliseconds, tokens, scores), which may differ. The rules are the format's, except that
// known errors of its checks are fixed (bare numbers taken for telephone numbers, details that say
// the opposite when negated). If a check cannot be made, the result is an error, never a verdict.
//
// The package opens nothing: the similarity measure and the judging model are passed in as
// interfaces. It imports engines and the configuration.
package verify
