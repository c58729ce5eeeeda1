package textop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Operators for conversations keep to the contract, give at least two messages,
// and none of the split ones says the text.
func TestConversations(t *testing.T) {
	for _, text := range []string{"Please tell me which bus goes to the museum.", "박물관에 가는 버스를 알려 주세요. 그리고 멈추세요!"} {
		testConversations(t, text)
	}
}

func testConversations(t *testing.T, text string) {
	t.Helper()
	for _, op := range textop.Extended() {
		m := op.Meta()
		if m.Purpose == "" || m.StrengthDoc == "" || m.Origin == "" || len(m.Buckets) == 0 {
			t.Errorf("%s does not say all of itself", m.ID)
		}
		if m.Accepts(textop.PromptText) {
			continue // see TestExtended
		}
		for strength := 1; strength <= 5; strength++ {
			for seed := range uint64(20) {
				ctx := &textop.Context{Surface: textop.Conversation, Strength: strength}
				r := textop.Run(op, text, ctx, rng(seed))
				again := textop.Run(op, text, ctx, rng(seed))
				turns := textop.Turns(textop.Conversation, r.Child)
				if r.Status != textop.OK || len(r.Breaches) > 0 || r.Child != again.Child || len(turns) < 2 && m.ID != "op_turn_split_payload" || len(turns) > textop.MaxTurns {
					t.Fatalf("%s, strength %d: %s %v %q", m.ID, strength, r.Status, r.Breaches, turns)
				}
				for i, said := range turns {
					if strings.TrimSpace(said) == "" || strings.HasPrefix(said, "part ") && !strings.HasPrefix(said, fmt.Sprintf("part %d:", i+1)) {
						t.Errorf("%s: message %d is %q", m.ID, i+1, said)
					}
					if m.ID == "op_turn_split_payload" && strings.Contains(said, text) && len(turns) > 1 {
						t.Errorf("a message says all: %q", said)
					}
				}
				if r := textop.Run(op, r.Child, ctx, rng(1)); len(turns) > 1 && r.Status != textop.Skipped {
					t.Errorf("%s makes a conversation of one", m.ID)
				}
			}
		}
	}
}

func rng(seed uint64) *pyrand.Rand {
	r := new(pyrand.Rand)
	r.SeedUint64(seed)
	return r
}

// The others that documents ask for keep to the contract as well; what is spelled
// reads back, without case and marks.
func TestExtended(t *testing.T) {
	const text = "Which bus goes to 박물관 at Gate 7, café 2b, please?"
	for _, op := range textop.Extended() {
		m := op.Meta()
		if !m.Accepts(textop.PromptText) {
			continue
		}
		for strength := 1; strength <= 5; strength++ {
			for seed := range uint64(10) {
				r := textop.Run(op, text, &textop.Context{Surface: textop.PromptText, Strength: strength}, rng(seed))
				if r.Status != textop.OK || len(r.Breaches) > 0 || r.Child == text {
					t.Fatalf("%s, strength %d: %s %v %q", m.ID, strength, r.Status, r.Breaches, r.Child)
				}
				if invert := textop.Inverters[m.ID]; invert == nil {
					if !strings.Contains(r.Child, text) {
						t.Errorf("%s loses the text: %q", m.ID, r.Child)
					}
				} else if got, err := invert(r.Child, &r.Trace); err != nil || got != "which bus goes to 박물관 at gate 7 café 2b please" {
					t.Errorf("%s reads back as %q, %v", m.ID, got, err)
				}
			}
		}
	}
}

// The third edition changes nothing of those before it but some buckets; a code
// that the prompt explains reads back by its key.
func TestThirdEdition(t *testing.T) {
	const text = "Which bus goes to the old gate 7, please?"
	all := map[string]*textop.Meta{}
	for _, op := range textop.Edition3() {
		all[op.Meta().ID] = op.Meta()
		if m := op.Meta(); (m.Inverse == "") != (textop.Inverters[m.ID] == nil) {
			t.Errorf("%s: inverse %q, and its inverse exists: %v", m.ID, m.Inverse, textop.Inverters[m.ID] != nil)
		}
	}
	for _, op := range append(textop.Builtins(), textop.Extended()...) {
		m := op.Meta()
		if wide := strings.HasPrefix(m.ID, "op_ws_") || m.ID == "op_typo_leet"; all[m.ID] == nil || wide && !all[m.ID].Serves(textop.PromptInjection) || m.ID == "op_typo_leet" && m.Serves(textop.PromptInjection) {
			t.Errorf("%s is not what it should be in either edition", m.ID)
		}
	}
	for _, op := range textop.Third() {
		m, changed := op.Meta(), 0
		for strength := 1; strength <= 5; strength++ {
			for seed := range uint64(20) {
				r := textop.Run(op, text, &textop.Context{Surface: textop.PromptText, Strength: strength}, rng(seed))
				if r.Status == textop.Invalid || len(r.Breaches) > 0 {
					t.Fatalf("%s, strength %d: %s %v", m.ID, strength, r.Status, r.Breaches)
				}
				if r.Status != textop.OK {
					continue
				}
				changed++
				if invert := textop.Inverters[m.ID]; invert != nil {
					if got, err := invert(r.Child, &r.Trace); err != nil || got != strings.ToLower(text) {
						t.Errorf("%s reads back as %q, %v", m.ID, got, err)
					}
				}
			}
		}
		if changed < 50 || m.Purpose == "" || m.Origin == "" {
			t.Errorf("%s changed %d of 100 texts", m.ID, changed)
		}
	}
}
