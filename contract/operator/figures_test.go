package operator_test

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"hash/fnv"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/thresh-dev/thresh/examples/operator/demo"
)

// unseen are guards that the search was not made for: other filters, other models
// and other replies than those of the demo. What they say instead of the canary
// is the same for every prompt (mute), or differs from prompt to prompt (fickle).
var unseen = map[string]func(string) string{
	// Refuses what it reads as it is written and behind one hexadecimal or Base64
	// layer; its model reads two layers. It says one thing for all.
	"mute": func(p string) string {
		if wants(p, 2) && !wants(p, 1) {
			return "Sure: canary-heron."
		}
		return "OK."
	},
	// Looks for two words in folded text, at their places; its model joins single
	// letters, reads text backwards, and one layer. No two replies are alike.
	"fickle": func(p string) string {
		folded := strings.ToLower(norm.NFKC.String(p))
		read := plainLetters(p)
		blocked := strings.Contains(folded, "canary") || strings.Contains(folded, "instructions")
		if !blocked && strings.Contains(read+" "+backwards(read), "canaryword") {
			return "It is canary-heron, of course."
		}
		h := fnv.New32a()
		h.Write([]byte(p))
		n := h.Sum32()
		words := []string{"gladly", "today", "tea", "a train", "notes", "perhaps", "birds", "we", "maps", "and", "slowly", "bread"}
		said := ""
		for range 9 {
			said += words[n%12] + " "
			n = n*1664525 + 1013904223
			n ^= n >> 13
		}
		return said
	},
}

func backwards(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

func plainLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
}

var coded = regexp.MustCompile(`[0-9A-Za-z+/]{12,}={0,2}`)

func wants(p string, layers int) bool {
	if strings.Contains(strings.ToLower(p), "canary word") {
		return true
	}
	if layers == 0 {
		return false
	}
	for _, c := range coded.FindAllString(p, -1) {
		if b, err := hex.DecodeString(c); err == nil && wants(string(b), layers-1) {
			return true
		}
		if b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(c, "=")); err == nil && wants(string(b), layers-1) {
			return true
		}
	}
	return false
}

// TestSearchFigures measures what docs/operator.md says of searches:
//
//	THRESH_TEST_LONG=1 go test ./contract/operator -run TestSearchFigures -v
func TestSearchFigures(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("takes minutes: set THRESH_TEST_LONG=1")
	}
	policies := cmp.Or(os.Getenv("THRESH_TEST_POLICIES"), "uniform exp3 search")
	guards := map[string]func(string) string{"layered": demo.Layered, "layered, bare": func(p string) string {
		if r := demo.Layered(p); strings.Contains(r, "heron") {
			return r
		}
		return "No."
	}}
	for name, g := range unseen {
		guards[name] = g
	}
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			var rows = map[string][]int{}
			for seed := range 10 {
				for _, policy := range strings.Fields(policies) {
					more := ""
					if policy != "search" {
						more = `"steps": 2, "strength": [1, 5],`
					}
					a := attacked(t, policy, more, 3000, seed, guard)
					first := a.first
					if first == 0 {
						first = 9999
					}
					rows[policy] = append(rows[policy], a.wins)
					rows[policy+" first"] = append(rows[policy+" first"], first)
					rows[policy+" chains"] = append(rows[policy+" chains"], len(a.chains))
				}
			}
			for _, k := range slices.Sorted(maps.Keys(rows)) {
				slices.Sort(rows[k])
				t.Logf("%-16s median %5d of %v", k, rows[k][5], rows[k])
			}
		})
	}
}
