package docs_test

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/contract/system"
)

// The tables of keys are made from what the contracts declare.
func TestTheTablesOfKeys(t *testing.T) {
	for page, k := range map[string]campaign.Formatted{
		"docs/fuzzspec.md":   &fuzzspec.Contract{},
		"docs/operator.md":   &operator.Contract{},
		"docs/fresnelfir.md": &fresnelfir.Contract{},
		"docs/flakestorm.md": &flakestorm.Contract{},
		"docs/spectest.md":   &spectest.Contract{},
		"docs/systems.md":    &system.Contract{},
	} {
		t.Run(page, func(t *testing.T) {
			for i, f := range k.Formats() {
				name := "keys"
				if i > 0 {
					name = "keys of " + f.Name
				}
				generated(t, page, name, "\n"+f.Keys())
			}
		})
	}
}
