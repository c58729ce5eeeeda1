// Package archtest tests the rules of the architecture: which package may import which, what the
// core may not touch, and what every package has. Each rule gives its reason; a rule that nothing
// could break is a failure too.
package archtest
