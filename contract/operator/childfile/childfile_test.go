package childfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

func derive(testcase string) uint64 { return uint64(len(testcase)) }

// lineOf is child n of a seed.
func lineOf(seed, n int) string {
	id := fmt.Sprintf("s%d:%d", seed, n)
	return fmt.Sprintf(`{"schema_version":"thresh.child.v1","testcase_id":%q,"seed_index":%d,"derived_seed":%d}`, id, seed, derive(id))
}

// A file is continued at its last seed, whose children are made again: what was torn off is
// written again, and what differs is refused without a change.
func TestContinued(t *testing.T) {
	whole := strings.Join([]string{lineOf(0, 0), lineOf(0, 1), lineOf(3, 0), lineOf(3, 1), ""}, "\n")
	cut := strings.LastIndex(whole[:len(whole)-1], "\n") + 1 // before the last child
	for _, x := range []struct {
		name, there string
		from        int64
		torn        bool
		again       []string // what is made now
		want, fault string   // the file, and the error
	}{
		{"nothing", "", 0, false, []string{lineOf(0, 0)}, lineOf(0, 0) + "\n", ""},
		{"whole", whole, 3, false, []string{lineOf(3, 0), lineOf(3, 1), lineOf(4, 0)}, whole + lineOf(4, 0) + "\n", ""},
		{"of one seed", lineOf(0, 0) + "\n", 0, false, []string{lineOf(0, 0), lineOf(0, 1)}, lineOf(0, 0) + "\n" + lineOf(0, 1) + "\n", ""},
		{"torn", whole[:len(whole)-9], 3, true, []string{lineOf(3, 0), lineOf(3, 1)}, whole, ""},
		{"torn before its line end", whole[:len(whole)-1], 3, true, []string{lineOf(3, 0), lineOf(3, 1)}, whole, ""},
		{"one less", whole[:cut], 3, false, []string{lineOf(3, 0), lineOf(3, 1)}, whole, ""},
		{"other children", whole, 3, false, []string{lineOf(3, 0), lineOf(3, 2)}, whole, "FILE:4: the child there differs from the one made now; nothing was changed"},
		{"too many", whole, 3, false, []string{lineOf(3, 0)}, whole, "FILE:4: the child there differs from the one made now; nothing was changed"},
		{"no child", "{}\n" + whole, 0, false, nil, "{}\n" + whole, "FILE:1: is not a child that thresh mutate wrote; nothing was changed"},
		{"no seed", strings.Replace(whole, "derived", "drawn", 1), 0, false, nil, strings.Replace(whole, "derived", "drawn", 1), "FILE:1: is not a child that thresh mutate wrote; nothing was changed"},
		{"another version", whole + strings.Replace(lineOf(4, 0), "v1", "v2", 1) + "\n", 0, false, nil, whole + strings.Replace(lineOf(4, 0), "v1", "v2", 1) + "\n", "FILE:5: is not a child that thresh mutate wrote; nothing was changed"},
		{"other flags", strings.Replace(whole, `"s3:1"`, `"s3:11"`, 1), 0, false, nil, strings.Replace(whole, `"s3:1"`, `"s3:11"`, 1), "FILE:4: the child was made with another --seed-base or --rng-rule; nothing was changed"},
	} {
		file := filepath.Join(t.TempDir(), "children")
		if err := os.WriteFile(file, []byte(x.there), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := Open(file, true, derive)
		if err == nil {
			if o.From != x.from || o.Torn != x.torn {
				t.Errorf("%s: from seed %d, torn %t", x.name, o.From, o.Torn)
			}
			for _, line := range x.again {
				if err == nil {
					err = o.Write([]byte(line))
				}
			}
			if err == nil {
				err = o.Done()
			}
			if e := o.Close(); e != nil {
				t.Error(e)
			}
		}
		said := ""
		if err != nil {
			said = strings.ReplaceAll(err.Error(), file, "FILE")
		}
		if now, err := os.ReadFile(file); said != x.fault || string(now) != x.want || err != nil {
			t.Errorf("%s: %q, want %q; the file holds\n%s\nwant\n%s", x.name, said, x.fault, now, x.want)
		}
	}
}

// Without resuming, what a file held is gone; an output that is open already is written as is.
func TestBegun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "children")
	if err := os.WriteFile(file, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Open(file, false, derive)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, o := range []*Output{o, To(&b)} {
		if err := errors.Join(o.Write([]byte("a")), o.Write([]byte("b")), o.Done(), o.Close()); err != nil {
			t.Error(err)
		}
	}
	if now, err := os.ReadFile(file); string(now) != "a\nb\n" || b.String() != string(now) || err != nil {
		t.Errorf("%q, %q: %v", now, b.String(), err)
	}
	_, err = Open(filepath.Join(file, "no"), true, derive)
	if diag.ExitCode(err) != diag.ExitEnvironment || !strings.HasPrefix(err.Error(), "opening ") {
		t.Errorf("%v", err)
	}
	if err := To(broken{}).Close(); err != nil {
		t.Error("nothing was to be written: ", err)
	}
	o = To(broken{})
	if err := errors.Join(o.Write([]byte("a")), o.Close()); err == nil || err.Error() != "writing children: no room" {
		t.Errorf("%v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }
