package operator

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// The line of a finding names the other judges that the reply breaks.
func TestRefineNamesOtherJudges(t *testing.T) {
	for text, want := range map[string]string{
		"how fails: \"how\" found\n":                                         "the reply breaks how for x: \"how\" found",
		"how fails: \"how\" found\nkey fails: \"k\" found\nage passes: fine": "the reply breaks how for x: \"how\" found; it also breaks key",
		"key fails: \"k\" found\n":                                           "the reply breaks how on a prompt for x",
	} {
		o := campaign.Outcome{Evidence: []campaign.Attachment{{Name: "judge", Data: []byte(text)}}}
		if got, _ := (&Campaign{}).Refine("the reply breaks how on a prompt for x", campaign.SeverityMedium, o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
