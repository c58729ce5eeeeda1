package fuzzspec

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// corpusForms are the fuzzers whose file formats a corpus can be exported to.
var corpusForms = []string{"afl", "libfuzzer", "go", "go-string"}

// fileName is the name that a fuzzer gives to the file of an input.
func fileName(as string, i int, x input) string {
	late := x.kind == kindTimeout
	switch {
	case strings.HasPrefix(as, "go"):
		return digest(x.data)[:16]
	case as == "libfuzzer":
		name := fmt.Sprintf("%x", sha1.Sum(x.data))
		switch {
		case x.kind == "":
			return name
		case late:
			return "timeout-" + name
		}
		return "crash-" + name
	case x.kind == "":
		return fmt.Sprintf("id:%06d,time:0,execs:0,orig:%s", i, path.Base(x.name))
	case late:
		return fmt.Sprintf("hangs/id:%06d,orig:%s", i, x.name)
	}
	return fmt.Sprintf("crashes/id:%06d,orig:%s", i, x.name)
}

// goHeader is the first line of an input file of a Go fuzz test; a line for each argument of the
// test follows, as a Go expression.
const goHeader = "go test fuzz v1\n"

func encodeGo(of string, data []byte) []byte {
	return fmt.Appendf(nil, "%s%s(%s)\n", goHeader, of, strconv.Quote(string(data)))
}

// decodeGo reads the input of a test with a single string or []byte argument.
func decodeGo(file []byte) ([]byte, error) {
	lines := strings.Split(strings.TrimSpace(string(bytes.TrimPrefix(file, []byte(goHeader)))), "\n")
	if len(lines) == 1 {
		for _, form := range []string{"[]byte(", "string("} {
			if text, ok := strings.CutPrefix(lines[0], form); ok {
				if text, err := strconv.Unquote(strings.TrimSuffix(text, ")")); err == nil {
					return []byte(text), nil
				}
			}
		}
	}
	return nil, errors.New("expected the input of a Go fuzz test with one argument, a []byte or a string")
}

// opened returns the record of a stored run, and the run, which the caller closes.
func opened(ctx context.Context, d campaign.Desk, run string) (campaign.Record, campaign.Stored, error) {
	rec, err := d.Record(run)
	if err != nil {
		return rec, nil, err
	}
	stored, err := d.Stored(ctx, rec.RunID)
	return rec, stored, err
}

// runFindings returns the smallest input of each finding of a stored run.
func runFindings(ctx context.Context, d campaign.Desk, run string) (list []input, err error) {
	rec, stored, err := opened(ctx, d, run)
	if err != nil {
		return nil, err
	}
	defer stored.Close()
	for _, f := range rec.Findings {
		blob := ""
		if f.Minimized != nil {
			blob = f.Minimized.Blob
		} else if len(f.Samples) > 0 {
			blob = f.Samples[0].Blob
		}
		if f.Contract != "fuzzspec" || blob == "" {
			continue
		}
		data, err := stored.Blob(blob)
		if err != nil {
			return nil, fmt.Errorf("the input of %s: %w", f.ID, err)
		}
		list = append(list, input{name: f.ID, data: data, kind: f.Kind})
	}
	if len(list) == 0 {
		return nil, diag.Refused("run %s has no finding with an input", rec.RunID)
	}
	return list, nil
}

