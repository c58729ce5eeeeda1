package mutation_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/mutation"
	"github.com/thresh-dev/thresh/internal/golden"
)

func one(string) float64 { return 1 }

func names() []string {
	var list []string
	for _, m := range config.MutationTypes {
		list = append(list, m.Name)
	}
	return list
}

// Every type has variants of even the shortest prompts, with and without
// requests to change, equal for equal seeds.
func TestEveryType(t *testing.T) {
	for _, kind := range names() {
		for _, shapes := range []bool{false, true} {
			r := mutation.Request{
				Prompts: []string{"Book a flight to Paris, please.", "Hi", "¿Dónde está mi pedido 4711?"}, Types: []string{kind}, Weight: one, Count: 3, Seed: 7, Shapes: shapes,
				Timeout: 10 * time.Second, Templates: []mutation.Template{{Name: "mine", Text: "Kindly: {prompt}"}},
			}
			a, b := mutation.Generate(r), mutation.Generate(r)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s: equal requests give different mutations", kind)
			}
			if len(a.List) == 0 || len(a.List) < 7 && kind != "custom" {
				t.Errorf("%s (shapes %t): only %d of %d were made", kind, shapes, len(a.List), a.Wanted)
			}
			ids := make(map[string]bool)
			for _, m := range a.List {
				if m.Wire == nil && !mutation.Valid(m.Type, m.Original, m.Text) {
					t.Errorf("%s: %q is not a variant of %q", kind, m.Text, m.Original)
				}
				if len(m.ID) != 12 || ids[m.ID] {
					t.Errorf("%s: id %q", kind, m.ID)
				}
				ids[m.ID] = true
			}
		}
	}
}

// testdata/every.txt holds the variants of every type, in the order in which they are made.
func TestVariantsStay(t *testing.T) {
	var got strings.Builder
	for _, kind := range names() {
		for _, shapes := range []bool{false, true} {
			set := mutation.Generate(mutation.Request{
				Prompts: []string{"Book a flight to Paris, please.", "Hi"}, Types: []string{kind, "noise", kind}, Count: 13, Seed: 11, Shapes: shapes, Timeout: 4 * time.Second,
				Templates: []mutation.Template{{"mine", "Kindly: {prompt}"}, {"tone_shift", "{prompt}!"}, {"other", "{prompt} and {prompt}"}},
				Weight:    func(kind string) float64 { return float64(len(kind)) },
			})
			fmt.Fprintf(&got, "%s, shapes %t: %d wanted, dropped %v\n", kind, shapes, set.Wanted, set.Dropped)
			for _, m := range set.List {
				if m.Type == kind {
					wire, _ := json.Marshal(m.Wire) // text and numbers
					fmt.Fprintf(&got, "  %s %g %s: %d %.90q %.90s %d\n", m.ID, m.Weight, m.How, len(m.Text), m.Text, wire, len(wire))
				}
			}
		}
	}
	const file = "testdata/every.txt"
	golden.Check(t, file, got.String())
}

// The types about the system act on the request itself.
func TestSystemTypesChangeTheRequest(t *testing.T) {
	real := map[string]bool{
		"http_header_injection": true, "payload_size_attack": true, "content_type_confusion": true, "query_parameter_poisoning": true,
		"request_method_attack": true, "protocol_level_attack": true, "concurrent_request_pattern": true, "timeout_manipulation": true,
	}
	for _, kind := range names() {
		set := mutation.Generate(mutation.Request{Prompts: []string{"Hello there"}, Types: []string{kind}, Weight: one, Count: 2, Shapes: true, Timeout: time.Second, Templates: []mutation.Template{{Name: "a", Text: "{prompt}!"}}})
		for _, m := range set.List {
			if (m.Wire != nil) != real[kind] {
				t.Errorf("%s: request changed: %t", kind, m.Wire != nil)
			}
		}
	}
}

func TestShare(t *testing.T) {
	for _, tc := range []struct {
		count, types int
		want         []int
	}{{10, 3, []int{4, 3, 3}}, {2, 4, []int{1, 1, 0, 0}}, {20, 7, []int{3, 3, 3, 3, 3, 3, 2}}} {
		if got := mutation.Share(tc.count, tc.types); !slices.Equal(got, tc.want) {
			t.Errorf("%d over %d: %v, want %v", tc.count, tc.types, got, tc.want)
		}
	}
}

// Vectors of existing tools.
func TestIDAndValidity(t *testing.T) {
	if id := mutation.ID("Test", "Test 1", "noise"); id != "a0d1688b1ef6" {
		t.Errorf("id %s", id)
	}
	for _, tc := range []struct {
		kind, original, text string
		want                 bool
	}{
		{"paraphrase", "Book a flight", "Please book me a flight", true}, {"paraphrase", "Same", "Same", false}, {"paraphrase", "Same", " Same ", false},
		{"paraphrase", "x", "", false}, {"length_extremes", "Book", "", true}, {"length_extremes", "Book", "   ", false}, {"length_extremes", "Book", "Book", false},
		{"length_extremes", "Book", strings.Repeat("Book ", 40), true}, {"noise", strings.Repeat("a", 100), strings.Repeat("b", 300), true},
		{"noise", strings.Repeat("a", 100), strings.Repeat("b", 301), false}, {"prompt_injection", "Hi", "Hi. " + strings.Repeat("and so on ", 20), true},
	} {
		if got := mutation.Valid(tc.kind, tc.original, tc.text); got != tc.want {
			t.Errorf("%s: %q of %q: %t", tc.kind, tc.text, tc.original, got)
		}
	}
	if got := config.DisplayName("http_header_injection"); got != "Http Header Injection" {
		t.Errorf("display name %q", got)
	}
	if len(config.MutationTypes) != 24 {
		t.Errorf("%d types", len(config.MutationTypes))
	}
}

// No prompt, however strange, breaks generation; what is made is always valid.
func TestAnyPrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.String().Draw(t, "prompt")
		set := mutation.Generate(mutation.Request{Prompts: []string{prompt}, Types: names(), Weight: one, Count: 24, Seed: rapid.Int64().Draw(t, "seed"), Templates: []mutation.Template{{Name: "a", Text: "x {prompt}"}}})
		if set.Wanted != 24 {
			t.Fatalf("wanted %d", set.Wanted)
		}
		for _, m := range set.List {
			if !mutation.Valid(m.Type, m.Original, m.Text) {
				t.Fatalf("%s: %q of %q", m.Type, m.Text, m.Original)
			}
		}
	})
}

// What is beyond the limit is counted, not made.
func TestNothingIsMadeBeyondTheLimit(t *testing.T) {
	made := 0
	r := mutation.Request{Prompts: []string{"where is my parcel", "where is my refund"}, Types: []string{"noise"}, Count: 5, Limit: 3, Weight: func(string) float64 { made++; return 1 }}
	if set := mutation.Generate(r); len(set.List) != 3 || set.Cut != 7 || set.Wanted != 10 || made != 3 {
		t.Errorf("%d in the list, %d cut, %d wanted, %d made", len(set.List), set.Cut, set.Wanted, made)
	}
}
