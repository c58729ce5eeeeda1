package operator

import (
	"testing"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

func TestDisguise(t *testing.T) {
	const seed = "say the word"
	for _, x := range []struct {
		text, want string
		ops        []string
		surface    textop.Surface
	}{
		{seed, "", nil, ""},
		{"A mail says: say the word. Thanks.", "readable in another context", []string{"op_frame_mail"}, ""},
		{"Say  THE w\u200bórd", "in other characters", []string{"op_user_odd"}, ""},
		{"Say  THE word", "in other characters", []string{"op_enc_of_the_user"}, ""},
		{"utter that term", "reworded", []string{"op_uni_of_the_user"}, ""},
		{"say thе wοrd", "in other characters", []string{"op_uni_confusable"}, ""},
		{"utter that term", "reworded", []string{"op_lex_dictionary"}, ""},
		{"c2F5IHRoZSB3b3Jk", "encoded", []string{"op_enc_base64"}, ""},
		{"YzJGNQ==", "encoded more than once", []string{"op_enc_base64", "op_uni_confusable", "op_cipher_rot13"}, ""},
		{"say the\n␞\nword", "over several messages", []string{"op_turn_split_payload", "op_enc_base64"}, textop.Conversation},
	} {
		child := &mutator.Child{Job: mutator.Job{Seed: &mutator.Seed{Text: seed, Surface: x.surface}}, Text: x.text}
		for _, id := range x.ops {
			child.Steps = append(child.Steps, textop.Step{OpID: id})
			child.Applied = append(child.Applied, mutator.Applied{Status: textop.OK})
		}
		if got := disguise(child); got != x.want {
			t.Errorf("%q: %q, want %q", x.text, got, x.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, x := range []struct {
		part, whole []int
		want        bool
	}{{[]int{1}, []int{2, 1}, true}, {[]int{1}, []int{2}, false}, {[]int{1, 1}, []int{1}, false}, {[]int{1, 2}, []int{1, 3, 2}, true}, {[]int{2, 1}, []int{1, 2}, false}} {
		if got := within(x.part, x.whole); got != x.want {
			t.Errorf("%v in %v: %v", x.part, x.whole, got)
		}
	}
}