func importCommand() campaign.Command {
	var to string
	var all bool
	c := campaign.Command{
		Use:     "import FOLDER...",
		Summary: "Copy what AFL++, libFuzzer or go test kept to a --corpus folder",
		Long: `Import takes the output folder of afl-fuzz, one of its queues, the corpus of a
libFuzzer program, or a folder testdata/fuzz/FuzzX of a Go fuzz test that takes one
[]byte or string. Each content is kept once, named by its digest. Inputs of
AFL++'s folders crashes and hangs are skipped and counted, unless --all is given.`,
		Example: `  thresh fuzzspec corpus import afl-out --to corpus
  thresh run spec.json --mutators deep --corpus corpus`,
		Least: 1, Most: -1,
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			list, aside, err := readCorpus(d, args, all)
			if err != nil {
				return err
			}
			if err := writeCorpus(d, to, list, byContent); err != nil {
				return err
			}
			fmt.Fprintf(d.Out(), "%s in %s\n", diag.Plural(int64(len(list)), "input"), to)
			if aside > 0 {
				fmt.Fprintf(d.Err(), "skipped %s of crashes and hangs; --all imports them too\n", diag.Plural(int64(aside), "input"))
			}
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&to, "to", "", "write the inputs to `FOLDER`")
		fs.BoolVar(&all, "all", false, "inputs that crash or hang too")
	}
	c.Required = []string{"to"}
	return c
}

func exportCommand() campaign.Command {
	var to, as, run string
	var findings bool
	c := campaign.Command{
		Use:     "export [FOLDER...]",
		Summary: "Write a corpus or findings, named as AFL++, libFuzzer or Go do",
		Long: `Export writes the inputs of folders, or with --run what a guided run makes its cases
from. With --findings it writes the smallest input of each finding of the run: for
afl to a file of a folder crashes or hangs, for libfuzzer to crash-SHA1 or
timeout-SHA1, for go to a file that go test runs as a regression test of a fuzz test that takes
one []byte, for go-string of one that takes one string.`,
		Example: `  thresh fuzzspec corpus export corpus --to seeds --as afl
  thresh fuzzspec corpus export --run latest --to found
  thresh fuzzspec corpus export --run latest --findings --as go \
      --to testdata/fuzz/FuzzParse`,
		Least: 0, Most: -1, Store: true,
		Values: map[string][]string{"as": corpusForms},
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			if !slices.Contains(corpusForms, as) {
				return diag.Refused("--as must be afl, libfuzzer, go or go-string, got %q", as)
			}
			if len(args) > 0 == (run != "") || findings && run == "" {
				return diag.Refused("name folders of inputs, or a run by --run")
			}
			var list []input
			var err error
			switch {
			case findings:
				list, err = runFindings(ctx, d, run)
			case run != "":
				list, err = runCorpus(ctx, d, run)
			default:
				list, _, err = readCorpus(d, args, true)
			}
			if err != nil {
				return err
			}
			if of := map[string]string{"go": "[]byte", "go-string": "string"}[as]; of != "" {
				for i := range list {
					list[i].data = encodeGo(of, list[i].data)
				}
			}
			if err := writeCorpus(d, to, list, func(i int, x input) string { return fileName(as, i, x) }); err != nil {
				return err
			}
			fmt.Fprintf(d.Out(), "%s in %s\n", diag.Plural(int64(len(list)), "input"), to)
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&to, "to", "", "write the inputs to `FOLDER`")
		fs.StringVar(&run, "run", "", "export the corpus of the guided run `RUN`")
		fs.StringVar(&as, "as", "afl", "whose names: afl, libfuzzer, go or go-string")
		fs.BoolVar(&findings, "findings", false, "with --run: the inputs of its findings instead")
	}
	c.Required = []string{"to"}
	return c
}

// runCorpus returns the corpus of a stored guided run.
func runCorpus(ctx context.Context, d campaign.Desk, run string) (list []input, err error) {
	rec, stored, err := opened(ctx, d, run)
	if err != nil {
		return nil, err
	}
	defer stored.Close()
	all, err := stored.Campaigns(ctx)
	if err != nil {
		return nil, err
	}
	for k := range all {
		c, ok := campaign.As[*Campaign](all[k])
		if !ok || !c.set.guided {
			continue
		}
		s, err := stored.State(all[k], k)
		if err != nil {
			return nil, err
		}
		for _, data := range s.(*state).corpus {
			list = append(list, input{name: digest(data)[:16], data: data})
		}
	}
	if len(list) == 0 {
		return nil, diag.Refused("run %s has no guided campaign", rec.RunID)
	}
	return list, nil
}
