package app

import (
	"github.com/thresh-dev/thresh/campaign"
)

// Draft is a client's document, and how to run it. Fields mean what the flags
// of thresh run mean.
type Draft struct {
	campaign.Draft        // its Text, unless there is a Path
	Path           string // a file or a folder
	Seed           *int64
	Strict         bool
	Cases          int64
	// MaxErrors end the run once more of its cases have no result; nil: never.
	MaxErrors *ErrorLimit
}
