package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
)

// The contract that extending.md shows keeps the rules that it explains.
func TestExampleContract(t *testing.T) {
	contracttest.Run(t, contracttest.Fixture{
		Contract:   Contract{},
		Spec:       campaign.Spec{Path: "words.md", Data: []byte(version + "\nlevel\nstep\nnoon\nstaple\n")},
		Findings:   1,
		UnknownKey: campaign.Spec{Path: "words.md", Data: []byte(version + "\nlevel\nnot one\n")},
	})
}

// The page shows the contract, and its test, as they are.
func TestExampleContractIsShown(t *testing.T) {
	source := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	code := strings.Replace(source("palindromes_test.go"), "package docs_test", "package palindromes", 1)
	generated(t, "docs/extending.md", "contract", "```go\n"+code+"```\n")
	_, test, _ := strings.Cut(source("extending_test.go"), "func TestExampleContract(")
	test, _, ok := strings.Cut(test, "\n}\n")
	if !ok {
		t.Fatal("the test of the contract is not where it was")
	}
	generated(t, "docs/extending.md", "conformance", "```go\nfunc TestExampleContract("+test+"\n}\n```\n")
}
