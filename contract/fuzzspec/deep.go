package fuzzspec

import (
	"errors"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

var noFacts campaign.Facts

const deepVersion = "deep-1"

// deepInput is what the deep mutators work with beside the seed.
type deepInput struct {
	corpus     [][]byte
	dictionary [][]byte
}

func deepInputs(set campaign.Settings, file string) (deepInput, diag.List) {
	return deepInput{}, nil
}

func newDeepMaker(c *Campaign) (maker, error) { return nil, errors.New("not there yet") }
