package palindromes

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
)

func TestExampleContract(t *testing.T) {
	contracttest.Run(t, contracttest.Fixture{
		Contract:   Contract{},
		Spec:       campaign.Spec{Path: "words.md", Data: []byte(version + "\nlevel\nstep\nnoon\nstaple\n")},
		Findings:   1,
		UnknownKey: campaign.Spec{Path: "words.md", Data: []byte(version + "\nlevel\nnot one\n")},
	})
}
