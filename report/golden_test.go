package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
)

var update = flag.Bool("update", false, "write the golden files anew")

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

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s is not what it was (-was +is; -update to accept):\n%s", name, d)
	}
}

func TestGolden(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			opt := Options{}
			golden(t, "rich"+f.Extension, write(t, f.Name, richRecord(), opt))
			golden(t, "clean"+f.Extension, write(t, f.Name, cleanRecord(), opt))
		})
	}
	golden(t, "color.txt", write(t, "text", richRecord(), Options{Color: true, Width: 72}))
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
	golden(t, "finding.txt", b.String()+s.String())
}
