package report

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

// vary changes a value here and there: texts get longer, shorter and stranger, lists lose and
// repeat items, numbers grow, and what may be missing goes missing.
func vary(v reflect.Value, r *rand.Rand) {
	if !v.CanSet() {
		return
	}
	hit := r.IntN(12) == 0
	switch v.Kind() {
	case reflect.Pointer:
		if hit {
			v.SetZero()
		} else if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			vary(own.Elem(), r)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			vary(v.Field(i), r)
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		own := reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			for range 1 + r.IntN(10)/9 {
				own = reflect.Append(own, v.Index(i))
				vary(own.Index(own.Len()-1), r)
			}
		}
		if hit {
			own = own.Slice(0, r.IntN(own.Len()+1))
		}
		v.Set(own)
	case reflect.String:
		if text := v.String(); hit && v.Type() == reflect.TypeFor[string]() && text != "" {
			v.SetString([]string{"", text + " and " + text, "<b>&\"'`|_*\x1b[1m\u202e" + text, strings.Repeat(text+"\n", 3), "어떤 " + text}[r.IntN(5)])
		}
	case reflect.Int, reflect.Int64:
		if hit {
			v.SetInt([]int64{0, 1, v.Int() * 1000, v.Int() + 1}[r.IntN(4)])
		}
	case reflect.Float64:
		if hit {
			v.SetFloat(v.Float() * 0.37)
		}
	case reflect.Bool:
		if hit {
			v.SetBool(!v.Bool())
		}
	}
}

// Every format of many records, and the text on screens of several widths. What is written
// is meant as it is: -update takes digests anew, and SWEEP=FILE writes all of it, to compare
// before and after a change.
func TestManyRecords(t *testing.T) {
	formats := Formats()
	sums := make(map[string]io.Writer)
	var got strings.Builder
	whole := io.Discard
	if name := os.Getenv("SWEEP"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		whole = f
	}
	add := func(name string, text []byte) {
		if sums[name] == nil {
			sums[name] = fnv.New64a()
		}
		fmt.Fprintf(whole, "== %s\n", name)
		for _, w := range []io.Writer{sums[name], whole} {
			if _, err := w.Write(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	for seed := range uint64(16) {
		rec := richRecord()
		vary(reflect.ValueOf(&rec).Elem(), rand.New(rand.NewPCG(seed, 1)))
		var b bytes.Buffer
		opt := Options{}
		if seed%2 == 1 {
			opt = listed(Case{Index: 0, Name: "ONE"}, Case{Index: 23411, Name: "TWO", Verdict: campaign.VerdictFail, Title: "two <is> wrong"}, Case{Campaign: 1, Index: 2, Verdict: campaign.VerdictError, Title: "lost"})
			opt.Blob = func(id string) ([]byte, error) { return []byte(strings.Repeat(id+"\x00é\n", 40)), nil }
			opt.CaseLink = func(contract, name string, index int64) string {
				return fmt.Sprint("/", contract, "/", name, "/", index)
			}
			opt.Folder, opt.Report, opt.Ran, opt.Card = "/src", []string{"thresh", "report", rec.RunID}, seed%4 == 1, seed%3 == 1
			opt.Since = &Since{Why: "run r0 had other options", Scores: []Scores{{Before: 0.5, After: 0.75}}}
			if len(rec.Warnings) > 0 {
				opt.Told = rec.Warnings[:1]
			}
		}
		for _, f := range formats {
			b.Reset()
			err := f.Write(&b, rec, opt)
			add(f.Name, fmt.Appendln(b.Bytes(), err))
		}
		for _, width := range []int{30, 80, 200} {
			b.Reset()
			text, err := ByName("text")
			if err == nil {
				err = text.Write(&b, rec, Options{Width: width, Color: width == 80, Ran: opt.Ran, Report: opt.Report, Told: opt.Told, Since: opt.Since})
			}
			for _, x := range rec.Findings {
				if err == nil {
					err = FindingText(&b, rec, x, Options{Width: width})
				}
			}
			add(fmt.Sprint("text of ", width), fmt.Appendln(b.Bytes(), err))
		}
	}
	for _, f := range formats {
		fmt.Fprintf(&got, "%s %x\n", f.Name, sums[f.Name].(interface{ Sum([]byte) []byte }).Sum(nil))
	}
	for _, width := range []int{30, 80, 200} {
		name := fmt.Sprint("text of ", width)
		fmt.Fprintf(&got, "%s %x\n", name, sums[name].(interface{ Sum([]byte) []byte }).Sum(nil))
	}
	golden.Check(t, "testdata/many.golden", got.String())
}
