package operator_test

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

func bigInt(n int64) *big.Int { return big.NewInt(n) }

// stream makes children of n seeds, each on its own or as many as fit together.
func stream(t *testing.T, s operator.Stream, n int) (string, operator.Counts) {
	t.Helper()
	r, _ := mutator.NewRegistry(mutator.Builtins())
	s.Lane = mutator.New(r, mutator.Config{SeedBase: bigInt(5), Steps: 1, Strength: textop.Range{Min: 1, Max: 3}, Policy: mutator.Uniform, Redraws: 3}).NewLane(nil)
	var out strings.Builder
	i := 0
	counts, err := s.Run(t.Context(), func() (*mutator.Seed, error) {
		if i == n {
			return nil, io.EOF
		}
		i++
		return &mutator.Seed{ID: fmt.Sprint("s", i), Text: fmt.Sprint("Read page ", i, "."), Surface: textop.PromptText, Ordinal: int64(i - 1)}, nil
	}, func(line []byte) error {
		out.Write(append(line, '\n'))
		return nil
	}, func(c *mutator.Child) { t.Errorf("%s: %v", c.ID, c.Breaches) })
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), counts
}

func TestStream(t *testing.T) {
	many, counts := stream(t, operator.Stream{Children: 7, Duplicates: operator.RejectExact}, 300)
	if counts.Seeds != 300 || counts.Children != 2100 || counts.Short != 0 || strings.Count(many, "\n") != 2100 {
		t.Errorf("%+v, %d lines", counts, strings.Count(many, "\n"))
	}
	if few, _ := stream(t, operator.Stream{Children: 7, Duplicates: operator.RejectExact}, 3); !strings.HasPrefix(many, few) {
		t.Error("children of a seed depend on the seeds after it")
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(many) {
		seed, _, _ := strings.Cut(line[strings.Index(line, `"seed_id"`):], ",")
		text, _, _ := strings.Cut(line[strings.Index(line, `"child_text"`):], `,"mutation_trace"`)
		if seen[seed+text] {
			t.Fatalf("twice: %s %s", seed, text)
		}
		seen[seed+text] = true
	}
	// A seed of more children than a window holds gives them at once.
	big, counts := stream(t, operator.Stream{Children: 2000, Duplicates: operator.RejectNear}, 2)
	if counts.Near+counts.Equal == 0 || counts.Children+counts.Short*2000 < 2000 || strings.Index(big, `"seed_id":"s2"`) < strings.LastIndex(big, `"seed_id":"s1"`) {
		t.Errorf("%+v, or seeds are mixed", counts)
	}
	all, counts := stream(t, operator.Stream{Children: 50, Duplicates: operator.RejectExact, All: true}, 4)
	if n := int64(strings.Count(all, "\n")); n != 200 || n != counts.Children {
		t.Errorf("%d lines of 200, %+v", n, counts)
	}
}

func TestStreamEndsOnErrors(t *testing.T) {
	r, _ := mutator.NewRegistry(mutator.Builtins())
	lane := mutator.New(r, mutator.Config{Strength: textop.Range{Min: 1, Max: 1}, Policy: mutator.Uniform}).NewLane(nil)
	bad := errors.New("bad")
	s := operator.Stream{Lane: lane, Children: 2}
	seed := func() (*mutator.Seed, error) { return &mutator.Seed{ID: "s", Text: "Read this."}, nil }
	if _, err := s.Run(t.Context(), func() (*mutator.Seed, error) { return nil, bad }, func([]byte) error { return nil }, nil); !errors.Is(err, bad) {
		t.Error("reading:", err)
	}
	if _, err := s.Run(t.Context(), seed, func([]byte) error { return bad }, nil); !errors.Is(err, bad) {
		t.Error("writing:", err)
	}
}

// An operator that was asked for by its name and that no seed lets be drawn is
// named when the stream has ended; one that a later seed lets be drawn is not.
func TestIdleOperatorsOfAStream(t *testing.T) {
	r, _ := mutator.NewRegistry(mutator.Builtins())
	for name, c := range map[string]struct {
		include  []string
		controls bool
		surfaces []textop.Surface
		want     string // all that is said; "": nothing
	}{
		"a surface that no seed has": {[]string{"op_enc_hex", "op_rag_keyword_stuffing"}, false, []textop.Surface{textop.PromptText},
			"op_rag_keyword_stuffing was never drawn: its surface_compat is"},
		"a surface of the last seed":   {[]string{"op_enc_hex", "op_rag_keyword_stuffing"}, false, []textop.Surface{textop.PromptText, textop.RAGContext}, ""},
		"control characters":           {[]string{"op_enc_hex", "op_inv_ansi"}, false, []textop.Surface{textop.PromptText}, "op_inv_ansi was never drawn: its children contain control characters"},
		"control characters, as asked": {[]string{"op_enc_hex", "op_inv_ansi"}, true, []textop.Surface{textop.PromptText}, ""},
		"nobody asked":                 {nil, false, []textop.Surface{textop.PromptText}, ""},
		"no seed at all":               {[]string{"op_enc_hex"}, false, nil, ""},
	} {
		m := mutator.New(r, mutator.Config{SeedBase: bigInt(5), Steps: 1, Strength: textop.Range{Min: 1, Max: 1}, Policy: mutator.Uniform,
			Filter: mutator.Filter{Include: c.include}, Constraints: textop.Constraints{KeepControls: c.controls}})
		s := operator.Stream{Lane: m.NewLane(nil), Children: 2, Controls: c.controls}
		i := 0
		_, err := s.Run(t.Context(), func() (*mutator.Seed, error) {
			if i == len(c.surfaces) {
				return nil, io.EOF
			}
			i++
			return &mutator.Seed{ID: fmt.Sprint("s", i), Text: "Read page one.", Surface: c.surfaces[i-1]}, nil
		}, func([]byte) error { return nil }, func(*mutator.Child) {})
		if err != nil {
			t.Fatal(err)
		}
		list := s.Idle(m, "seeds.txt")
		if got := list.Error(); (len(list) > 0) != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
