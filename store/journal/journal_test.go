package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

func encode(t testing.TB, entries []Entry) (file []byte, ends []int) {
	t.Helper()
	file = AppendHead(nil)
	var enc Encoder
	for i := range entries {
		var err error
		if file, err = enc.Append(file, &entries[i]); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		ends = append(ends, len(file))
	}
	return file, ends
}

// decode reads all that can be read; data is copied.
func decode(file []byte) ([]Entry, error) {
	var out []Entry
	s := NewScanner(bytes.NewReader(file), int64(len(file)))
	for s.Next() {
		e, err := s.Entry()
		if err != nil {
			return out, err
		}
		e.Data = append([]byte(nil), e.Data...)
		out = append(out, e)
	}
	return out, s.Err()
}

func sample() []Entry {
	entries := []Entry{
		{Kind: KindManifest, Data: []byte(`{"RunID":"r-1"}`)},
		{Kind: KindFacts, Data: []byte("facts"), At: 12 * time.Millisecond},
	}
	for i := range int64(20) {
		e := Entry{Kind: KindOutcome, At: time.Duration(20+i) * time.Millisecond, Case: campaign.Case{Round: int(i / 8), Index: i}}
		e.Outcome.Elapsed = 1500 * time.Microsecond
		if i%5 == 4 {
			e.Outcome.Verdict, e.Outcome.Kind, e.Outcome.Cause = campaign.VerdictFail, "crash", []string{"SIGSEGV", "main.c"}
		}
		entries = append(entries, e)
	}
	return append(entries,
		Entry{Kind: KindRedo, Campaign: 1, Attempt: 1, At: time.Second, Data: []byte("why")},
		Entry{Kind: KindEnd, At: time.Second, Data: bytes.Repeat([]byte("x"), 300)})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.IntRange(0, 1<<20)
		entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Entry {
			e := Entry{
				Kind:     Kind(rapid.IntRange(1, int(maxKind)).Draw(t, "kind")),
				Campaign: small.Draw(t, "campaign"),
				Attempt:  rapid.IntRange(0, 3).Draw(t, "attempt"),
				At:       time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "at")) * time.Millisecond,
			}
			if rapid.Bool().Draw(t, "is outcome") {
				e.Kind = rapid.SampledFrom([]Kind{KindOutcome, KindClosing}).Draw(t, "of")
			}
			if e.Kind == KindClosing {
				e.After = rapid.Int64Range(0, 1<<62).Draw(t, "after")
			}
			if !e.Kind.Outcome() {
				e.Data = rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "data")
				return e
			}
			e.Case = campaign.Case{Round: small.Draw(t, "round"), Index: rapid.Int64Range(0, 1<<62).Draw(t, "index")}
			e.Outcome = campaign.Outcome{
				Verdict: campaign.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict")),
				Title:   rapid.String().Draw(t, "title"),
				Cause:   rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "cause"),
				Data:    rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "facts"),
				Elapsed: time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "elapsed")) * time.Microsecond,
			}
			return e
		}), 0, 30).Draw(t, "entries")

		file := AppendHead(nil)
		var enc Encoder
		var err error
		for i := range entries {
			if file, err = enc.Append(file, &entries[i]); err != nil {
				t.Fatal(err)
			}
			if got := WholeRecords(file[HeadSize:]); got != len(file)-HeadSize {
				t.Fatalf("WholeRecords = %d of %d", got, len(file)-HeadSize)
			}
		}
		got, err := decode(file)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprintf("%+v", entries), fmt.Sprintf("%+v", got); a != b {
			t.Fatalf("read back\n%s\nwant\n%s", b, a)
		}
	})
}

// Version 1 is what users have on their disks: what is written for the same
// entries may not change without a new version.
func TestFormatIsStable(t *testing.T) {
	const expected = "testdata/v1.hex"
	file, _ := encode(t, sample())
	file[HeadSize-1] = 1 // records are those of version 1, which lacks a kind of them
	golden.Check(t, expected, hex.Dump(file))
}

func TestTornAtEveryByte(t *testing.T) {
	want := sample()
	file, ends := encode(t, want)
	for size := range len(file) {
		got, err := decode(file[:size])
		whole, last := 0, HeadSize
		for whole < len(ends) && ends[whole] <= size {
			last = ends[whole]
			whole++
		}
		if size < HeadSize {
			last = 0
		}
		if len(got) != whole {
			t.Fatalf("cut at %d: %d records read, want %d", size, len(got), whole)
		}
		var torn *TornError
		switch {
		case size == last && size > 0:
			if err != nil {
				t.Fatalf("cut at %d, between records: %v", size, err)
			}
		case !errors.As(err, &torn) || torn.Offset != int64(last) || torn.Bytes != int64(size-last):
			t.Fatalf("cut at %d: error %v, want torn at %d", size, err, last)
		}
	}
}

