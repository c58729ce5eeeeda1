package fuzzspec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// Campaign is a compiled document. A case is a mutation of the seed, or, as a
// payload, the bytes of an input themselves.
type Campaign struct {
	id     campaign.Identity
	spec   *Spec
	doc    campaign.Spec
	seed   []byte
	exe    Executable
	set    settings
	open   process.Opener
	start  int64 // case index, in the document's terms, of case 0
	count  int64
	deep   *deepInput
	maker  maker
	stored bool
	system *sut.Plan // called in place of the program; nil: the program
}

// state is what a campaign knows between rounds. It is never changed once a
// round has been made from it.
type state struct {
	facts  facts
	corpus [][]byte        // what cases are made from
	seen   map[uint32]bool // tuples of edge and count bucket, for guided campaigns
	done   int64
	failed int64
}

// facts is what the seed itself gave when the program was tried.
type facts struct {
	Outputs   bool `json:"outputs"`   // it writes JSON outputs
	Leftovers bool `json:"leftovers"` // it leaves processes running
}

// guidedRound is the number of cases between two looks at what was reached:
// small enough to follow a find soon, large enough for several workers. It never
// depends on their number, or equal runs would differ.
const guidedRound = 64

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// Planned implements [campaign.Planner].
func (c *Campaign) Planned() int64 { return c.count }

// Probe runs the unmodified seed, the usual way, to learn what the program does
// when nothing is wrong with its input.
func (c *Campaign) Probe(ctx context.Context) (campaign.Facts, error) {
	var f campaign.Facts
	r, err := c.open(ctx, c.plan(), 0, 1, true)
	if err != nil {
		return f, err
	}
	defer r.Close()
	res, err := r.Run(ctx, process.Case{Index: -1, RunID: c.probeID(), Input: c.seed, Confirm: true})
	if err != nil {
		return f, err
	}
	found := facts{Outputs: res.Dir != "" && hasOutputs(res.Dir), Leftovers: res.Leftovers > 0}
	o, err := c.judge(&state{facts: found}, &res, c.probeID(), looking(ctx, r, process.Case{Index: -1, RunID: c.probeID(), Input: c.seed}))
	if err != nil {
		return f, err
	}
	if o.Verdict == campaign.VerdictFail {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: the unmodified seed already fails: %s", c.id.Name, o.Title))
	}
	if name := lacking(res.Stderr); name != "" && (o.Verdict == campaign.VerdictFail || res.ExitCode != 0) && c.system == nil {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: the program names %s, and a FuzzSpec's environment does not have it: "+
			`begin target.command with "env", "%[2]s=...", such as "env", "HOME=<run_dir>"`, c.id.Name, name))
	}
	if found.Leftovers {
		f.Warnings = append(f.Warnings, c.id.Name+": the program leaves processes running for its unmodified seed, so that is no failure; they are killed after every case")
	}
	f.Data, err = json.Marshal(found)
	return f, err
}

func (c *Campaign) probeID() string { return c.set.campaignID + "_seed" }

// Start implements [campaign.Campaign].
func (c *Campaign) Start(f campaign.Facts) *state {
	s := &state{corpus: [][]byte{c.seed}, seen: make(map[uint32]bool)}
	// What is not JSON was not written by Probe; the zero facts hold then.
	_ = json.Unmarshal(f.Data, &s.facts)
	if c.deep != nil {
		s.corpus = append(s.corpus, c.deep.corpus...)
	}
	return s
}

// Round implements [campaign.Campaign]: all cases at once, or, guided, as many
// as may pass before new finds are built on.
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	left := c.count - s.done
	if c.set.guided {
		left = min(left, guidedRound)
	}
	return campaign.Round{Len: left}, left > 0
}

// Fold implements [campaign.Campaign]: inputs that reached something new join
// the corpus, in case order.
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := &state{facts: s.facts, corpus: s.corpus, seen: s.seen, done: s.done, failed: s.failed}
	copied := false
	for at, o := range results {
		next.done++
		if o.Verdict == campaign.VerdictFail {
			next.failed++
		}
		if !c.set.guided {
			continue
		}
		if o.Verdict != campaign.VerdictPass {
			continue // its data says how it ended
		}
		fresh := false
		for _, e := range decodeEdges(o.Data) {
			if next.seen[e] {
				continue
			}
			if !copied { // most rounds find nothing
				next.seen, copied = maps.Clone(s.seen), true
			}
			next.seen[e], fresh = true, true
		}
		if fresh {
			next.corpus = append(slices.Clip(next.corpus), c.input(s, at))
		}
	}
	return next
}

// Summarize implements [campaign.Summarizer].
func (c *Campaign) Summarize(s *state) []campaign.Exhibit {
	if !c.set.guided {
		return nil
	}
	var rows [][]string
	for _, f := range c.Figures(s) {
		rows = append(rows, []string{f.Name, fmt.Sprint(f.Value)})
	}
	return []campaign.Exhibit{campaign.TableExhibit("Coverage", []string{"what", "count"}, rows)}
}

