package judge

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The page lists every word that decides what a call does.
func TestWordsAreOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/flakestorm.md")
	if err != nil {
		t.Fatal(err)
	}
	cell := func(begin string) []string {
		_, rest, _ := strings.Cut(string(page), begin)
		words, _, _ := strings.Cut(rest, "|")
		return strings.Fields(strings.ReplaceAll(words, ",", ""))
	}
	for begin, list := range map[string][]string{
		"any word of the tool's name is one of:": effects, "the first word of the name is one of:": lookups, "or its result holds:": strings.Fields(strings.Join(refusals, " ")),
	} {
		got := cell(begin)
		if begin != "or its result holds:" {
			list = slices.Sorted(slices.Values(list))
		}
		if !slices.Equal(got, list) {
			t.Errorf("%s\n%q on the page\n%q decide", begin, got, list)
		}
	}
	for _, key := range cell("or arguments that hold:") {
		if !keyName().MatchString(`{"` + key + `": 1}`) {
			t.Errorf("%s is not a key", key)
		}
	}
}

func TestChangesByName(t *testing.T) {
	for name, want := range map[string]bool{
		"charge": true, "chargeCard": true, "card-charge": true, "POST /orders/{id}": true, "get_order": false, "getOrder": false,
		"list_payments": false, "discharge": false, "hold_room": false, "": false, "refund_status": true, "status_of_refund": false,
	} {
		if got := ChangesByName(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
