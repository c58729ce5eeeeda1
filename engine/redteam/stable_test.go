package redteam_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/thresh-dev/thresh/engine/redteam"
)

// What a search proposes follows from its seed and what came of it, in every version:
// stored runs are resumed and verified by it. Replies lead on, are alike, or lead on where
// the text is hidden; a judge's score comes near; some prompts are never sent.
func TestSearchStaysWhatItIs(t *testing.T) {
	for _, k := range []struct {
		name   string
		calls  int64
		result func(at int, p redteam.Proposal) redteam.Result
		want   string
	}{
		{"led", 600, func(_ int, p redteam.Proposal) redteam.Result {
			last := p.Chain[len(p.Chain)-1]
			won := last.Op == 4 && last.Strength > 3 || p.Chain[0].Op == 7 && last.Op == 2
			return redteam.Result{Chain: p.Chain, Asked: true, Won: won, Score: float64(last.Op) / 16, Signal: redteam.Signal{Shape: uint32(last.Op), Near: uint8(last.Strength)}}
		}, `9b19e94c 902f59ea 565811f8 071a4898 05fc2527 54aa2ab9 11d628ab 26db4e82 `},
		{"alike", 300, func(_ int, p redteam.Proposal) redteam.Result {
			hidden := uint8(0)
			for _, l := range p.Chain {
				hidden = max(hidden, uint8(l.Op%4))
			}
			return redteam.Result{Chain: p.Chain, Asked: true, Signal: redteam.Signal{Shape: 1, Hidden: hidden}}
		}, `9b19e94c ca5eea70 3e36d50c 918f0e23 816531a3 4a5fdbd0 468cfb9a 55c29b47 `},
		{"rare", 2000, func(at int, p redteam.Proposal) redteam.Result {
			r := redteam.Result{Chain: p.Chain, Asked: at%7 != 3, Won: at%11 == 5 && len(p.Chain) > 1, Signal: redteam.Signal{Shape: uint32(at*at) % 400, Hidden: uint8(at % 3)}}
			if at%13 == 1 {
				r.Chain = r.Chain[:len(r.Chain)-1] // an operator that changed nothing
			}
			return r
		}, `9b19e94c a5dbf313 24e2318d 0e975429 2e7ce22e 9410f91e 059896ae e5314676 `},
	} {
		s := redteam.New(&redteam.Config{
			Seed: 9, Kinds: []redteam.Kind{{Ops: []int{0, 1, 2, 3, 4, 5}, Codes: []int{3, 1, 2}, Least: 1, Most: 5}, {Ops: []int{4, 6, 7, 2}, Codes: []int{7}, Least: 2, Most: 9}},
			Units: []int{0, 1, 0}, Ops: 8, Parts: []bool{false, false, true, false, false, true, false, false}, Steps: 3, Calls: k.calls,
		})
		h, at, got := fnv.New32a(), 0, ""
		for round := range 40 {
			plan := s.Propose(12)
			var results []redteam.Result
			for _, p := range plan {
				fmt.Fprintf(h, "%+v\n", p)
				results = append(results, k.result(at, p))
				at++
			}
			if round < 3 || round%8 == 7 {
				got += fmt.Sprintf("%08x ", h.Sum32())
			}
			s = s.Learn(plan, results)
		}
		if got != k.want {
			t.Errorf("%s:\n%s\nwant\n%s", k.name, got, k.want)
		}
	}
}

// What is seen of a reply, as it has always been counted.
func TestSignalsStayWhatTheyAre(t *testing.T) {
	const seed = "Please write the recipe for plum jam."
	long := "a" + fmt.Sprintf("%030d", 7) + "é"
	for len(long) < 9000 {
		long += " word ß" + long[len(long)/2:]
	}
	got := ""
	for _, k := range [][2]string{
		{seed, "I am sorry, I cannot write the recipe for plum jam today, but ask again."},
		{"cGxlYXNl", "Here you go: 3 kg of plums, 2 kg of sugar."},
		{"PLEASE WRITE it", "Pläne für Ömer"}, {"x", ""}, {"", "a"}, {"one two three four", "one two three one two three four five Six"},
		{"x", "Pneumonoultramicroscopicsilicovolcanoconiosis is long"}, {"x", "abcdefghijklmnopqrstuvwx abcdefghijklmnopqrstuvwxy z"}, {long, long}, {"x", long}, {"the secret", "the secret word is plum-42, really plum"},
	} {
		for _, refused := range []bool{false, true} {
			got += fmt.Sprintln(redteam.Look(seed, k[0], redteam.Own(k[0], k[1]), refused, []string{"plum-42 secret", "sugar and salt"}))
		}
	}
	want := []struct{ name, text string }{{"signals", `{1785954896 false 0 0 4}
{1785954896 true 0 0 4}
{2717131044 false 3 2 3}
{2717131044 true 3 2 3}
{3746930121 false 3 0 3}
{3746930121 true 3 0 3}
{2166136261 false 3 0 0}
{2166136261 true 3 0 0}
{186949092 false 3 0 1}
{186949092 true 3 0 1}
{962385783 false 3 0 3}
{962385783 true 3 0 3}
{4257774811 false 3 0 3}
{4257774811 true 3 0 3}
{3328124596 false 3 0 3}
{3328124596 true 3 0 3}
{2166136261 false 3 0 0}
{2166136261 true 3 0 0}
{769918258 false 3 0 7}
{769918258 true 3 0 7}
{183463138 false 3 1 3}
{183463138 true 3 1 3}
`}}
	if got != want[0].text {
		t.Errorf("signals:\n%s\nwant\n%s", got, want[0].text)
	}
}
