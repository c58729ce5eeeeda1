package fuzzspec

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/process"
)

// corpusCommand handles folders of inputs: those of --corpus, and those of AFL++ and libFuzzer.
func corpusCommand() campaign.Command {
	return campaign.Command{
		Use:     "corpus",
		Summary: "Exchange inputs with AFL++, libFuzzer and Go; minimize them",
		Long: `A corpus is a folder of inputs, as --corpus takes it. Import and export exchange
it with AFL++, libFuzzer and Go's fuzz tests. Minimize and coverage run each input on the program of
a document, which must be built with thresh fuzzspec cc, afl-clang-fast or
afl-clang-lto.`,
		Commands: []campaign.Command{importCommand(), exportCommand(), minimizeCommand(), coverageCommand()},
	}
}

// input is one file of a corpus.
type input struct {
	name  string
	data  []byte
	edges []uint32 // edge/hit-count tuples
	kind  string   // of the finding that it reproduces; "": none
}

// aflFiles are the files that AFL++ keeps beside its inputs, and aflApart the folders of inputs
// that no corpus should start with.
var (
	aflFiles = []string{"README.txt", "fuzzer_stats", "fuzzer_setup", "plot_data", "fuzz_bitmap", "cmdline", "target_hash", "fastresume.bin"}
	aflApart = []string{"crashes", "hangs"}
)

// readCorpus reads folders of inputs, each content once; aside is the number of files skipped
// because they crash or hang.
func readCorpus(d campaign.Desk, folders []string, all bool) (list []input, aside int, err error) {
	seen := map[string]bool{}
	for _, folder := range folders {
		files, _, err := d.Files(folder)
		if err != nil {
			return nil, 0, err
		}
		for _, file := range files {
			rel, _ := filepath.Rel(folder, file)
			parts := strings.Split(filepath.ToSlash(rel), "/")
			name := parts[len(parts)-1]
			hidden := slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, ".") && p != "." })
			if hidden || slices.Contains(aflFiles, name) {
				continue
			}
			if !all && slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return slices.Contains(aflApart, p) }) {
				aside++
				continue
			}
			f, err := d.Open(file)
			if err != nil {
				return nil, 0, err
			}
			data, err := io.ReadAll(io.LimitReader(f, campaign.MaxDocument))
			if err = cmp.Or(err, f.Close()); err != nil {
				return nil, 0, fmt.Errorf("read %s: %w", file, err)
			}
			if bytes.HasPrefix(data, []byte(goHeader)) {
				if data, err = decodeGo(data); err != nil {
					return nil, 0, diag.Refused("%s: %w", file, err)
				}
			}
			if sum := digest(data); !seen[sum] {
				seen[sum] = true
				list = append(list, input{name: name, data: data})
			}
		}
	}
	if len(list) == 0 && aside > 0 {
		return nil, aside, diag.Refused("%s in %s, all of crashes and hangs; --all imports them", diag.Plural(int64(aside), "input"), strings.Join(folders, ", "))
	}
	if len(list) == 0 {
		return nil, aside, diag.Refused("there are no inputs in %s", strings.Join(folders, ", "))
	}
	return list, aside, nil
}

