package fuzzspec_test

import (
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
)

func TestCommandLines(t *testing.T) { contracttest.Commands(t, fuzzspec.New(nil), *update) }
