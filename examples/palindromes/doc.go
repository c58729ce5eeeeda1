// Package palindromes is a format written outside Thresh: a contract, its test,
// and a program (cmd/palindromes) that has every verb for it. It is a module of
// its own, as yours would be, and imports what any module may. See
// docs/extending.md.
package palindromes