// writeCorpus writes inputs to a folder, named by name.
func writeCorpus(d campaign.Desk, to string, list []input, name func(i int, x input) string) error {
	if err := d.MakeFolder(to); err != nil {
		return err
	}
	for i, x := range list {
		file := filepath.Join(to, filepath.FromSlash(name(i, x)))
		if err := d.MakeFolder(filepath.Dir(file)); err != nil {
			return err
		}
		err := d.Write(file, func(w io.Writer) error {
			_, err := w.Write(x.data)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func byContent(_ int, x input) string { return digest(x.data)[:16] }

// measure runs every input on the program of a document and records what it reaches. A failing
// input records only how it ended: it has no coverage.
func measure(ctx context.Context, d campaign.Desk, spec string, list []input) error {
	doc, err := d.Document(spec)
	if err != nil {
		return err
	}
	set := d.Settings()
	options := map[string][]string{optGuided: {"true"}}
	maps.Copy(options, set.Options)
	set.Options = options
	all, _, err := d.Compile(ctx, []campaign.Spec{doc}, set)
	if err != nil {
		return err
	}
	c, ok := campaign.As[*Campaign](all[0])
	if !ok {
		return diag.Refused("%s is not a FuzzSpec", spec)
	}
	plan := c.plan()
	plan.Executor, plan.Calibrate = process.AFL, nil // every input may take the time limit of the document
	r, err := c.open(ctx, plan, 0, 1, false)
	if err != nil {
		return diag.Environment("%w", err)
	}
	defer r.Close()
	failed := 0
	for i := range list {
		res, err := r.Run(ctx, process.Case{Index: int64(i), RunID: fmt.Sprintf("%s_corpus_%06d", c.set.campaignID, i), Input: list[i].data})
		if err != nil {
			return diag.Environment("%s: %w", list[i].name, err)
		}
		if res.Status != process.Exited || res.OutputLimit {
			failed++
			continue
		}
		list[i].edges = slices.Clone(res.Edges)
	}
	if failed > 0 {
		fmt.Fprintf(d.Err(), "%s crashed or ran too long, and have no coverage\n", diag.Plural(int64(failed), "input"))
	}
	return nil
}

// favoured is a small part of a corpus that reaches everything that the whole corpus does. It
// greedily picks the input that adds most, the shortest of equals.
func favoured(list []input) []input {
	var out []input
	have := map[uint32]bool{}
	left := slices.Clone(list)
	for {
		best, most := 0, 0
		for i, x := range left {
			fresh := 0
			for _, e := range x.edges {
				if !have[e] {
					fresh++
				}
			}
			if fresh > most || fresh == most && len(x.data) < len(left[best].data) {
				best, most = i, fresh
			}
		}
		if most == 0 {
			return out
		}
		for _, e := range left[best].edges {
			have[e] = true
		}
		out = append(out, left[best])
		left = slices.Delete(left, best, best+1)
	}
}

// reached counts the edges and the edge/hit-count tuples of inputs.
func reached(list []input) (edges, tuples int) {
	all, places := map[uint32]bool{}, map[uint32]bool{}
	for _, x := range list {
		for _, e := range x.edges {
			all[e], places[e>>8] = true, true
		}
	}
	return len(places), len(all)
}

func minimizeCommand() campaign.Command {
	var to, spec string
	c := campaign.Command{
		Use:     "minimize FOLDER...",
		Summary: "Keep the few inputs that reach all that a corpus reaches",
		Example: `  thresh fuzzspec corpus minimize corpus --spec spec.json --to small`,
		Least:   1, Most: -1, Options: true,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			list, _, err := readCorpus(d, args, true)
			if err != nil {
				return err
			}
			if err := measure(ctx, d, spec, list); err != nil {
				return err
			}
			small := favoured(list)
			if err := writeCorpus(d, to, small, byContent); err != nil {
				return err
			}
			edges, tuples := reached(small)
			fmt.Fprintf(d.Out(), "%d of %s in %s: %d edges, %d edge/hit-count tuples\n", len(small), diag.Plural(int64(len(list)), "input"), to, edges, tuples)
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&to, "to", "", "write the inputs to `FOLDER`")
		fs.StringVar(&spec, "spec", "", "the document whose program reads them")
	}
	c.Required = []string{"to", "spec"}
	return c
}

func coverageCommand() campaign.Command {
	var spec string
	c := campaign.Command{
		Use:     "coverage FOLDER...",
		Summary: "Count the edges that a corpus reaches, input by input",
		Example: `  thresh fuzzspec corpus coverage corpus --spec spec.json`,
		Least:   1, Most: -1, Options: true,
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			list, _, err := readCorpus(d, args, true)
			if err != nil {
				return err
			}
			if err := measure(ctx, d, spec, list); err != nil {
				return err
			}
			have := map[uint32]bool{}
			for i, x := range list {
				edges, _ := reached(list[i : i+1])
				before := len(have)
				for _, e := range x.edges {
					have[e>>8] = true
				}
				fmt.Fprintf(d.Out(), "%6d edges, %6d new  %s\n", edges, len(have)-before, x.name)
			}
			edges, tuples := reached(list)
			fmt.Fprintf(d.Out(), "%6d edges, %d edge/hit-count tuples in all\n", edges, tuples)
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) { fs.StringVar(&spec, "spec", "", "the document whose program reads them") }
	c.Required = []string{"spec"}
	return c
}
