package campaign

import (
	"context"

	"github.com/thresh-dev/thresh/diag"
)

// Guesser is implemented by campaigns whose documents can mark guesses.
type Guesser interface {
	// Guesses runs a few cases and returns for each guess whether they support it,
	// contradict it or never tried it.
	Guesses(ctx context.Context) []Guess
}

// Guess is what cases showed about something that a document marks as guessed.
type Guess struct {
	Of, Claim string // what the guess is about, and what it claims
	Against   string // what contradicts it; "": nothing
	Said      diag.Diagnostic
}

// SkipReason returns why a case of a campaign was skipped.
func SkipReason(c Any, at Case, o *Outcome) string {
	if why := TraitsOf(c).SkipReason; why != nil && o.Title == "" {
		return why(at, o)
	}
	return o.Title
}
