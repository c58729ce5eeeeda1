package fuzzspec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/shrink"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// Campaign is a compiled document. A case is a mutation of the seed or, if it has a payload, the
// payload itself.
type Campaign struct {
	id     campaign.Identity
	spec   *Spec
	doc    campaign.Spec
	seed   []byte
	exe    Executable
	set    settings
	open   process.Opener
	start  int64 // case index in the document's numbering of case 0
	count  int64
	deep   *deepInput
	maker  maker
	system *sut.Plan // called instead of the program; nil: the program
}

// state is what a campaign knows between rounds. It does not change after a round has been made
// from it.
type state struct {
	facts  facts
	corpus [][]byte // inputs that cases are made from
	done   int64
	failed int64
	guided
}

// facts is what the probe of the seed showed.
type facts struct {
	Outputs   bool `json:"outputs"`   // it writes JSON outputs
	Leftovers bool `json:"leftovers"` // it leaves processes running
	// Words are tokens found in the program of a guided campaign.
	Words [][]byte `json:"words,omitempty"`
	// Budget is the number of edges that a case of a guided campaign may take; 0: the program does not
	// count edges.
	Budget uint64 `json:"budget,omitempty"`
	// Kept: the program runs many cases in one process.
	Kept bool `json:"kept,omitempty"`
	// Listens: the comparisons of the program can be read, either although it does not count edges, or
	// through --cmplog.
	Listens bool `json:"listens,omitempty"`
	// Compared holds the comparisons that the program makes on each seed, in order.
	Compared [][]byte `json:"compared,omitempty"`
}

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// Planned returns the number of planned cases.
func (c *Campaign) Planned() int64 { return c.count }

// Probe runs the unmodified seed in the usual way, to learn what the program does with valid input.
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
	found := facts{Outputs: res.Dir != "" && hasOutputs(res.Dir), Leftovers: res.Leftovers > 0 && res.Status == process.Exited}
	o, err := c.judge(&state{facts: found}, &res, c.seed, c.probeID(), stackReader(ctx, r, process.Case{Index: -1, RunID: c.probeID(), Input: c.seed}))
	if err != nil {
		return f, err
	}
	if o.Verdict == campaign.VerdictFail {
		found.Leftovers = found.Leftovers && o.Kind != kindCrash // a sanitizer's symbolizer may remain for a moment
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: the unmodified seed already fails: %s", c.id.Name,
			steady(crash.Restore(o.Title, res.Stderr, res.Stdout))))
	}
	if o.Verdict == campaign.VerdictFail && c.memory() > 0 && shadowRefused().Match(res.Stderr) {
		f.Warnings = append(f.Warnings, c.id.Name+": a sanitizer cannot reserve its memory under the limit on address space: give --memory-limit 0")
	}
	if name := missingVariable(res.Stderr); name != "" && (o.Verdict == campaign.VerdictFail || res.ExitCode != 0) && c.system == nil {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: the program names %s, and a FuzzSpec's environment does not have it: "+
			`begin target.command with "env", "%[2]s=...", such as "env", "HOME=<run_dir>"`, c.id.Name, name))
	}
	if found.Leftovers {
		f.Warnings = append(f.Warnings, c.id.Name+": the program leaves processes running for its unmodified seed, so that is not a failure; they are killed after every case")
	}
	if c.set.guided {
		if g, ok := r.(process.Glossary); ok {
			found.Words = g.Words()
		}
		if err := c.measure(ctx, &found); err != nil {
			return f, err
		}
		if c.set.cmplog != "" && !found.Listens {
			f.Warnings = append(f.Warnings, fmt.Sprintf("%s: %s compares nothing with the seed: build it with AFL_LLVM_CMPLOG=1 afl-clang-fast", c.id.Name, path.Base(c.set.cmplog)))
		}
	}
	f.Data, err = json.Marshal(found)
	return f, err
}

func (c *Campaign) probeID() string { return c.set.campaignID + "_seed" }

// Start implements [campaign.Campaign].
func (c *Campaign) Start(f campaign.Facts) *state {
	s := &state{corpus: [][]byte{c.seed}, guided: guided{seen: make(map[uint32]reach)}}
	// Facts that are not JSON do not come from Probe; the zero facts apply then.
	_ = json.Unmarshal(f.Data, &s.facts)
	if c.deep != nil {
		s.corpus = append(s.corpus, c.deep.corpus...)
	}
	s.entries, s.shares = make([]entry, len(s.corpus)), make([]share, len(s.corpus))
	s.words = s.facts.Words
	for i, compared := range s.facts.Compared[:min(len(s.facts.Compared), len(s.corpus))] {
		s.learn(i, compared)
	}
	return s
}

// Input implements [campaign.Inputter].
func (c *Campaign) Input(_ context.Context, s *state, at campaign.Case) []byte {
	return c.input(s, at)
}

func (c *Campaign) input(s *state, at campaign.Case) []byte {
	if at.Payload != nil {
		return at.Payload
	}
	in := slices.Clone(c.maker.lane().input(c.pool(s), c.start+at.Index))
	if in == nil {
		in = []byte{}
	}
	return in
}

// plan describes how to run the program.
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
		Limits:   process.Limits{AddressSpace: c.memory(), Together: c.set.together, FileSize: c.set.fileSize, Written: c.written(), Output: keptOutput, Processes: 512},
		Executor: c.set.executor, Sandbox: c.set.sandbox, Coverage: c.set.guided, Listen: c.set.cmplog, Calibrate: c.seed,
	}
}

// keptOutput is the number of bytes examined of each output stream of a case.
const keptOutput = 1 << 20

// memory is the address space of a case: the limit plus room for a large seed.
func (c *Campaign) memory() int64 {
	if c.set.memory == 0 {
		return 0
	}
	return c.set.memory + 4*int64(len(c.seed))
}

// written is the total that a case may write: the limit plus its input, which lies in the folder.
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

// inputName is the file name of a case's input. Programs go by the extension, so it is that of the
// media type, or else of the seed.
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
		ext = ".pdf" // existing tools give every input this name
	}
	return "original" + ext
}

// mismatch translates an error of a runner to an error of a campaign.
func mismatch(err error) error {
	if m, ok := errors.AsType[*process.MismatchError](err); ok {
		return &campaign.RedoError{Reason: m.Error()}
	}
	return &campaign.TransientError{Err: err} // a program may be run twice
}

// Reduce implements [campaign.Reducer].
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) ([]byte, string) {
	small, _ := shrink.Bytes(ctx, payload, test)
	if len(small) > 1<<20 {
		return small, "" // see [shrink.Bytes]
	}
	return small, "byte"
}

// Promote implements [campaign.Promoter]: the document's seed is the reproducer, and its one case
// leaves the seed unchanged.
func (c *Campaign) Promote(_ context.Context, f campaign.Finding, payloads [][]byte, _ string) ([]campaign.File, error) {
	promoted := *c.spec
	promoted.CampaignID = f.ID
	about := f.About("Its one case is the reproducer as it is.")
	promoted.Description = &about
	seed := "reproducer" + path.Ext(c.inputName())
	sum := digest(payloads[0])
	promoted.Seed.Path, promoted.Seed.SHA256 = "./"+seed, &sum
	promoted.Target.WorkRootBase = "./work"
	promoted.Mutations = Mutations{Cases: big.NewInt(1), MaxOpsPerCase: big.NewInt(0)}
	return []campaign.File{
		{Name: "fuzzspec.json", Data: promoted.Snapshot()},
		{Name: seed, Data: payloads[0]},
	}, nil
}