// Figures implements [campaign.Figurer]. An edge is what afl-showmap -C counts;
// a tuple is an edge with the class of how often one case took it, which is what
// makes an input new.
func (c *Campaign) Figures(s *state) []campaign.Figure {
	if !c.set.guided {
		return nil
	}
	edges := make(map[uint32]bool)
	for e := range s.seen {
		edges[e>>8] = true
	}
	return []campaign.Figure{
		{Name: "edges", Value: int64(len(edges))}, {Name: "edge/hit-count tuples", Value: int64(len(s.seen))},
		{Name: "inputs in the corpus", Value: int64(len(s.corpus))},
	}
}

// Input implements [campaign.Inputter].
func (c *Campaign) Input(_ context.Context, s *state, at campaign.Case) []byte {
	return c.input(s, at)
}

func (c *Campaign) input(s *state, at campaign.Case) []byte {
	if at.Payload != nil {
		return at.Payload
	}
	in := slices.Clone(c.maker.lane().input(s.corpus, c.start+at.Index))
	if in == nil {
		in = []byte{}
	}
	return in
}

// plan is how the program is run.
func (c *Campaign) plan() process.Plan {
	named := false
	perCase := false
	for _, a := range c.spec.Target.Command {
		named = named || strings.Contains(a, "<input_path>")
		perCase = perCase || strings.Contains(a, "<run_id>")
	}
	return process.Plan{
		Command: func(p process.Paths) process.Command {
			env := c.spec.Environment(p)
			list := make([]string, 0, len(env))
			for k, v := range env {
				list = append(list, k+"="+v)
			}
			slices.Sort(list)
			argv := c.set.self.Programs(Expand(c.spec.Target.Command, p))
			if !strings.ContainsAny(c.spec.Target.Command[0], `/\`) {
				argv[0] = c.exe.Path
			}
			return process.Command{Path: c.exe.Path, Argv: argv, Env: list}
		},
		PerCase: perCase, Input: "input/" + c.inputName(), OutDir: "out", Dirs: []string{"exec", "llmfuzz", "eval"},
		Stdin:    c.set.input == "stdin" || c.set.input == "auto" && !named,
		Timeout:  c.set.timeoutOf(c.spec),
		Limits:   process.Limits{AddressSpace: c.memory(), FileSize: c.set.fileSize, Written: c.written(), Output: keptOutput, Processes: 512},
		Executor: c.set.executor, Sandbox: c.set.sandbox, Coverage: c.set.guided, Calibrate: c.seed,
	}
}

// keptOutput is how much of each output stream of a case is looked at.
const keptOutput = 1 << 20

// memory is the address space of a case: room for a large seed on top of the limit.
func (c *Campaign) memory() int64 {
	if c.set.memory == 0 {
		return 0
	}
	return c.set.memory + 4*int64(len(c.seed))
}

// written is what a case may write in all: its input, which was laid there,
// comes on top of the limit.
func (c *Campaign) written() int64 {
	if c.set.written == 0 {
		return 0
	}
	return c.set.written + 4*int64(len(c.seed))
}

// extensions of the media types that fuzzed programs commonly read.
var extensions = map[string]string{
	"application/pdf": ".pdf", "application/json": ".json", "application/xml": ".xml", "text/xml": ".xml", "text/html": ".html",
	"text/plain": ".txt", "text/csv": ".csv", "text/markdown": ".md", "text/css": ".css", "text/javascript": ".js",
	"application/javascript": ".js", "application/yaml": ".yaml", "application/toml": ".toml",
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg", "image/tiff": ".tiff",
	"image/bmp": ".bmp", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
	"video/mp4": ".mp4", "video/webm": ".webm", "font/ttf": ".ttf", "font/otf": ".otf", "font/woff2": ".woff2",
	"application/zip": ".zip", "application/gzip": ".gz", "application/x-tar": ".tar", "application/x-bzip2": ".bz2",
	"application/x-xz": ".xz", "application/zstd": ".zst", "application/wasm": ".wasm", "application/octet-stream": ".bin",
}

// inputName is the file name of a case's input. Programs go by the extension,
// so it is that of the media type, else that of the seed.
func (c *Campaign) inputName() string {
	ext := ""
	if m := c.spec.Seed.MediaType; m != nil {
		name, _, _ := strings.Cut(*m, ";")
		ext = extensions[strings.ToLower(strings.TrimSpace(name))]
	}
	if ext == "" {
		if ext = path.Ext(c.spec.Seed.Path); len(ext) > 16 || strings.ContainsAny(ext, " \t\r\n") {
			ext = ""
		}
	}
	if ext == "" {
		ext = ".pdf" // the name that existing tools give every input
	}
	return "original" + ext
}

// mismatch turns what a runner says into what a campaign says.
func mismatch(err error) error {
	var m *process.MismatchError
	if errors.As(err, &m) {
		return &campaign.RedoError{Reason: m.Error()}
	}
	return &campaign.TransientError{Err: err} // a program may be run twice
}
