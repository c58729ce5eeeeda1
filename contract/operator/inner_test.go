package operator

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/redteam"
	"github.com/thresh-dev/thresh/engine/textop"
)

// ShortPauses takes the pauses between tries away: what they are for is a service
// that is busy, and there is none here.
func ShortPauses() { firstPause = time.Millisecond }

// What a case says to Fold comes back as it was written.
func TestFactsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		status := rapid.SampledFrom([]textop.Status{textop.OK, textop.Skipped, textop.Invalid})
		f := facts{status: status.Draw(t, "status"), unjudged: rapid.Bool().Draw(t, "unjudged")}
		if f.status == textop.OK {
			f.print = mutator.Fingerprint{Exact: rapid.Uint64().Draw(t, "exact"), Near: rapid.Uint64().Draw(t, "near")}
		}
		if rapid.Bool().Draw(t, "judged") {
			f.judged, f.judgement = true, mutator.Judgement(rapid.IntRange(0, 2).Draw(t, "judgement"))
		}
		if rapid.Bool().Draw(t, "scored") {
			v := rapid.Float64Range(0, 1).Draw(t, "score")
			f.score = &v
		}
		if f.more = rapid.Bool().Draw(t, "more"); f.more {
			n := rapid.Int64Range(0, 1<<40)
			f.same, f.spent, f.reply = rapid.Bool().Draw(t, "same"), spent{n.Draw(t, "calls"), n.Draw(t, "in"), n.Draw(t, "out")}, rapid.String().Draw(t, "reply")
			if f.lacks = rapid.Bool().Draw(t, "lacks"); f.lacks {
				f.tools = [][]string{nil, {"charge"}, {"charge", "refund"}}[rapid.IntRange(0, 2).Draw(t, "tools")]
			}
			f.signal = redteam.Signal{Shape: rapid.Uint32().Draw(t, "shape"), Refused: rapid.Bool().Draw(t, "refused"), Hidden: 3, Near: 7, Length: 9}
		}
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			f.applied = append(f.applied, mutator.Applied{Op: rapid.IntRange(0, 5000).Draw(t, "op"), Status: status.Draw(t, "of step")})
		}
		b := f.encode()
		got, ok := decodeFacts(b)
		if diff := cmp.Diff(f, got, cmp.AllowUnexported(facts{}, spent{})); !ok || diff != "" {
			t.Fatalf("%t %s", ok, diff)
		}
		if f.status == textop.OK {
			if _, ok := decodeFacts(b[:9]); ok {
				t.Fatal("half of a fingerprint is accepted")
			}
		}
	})
	if _, ok := decodeFacts(nil); ok {
		t.Error("nothing is accepted")
	}
	if _, ok := decodeFacts([]byte{3}); ok {
		t.Error("a status that there is not is accepted")
	}
}

// The smallest seed has whole characters alone.
func TestWholeCharacters(t *testing.T) {
	const whole = "Zoë and 👩\u200d👩\u200d👧 in 서울, e\u0301t\u0301é"
	for text, want := range map[string]bool{
		"Zoë": true, "Zo": true, "0": true, "👩\u200d👩\u200d👧": true, "서": true, "e\u0301": true, "t\u0301 and": true,
		"\xc3": false, "👩": false, "👩\u200d": false, "\u0301": false, "x\u0301": false, "é": true, "강": false,
	} {
		if got := wholeCharacters(whole, []byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// What cannot be seen is written out, and what can stays as it is.
func TestWritten(t *testing.T) {
	for text, want := range map[string]string{
		"a\u200bb\tc\n":          "a<U+200B>b\tc\n",
		"x\u00a0y\U000e0041":     "x<U+00A0>y<U+E0041>",
		"\x1b[1m":                "<U+001B>[1m",
		"\u3164\u2800\ufe01\xff": "<U+3164><U+2800><U+FE01><FF>",
		"안녕 ❤\ufe0f é":           "안녕 ❤\ufe0f é",
	} {
		if got := written(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Two texts that share blanks alone are one change.
func TestDiffIsCoarse(t *testing.T) {
	e := diffExhibit("", "one two three", "4f 5g 6h")
	if len(e.Diff.Segments) != 2 || e.Diff.Segments[0].Text != "one two three" || e.Diff.Segments[1].Text != "4f 5g 6h" {
		t.Errorf("%+v", e.Diff.Segments)
	}
	for _, pair := range [][2]string{{"keep the key safe", "keep a key safe, please"}, {"", "a"}, {"a, b", "c, b"}, {"same", "same"}, {"x y z", "x Y z"}} {
		var from, to strings.Builder
		for _, s := range diffExhibit("", pair[0], pair[1]).Diff.Segments {
			if s.Op != "insert" {
				from.WriteString(s.Text)
			}
			if s.Op != "delete" {
				to.WriteString(s.Text)
			}
		}
		if from.String() != pair[0] || to.String() != pair[1] {
			t.Errorf("%q becomes %q, %q", pair, from.String(), to.String())
		}
	}
}
