package report

import (
	"bytes"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

func write(t *testing.T, format string, rec campaign.Record, opt Options) string {
	t.Helper()
	f, err := ByName(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, rec, opt); err != nil {
		t.Fatalf("write %s: %v", format, err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			opt := Options{}
			golden.Check(t, "testdata/"+"rich"+f.Extension+".golden", write(t, f.Name, richRecord(), opt))
			golden.Check(t, "testdata/"+"clean"+f.Extension+".golden", write(t, f.Name, cleanRecord(), opt))
		})
	}
	golden.Check(t, "testdata/color.txt.golden", write(t, "text", richRecord(), Options{Color: true, Width: 72}))
	var b bytes.Buffer
	rec := richRecord()
	for i := range rec.Findings {
		if err := FindingText(&b, rec, rec.Findings[i], Options{}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n--------\n")
	}
	s := newScreen(Options{})
	for _, c := range rec.Campaigns {
		for i := range c.Exhibits {
			s.exhibit(&c.Exhibits[i])
		}
	}
	golden.Check(t, "testdata/finding.txt.golden", b.String()+s.String())
}
