// Package palindromes is a format written outside Thresh: a contract, its test, and a program
// (cmd/palindromes) with all of Thresh's verbs for it. It is a separate module, as yours would be,
// and imports only what any module may. See docs/extending.md.
package palindromes
