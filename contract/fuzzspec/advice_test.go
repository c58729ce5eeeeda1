package fuzzspec

import (
	"iter"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

func TestStructure(t *testing.T) {
	for seed, want := range map[string]string{
		`{"a": 1}`: "is JSON", "\ufeff [1, 2]\n": "is JSON", "{oops": "", "<a>b</a>\n": "is XML or HTML",
		"<?xml version='1.0'": "is XML or HTML",
		"%PDF-1.4\n":          "begins with a magic number", "HDR1 key=value": "begins with a magic number",
		"\x89PNG\r\n":     "begins with a magic number",
		"ab\x00\x05hello": "holds lengths or checksums", "ab\x05\x00hello": "holds lengths or checksums",
		"x\x00\x00\x00\x05hello": "holds lengths or checksums", "x\x00\x00\x00\x0ahello": "holds lengths or checksums",
		"1 2 4 8\n": "", "Read page 4.": "", "": "", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00": "",
	} {
		if got := structure([]byte(seed)); got != want {
			t.Errorf("%q: %q, want %q", seed, got, want)
		}
	}
}

// Who found nothing in a structured input by flipping bytes hears of deep; who
// has found something, or uses it, does not.
func TestAdviceOfDeep(t *testing.T) {
	for name, c := range map[string]struct {
		set     settings
		seed    string
		outcome campaign.Outcome
		want    bool
	}{
		"nothing found":   {settings{}, `{"a": 1}`, campaign.Outcome{}, true},
		"something found": {settings{}, `{"a": 1}`, campaign.Outcome{Verdict: campaign.VerdictFail}, false},
		"deep":            {settings{deep: true}, `{"a": 1}`, campaign.Outcome{}, false},
		"texts":           {settings{text: true}, `{"a": 1}`, campaign.Outcome{}, false},
		"no structure":    {settings{}, "1 2 4 8", campaign.Outcome{}, false},
	} {
		camp := &Campaign{set: c.set, seed: []byte(c.seed)}
		one := iter.Seq2[campaign.Case, campaign.Outcome](func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{}, c.outcome)
		})
		got := strings.Join(camp.advice(camp.Fold(camp.Fold(&state{}, one), one)), "\n")
		if strings.Contains(got, "--mutators deep") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What --mutators auto stands for is decided by the seed alone, and said.
func TestAutoChooses(t *testing.T) {
	for seed, text := range map[string]bool{
		"Please tell me where my order is, and when it will arrive.\n": true,
		`{"a": 1}`: false, "\x89PNG\r\n": false, "1 2 4 8\n": false, "\xff\xfe a b c d": false, "<p>some words in a page</p>": false,
	} {
		s := settings{auto: true, deep: true}
		s.choose([]byte(seed), false)
		if s.text != text || s.deep == text || s.chose == "" {
			t.Errorf("%q: text %t, deep %t, %q", seed, s.text, s.deep, s.chose)
		}
	}
	s := settings{auto: true, deep: true}
	if s.choose([]byte("Please tell me where it is."), true); !s.deep || s.text {
		t.Error("a dictionary was given, and the text mutators would not use it")
	}
}

func TestLacking(t *testing.T) {
	for words, want := range map[string]string{
		"fatal: $HOME not set": "HOME", "error: could not find your home directory": "HOME", "JAVA_HOME is not set": "JAVA_HOME",
		"warning: PATHOLOGICAL input": "", "": "",
	} {
		if got := missingVariable([]byte(words)); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
