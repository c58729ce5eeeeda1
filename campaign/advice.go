package campaign

import (
	"context"

	"github.com/thresh-dev/thresh/diag"
)

// Guesser is implemented by campaigns whose documents can mark what nobody has
// confirmed.
type Guesser interface {
	// Guesses tries what is guessed in a few cases and says of each guess whether
	// they support it, contradict it or never tried it.
	Guesses(ctx context.Context) []Guess
}

// Guess is what cases have shown of something that a document marks as guessed.
type Guess struct {
	Of, Claim string // what is claimed, and of what
	Against   string // what contradicts it; "": nothing
	Said      diag.Diagnostic
}

// SkipReason is why a case of a campaign was skipped.
func SkipReason(c Any, at Case, o *Outcome) string {
	if why := TraitsOf(c).SkipReason; why != nil && o.Title == "" {
		return why(at, o)
	}
	return o.Title
}