// A tail of zeros is what some file systems leave of a write that was never
// completed.
func TestZeroTailIsTorn(t *testing.T) {
	file, ends := encode(t, sample())
	got, err := decode(append(file, make([]byte, 5000)...))
	var torn *TornError
	if len(got) != len(ends) || !errors.As(err, &torn) || torn.Bytes != 5000 {
		t.Fatalf("%d records, error %v", len(got), err)
	}
}

func TestFlippedByteEverywhere(t *testing.T) {
	want := sample()
	file, ends := encode(t, want)
	for at := HeadSize; at < len(file); at++ {
		bad := bytes.Clone(file)
		bad[at] ^= 0x20
		got, err := decode(bad)
		before := 0
		for ends[before] <= at {
			before++
		}
		if len(got) != before {
			t.Fatalf("byte %d flipped: %d records read, want %d", at, len(got), before)
		}
		for i := range got {
			if got[i].Kind != want[i].Kind || got[i].Case.Index != want[i].Case.Index {
				t.Fatalf("byte %d flipped: record %d is %+v", at, i, got[i])
			}
		}
		var damage *DamageError
		var torn *TornError
		if before < len(ends)-1 && !errors.As(err, &damage) {
			t.Fatalf("byte %d flipped, records behind it: error %v, want damage", at, err)
		}
		if before == len(ends)-1 && !errors.As(err, &torn) {
			t.Fatalf("byte %d flipped in the last record: error %v, want torn", at, err)
		}
	}
}

func TestDamageInALongRecordIsNotTakenForATornTail(t *testing.T) {
	file, ends := encode(t, []Entry{
		{Kind: KindManifest, Data: []byte("m")},
		{Kind: KindFinding, Data: make([]byte, 300<<10)},
		{Kind: KindEnd, Data: []byte("end")},
	})
	file[ends[0]+1000] ^= 1
	_, err := decode(file)
	var damage *DamageError
	if !errors.As(err, &damage) || damage.Offset != int64(ends[0]) {
		t.Fatalf("error %v, want damage at %d", err, ends[0])
	}
}

func TestForeignFiles(t *testing.T) {
	for name, file := range map[string]string{
		"text":    "not a journal at all",
		"short":   "abc",
		"newer":   magic + "\x03",
		"version": magic + "\x00rest",
	} {
		_, err := decode([]byte(file))
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: error %v, want a format error", name, err)
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	var enc Encoder
	for _, e := range []Entry{
		{},
		{Kind: 128},
		{Kind: KindFacts, Campaign: -1},
		{Kind: KindOutcome, Case: campaign.Case{Index: -1}},
	} {
		if b, err := enc.Append(nil, &e); err == nil || len(b) != 0 {
			t.Errorf("%+v: got %x, %v", e, b, err)
		}
	}
	if enc != (Encoder{}) {
		t.Errorf("a refused entry moved the encoder: %+v", enc)
	}
}

// A scanner's encoder goes on as if reading and writing had been one.
func TestEncoderContinues(t *testing.T) {
	want := sample()
	file, ends := encode(t, want)
	for cut := range ends {
		s := NewScanner(bytes.NewReader(file), int64(ends[cut]))
		for s.Next() {
		}
		enc := s.Encoder()
		got := bytes.Clone(file[:ends[cut]])
		for i := cut + 1; i < len(want); i++ {
			got, _ = enc.Append(got, &want[i])
		}
		if !bytes.Equal(got, file) {
			t.Fatalf("written on from record %d, the journal differs", cut)
		}
	}
}

func FuzzScanner(f *testing.F) {
	file, ends := encode(f, sample())
	f.Add(file)
	f.Add(file[:ends[3]+2])
	f.Add(AppendHead(nil))
	f.Add([]byte{})
	f.Add(append(AppendHead(nil), 0xff, 0xff, 0xff, 0xff, 0x7f))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := decode(file)
		if err != nil {
			return
		}
		// What is read without an error can be written again and reads the same.
		again, _ := encode(t, got)
		back, err := decode(again)
		if err != nil || !reflect.DeepEqual(got, back) {
			t.Fatalf("%+v\nread back as\n%+v, %v", got, back, err)
		}
	})
}
