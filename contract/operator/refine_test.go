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

// A reply is pointed at: where the words stand that must not be there, else as a whole.
func TestReplyIsPointedAt(t *testing.T) {
	o := campaign.Outcome{Evidence: []campaign.Attachment{{Name: "reply", Data: []byte("I cannot help.")}, {Name: "judge", Data: []byte("refund fails: \"refund\" not found\n")}}}
	if e := describe(&o)[0]; len(e.Text.Marks) != 1 || e.Text.Marks[0].From != 0 || e.Text.Marks[0].To != len(e.Text.Body) {
		t.Errorf("%+v", e.Text)
	}
}
