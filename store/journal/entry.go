package journal

import (
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Kind says what a record holds.
type Kind uint8

// The kinds. The numbers are part of the file format.
const (
	KindManifest    Kind = 1  // what the run is; always the first record, and only that
	KindFacts       Kind = 2  // what a campaign's probe learned
	KindOutcome     Kind = 3  // the result of one case
	KindRedo        Kind = 4  // a campaign starts again: its outcomes so far do not count
	KindWarning     Kind = 5  // something that was shown to the user
	KindFinding     Kind = 6  // a finding, as known at that time
	KindProgress    Kind = 7  // how far the run was
	KindCampaignEnd Kind = 8  // a campaign is over
	KindEnd         Kind = 9  // the run is over; carries its record
	KindResumed     Kind = 10 // the run was resumed
	KindEvidence    Kind = 11 // what was seen in cases whose outcomes follow it
	KindChain       Kind = 12 // the SHA-256 of everything before it in the file
	// KindClosing is the outcome of a case of a closing round, after --cases or --time
	// ended the campaign. It counts as long as the campaign has no later outcome in the
	// journal.
	KindClosing Kind = 13
)

const maxKind Kind = 127

var kindNames = [...]string{
	KindManifest: "manifest", KindFacts: "facts", KindOutcome: "outcome", KindRedo: "redo",
	KindWarning: "warning", KindFinding: "finding", KindProgress: "progress",
	KindCampaignEnd: "campaign-end", KindEnd: "end", KindResumed: "resumed",
	KindEvidence: "evidence", KindChain: "chain", KindClosing: "closing",
}

func (k Kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind-%d", uint8(k))
}

// Outcome reports whether entries of the kind have a case and its outcome.
func (k Kind) Outcome() bool { return k == KindOutcome || k == KindClosing }

// Entry is one record. A kind that this version does not know is read like any other kind
// with Data, so that a reader may skip it.
type Entry struct {
	Kind     Kind
	Campaign int              // index into the manifest's identities
	Attempt  int              // 0, then one more after each KindRedo
	Case     campaign.Case    // KindOutcome, KindClosing: Round and Index; the payload is not stored
	Outcome  campaign.Outcome // KindOutcome, KindClosing: facts, and Elapsed in whole microseconds
	After    int64            // KindClosing: how many cases the campaign had when it ended
	At       time.Duration    // since the run was created, in whole milliseconds
	Data     []byte           // the other kinds
}
