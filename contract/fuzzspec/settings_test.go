package fuzzspec

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// Each line of the file is options, and what is said of them.
func TestRefusedOptions(t *testing.T) {
	text, err := os.ReadFile("testdata/errors_options.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		given, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			t.Fatalf("no => in %q", line)
		}
		set := campaign.Settings{Options: make(map[string][]string)}
		for _, o := range strings.Fields(given) {
			name, value, _ := strings.Cut(strings.TrimPrefix(o, "--"), "=")
			set.Options[name] = append(set.Options[name], value)
		}
		_, list := decodeSettings(set)
		var got []string
		for _, d := range list {
			got = append(got, strings.TrimPrefix(d.Path+" ", " ")+d.Message)
		}
		if s := strings.Join(got, " + "); s != want {
			t.Errorf("%s\ngot  %s\nwant %s", given, s, want)
		}
	}
}

// Options that decide outcomes are part of a campaign's identity; one that is
// not given leaves it as it was.
func TestSettingsFingerprint(t *testing.T) {
	print := func(options map[string][]string) string {
		s, list := decodeSettings(campaign.Settings{Options: options})
		if len(list) > 0 {
			t.Fatal(list)
		}
		return s.fingerprint()
	}
	plain := print(nil)
	want := "deep=false guided=false sandbox=false ok-exit=[] outputs=auto input=auto timeout=0 memory=4294967296 file=67108864 start=0 count=0 seed=document"
	if plain != want {
		t.Errorf("got  %s\nwant %s", plain, want)
	}
	guided := print(map[string][]string{"guided": {"true"}})
	if round := map[string][]string{"guided": {"true"}, "round": {"64"}}; print(round) != guided || !strings.Contains(guided, " round=64 ") {
		t.Errorf("a round has 64 cases unless options say otherwise: %s", guided)
	}
	accepting := print(map[string][]string{"ok-exit": {"3, 1", "1,0"}})
	if !strings.Contains(accepting, "ok-exit=[1 3]") {
		t.Errorf("codes are not in order, once each: %s", accepting)
	}
	if got := print(map[string][]string{"ok-exit": {"1,3"}, "ok-reports": {"true"}}); got == accepting {
		t.Error("--ok-reports is not part of the identity")
	}
}
