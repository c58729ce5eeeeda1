package app

import (
	"github.com/thresh-dev/thresh/campaign"
)

// Draft is a document as a client gives it, and how it is to be run. Zero
// values mean what the same flags of thresh run mean.
type Draft struct {
	campaign.Draft        // its Text, unless there is a Path
	Path           string // a file or a folder
	Seed           *int64
	Strict         bool
	Cases          int64
	// MaxErrors ends the run once more of its cases have no result; nil: never.
	MaxErrors *ErrorLimit
}
