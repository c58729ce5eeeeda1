package shrink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// texts draws inputs that look like what the passes know, and what they do not.
func texts() *rapid.Generator[[]byte] {
	part := rapid.SampledFrom([]string{
		"a", "Zed", "7", "-12.5e3", "\"s\"", "'", "\\\"", "(", ")", "[", "]", "{", "}", ",", ":", ";", "\n", " ",
		"<a>", "</a>", "<b x=\"1\"/>", "<!--", "é", "東", "\x00", "\xff", "null", `{"k":[1,2]}`,
	})
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) []byte {
			var b bytes.Buffer
			for _, p := range rapid.SliceOfN(part, 0, 40).Draw(t, "parts") {
				b.WriteString(p)
			}
			return b.Bytes()
		}),
		rapid.SliceOfN(rapid.Byte(), 0, 80),
	)
}

// predicate draws a property that holds for an input; many are not monotone.
func predicate(t *rapid.T, input []byte) func([]byte) bool {
	lo := rapid.IntRange(0, len(input)).Draw(t, "lo")
	hi := rapid.IntRange(lo, min(len(input), lo+4)).Draw(t, "hi")
	part, sum := input[lo:hi], sha256.Sum256(input)
	salt := rapid.Byte().Draw(t, "salt")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return func(b []byte) bool { return bytes.Contains(b, part) }
	case 1:
		return func(b []byte) bool { return len(b) >= hi && len(b)%2 == len(input)%2 }
	case 2:
		depth, ok := balanced(input)
		return func(b []byte) bool { d, k := balanced(b); return k == ok && min(d, 2) == min(depth, 2) }
	default: // a coin for every candidate
		return func(b []byte) bool {
			h := sha256.Sum256(append(bytes.Clone(b), salt))
			return h[0]%3 == 0 || sha256.Sum256(b) == sum
		}
	}
}

func TestBytesLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input := texts().Draw(t, "input")
		holds := predicate(t, input)
		var calls [][]byte
		seen := map[string]bool{}
		test := func(b []byte) (bool, error) {
			if seen[string(b)] {
				t.Fatalf("%q was tested twice", b)
			}
			seen[string(b)] = true
			calls = append(calls, bytes.Clone(b))
			return holds(b), nil
		}
		kept := bytes.Clone(input)
		got, stats := Bytes(context.Background(), input, test)
		switch {
		case stats.Err != nil:
			t.Fatal(stats.Err)
		case !bytes.Equal(kept, input):
			t.Fatal("the input was changed")
		case !holds(got):
			t.Fatalf("%q does not hold", got)
		case !bytes.Equal(got, input) && !simpler(got, input):
			t.Fatalf("%q is not simpler than %q", got, input)
		case stats.Tests != len(calls):
			t.Fatalf("%d tests counted, %d made", stats.Tests, len(calls))
		}
		for i := range got {
			if less := append(bytes.Clone(got[:i]), got[i+1:]...); holds(less) {
				t.Fatalf("byte %d of %q can go", i, got)
			}
		}
		first := calls
		calls, seen = nil, map[string]bool{}
		again, _ := Bytes(context.Background(), input, test)
		if !bytes.Equal(again, got) || !equalCalls(first, calls) {
			t.Fatalf("a second time gave %q by %d tests, not %q by %d", again, len(calls), got, len(first))
		}
		calls, seen = nil, map[string]bool{}
		if once, _ := Bytes(context.Background(), got, test); !bytes.Equal(once, got) {
			t.Fatalf("%q was not the end, %q is simpler", got, once)
		}
	})
}

func equalCalls(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func TestBytesKeepsToABudget(t *testing.T) {
	spent := errors.New("budget spent")
	rapid.Check(t, func(t *rapid.T) {
		input := texts().Draw(t, "input")
		holds := predicate(t, input)
		budget := rapid.IntRange(1, 30).Draw(t, "budget")
		calls := 0
		got, stats := Bytes(context.Background(), input, func(b []byte) (bool, error) {
			if calls++; calls > budget {
				return false, spent
			}
			return holds(b), nil
		})
		if !holds(got) || calls > budget+1 || calls > budget && !errors.Is(stats.Err, spent) {
			t.Fatalf("%q after %d tests of %d: %v", got, calls, budget, stats.Err)
		}
	})
}

func FuzzLex(f *testing.F) {
	for _, p := range problems() {
		f.Add(p.input)
	}
	f.Add([]byte(`<a b="<">'"\'</`))
	f.Fuzz(func(t *testing.T, b []byte) {
		at := 0
		tree := parse(b)
		for i, tok := range tree.tokens {
			if tok.lo != at || tok.hi <= tok.lo {
				t.Fatalf("token %d is %v at %d", i, tok, at)
			}
			at = tok.hi
		}
		if at != len(b) {
			t.Fatalf("tokens end at %d of %d", at, len(b))
		}
		for _, g := range tree.groups {
			last := tree.match[g]
			if tree.tokens[g].name != tree.tokens[last].name || tree.tokens[last].kind != closer {
				t.Fatalf("group from %v to %v", tree.tokens[g], tree.tokens[last])
			}
			for _, n := range tree.items(g+1, last) {
				if n.first <= g || n.last >= last || n.last < n.first {
					t.Fatalf("item %v outside of group %d to %d", n, g, last)
				}
			}
		}
	})
}
