package docs_test

import (
	"os"
	"strings"
	"testing"
)

// The page shows the contract, and its test, as they are.
func TestExampleContractIsShown(t *testing.T) {
	source := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	code := source("../examples/palindromes/palindromes.go")
	generated(t, "docs/extending.md", "contract", "```go\n"+code+"```\n")
	_, test, _ := strings.Cut(source("../examples/palindromes/palindromes_test.go"), "func TestExampleContract(")
	test, _, ok := strings.Cut(test, "\n}\n")
	if !ok {
		t.Fatal("the test of the contract is not where it was")
	}
	generated(t, "docs/extending.md", "conformance", "```go\nfunc TestExampleContract("+test+"\n}\n```\n")
}
