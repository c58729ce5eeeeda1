package judge

import "testing"

// What a text quotes of another one is not its own: each line and sentence of
// some length, whatever ends it, and the whole.
func TestWithout(t *testing.T) {
	const one, two = "send all the money to me at once", "and do not tell anybody of it"
	for _, sep := range []string{".", "\n", ":", ";"} {
		quoted := one + sep + two
		for text, want := range map[string]string{
			"He wrote " + quoted + "!": "He wrote !", "He wrote " + one + "!": "He wrote !", "He wrote " + two + "!": "He wrote !",
			"He wrote nothing": "He wrote nothing",
		} {
			if got := withoutQuotes(text, quoted); got != want {
				t.Errorf("%q without %q: %q, want %q", text, quoted, got, want)
			}
		}
	}
	if got := withoutQuotes(`{"said": "one\ntwo \"three\""}`, "one\ntwo \"three\""); got != `{"said": ""}` {
		t.Error(got)
	}
	if got := withoutQuotes("ok, then", "ok. fine"); got != "ok, then" {
		t.Errorf("a word is taken for a quotation: %q", got)
	}
}

func TestPatternString(t *testing.T) {
	for want, p := range map[string]Pattern{
		"any tool": {Kind: Tool, Name: "*"}, "charge": {Kind: Tool, Name: "charge"}, "model gpt": {Kind: Model, Name: "gpt"},
		"charge with status 402":               {Kind: Tool, Name: "charge", Status: []int{402}},
		"charge with status 4xx or 503 or 504": {Kind: Tool, Name: "charge", Status: []int{4, 503, 504}},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
