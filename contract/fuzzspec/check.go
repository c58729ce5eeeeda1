package fuzzspec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// CheckOptions configure the check of a document.
type CheckOptions struct {
	File      string   // the document's name in messages
	Strict    bool     // refuse reserved fields and values beyond the published schema
	AllowExec []string // absolute paths of programs that may run wherever they are
	Stdin     bool     // the input is delivered on standard input as well
	Self      string   // path of the running program, for {thresh}
	// ReadSeed reads the seed file; nil: the seed is not read, and its digest in the document is
	// reported as unchecked.
	ReadSeed func(path string) ([]byte, error)
}

// Check finds every error and doubtful spot in a document, in the order of its text. The spec is
// nil if there is an error.
func Check(text []byte, fsys FS, o CheckOptions) (*Spec, diag.List) {
	c := checker{walk: walk{fsys: fsys, file: o.File, allow: o.AllowExec, self: o.Self}, o: o}
	if o.File != "" {
		c.beside = filepath.Dir(o.File)
	}
	if c.parse(text) {
		c.document()
		c.Repeats(c.doc, "", func(doctree.Duplicate) diag.Level { return diag.Warning })
		if c.doc.Root.Kind == doctree.Map {
			c.reservedFields()
			c.schemaLimits()
			c.sanity()
		}
	}
	list := c.List
	list.Sort()
	for i := range list {
		list[i].Path, list[i].Message, list[i].Hint = printable(list[i].Path), printable(list[i].Message), printable(list[i].Hint)
	}
	if list.HasErrors() {
		return nil, list
	}
	return &c.spec, list
}

// checker adds the diagnostics that only Check makes to the shared walk.
type checker struct {
	walk
	o CheckOptions
}

func (c *checker) add(level diag.Level, at doctree.Pos, path, code, message, hint string) {
	c.List.Add(level, func() diag.Diagnostic {
		return c.located(at, diag.Diagnostic{Level: level, Code: code, Path: path, Message: message, Hint: hint})
	})
}

// doubt is a warning, and an error under --strict.
func (c *checker) doubt(at doctree.Pos, path, code, message, hint string) {
	level := diag.Warning
	if c.o.Strict {
		level = diag.Error
	}
	c.add(level, at, path, code, message, hint)
}

// node finds a value by its dotted path.
func (c *checker) node(path string) *doctree.Node {
	n := &c.doc.Root
	for key := range strings.SplitSeq(path, ".") {
		n = n.Get(key)
	}
	return n
}

func (c *checker) reservedFields() {
	for _, p := range c.reserved {
		fixed := "runs/<run_id>/" + strings.TrimSuffix(strings.TrimPrefix(p.path, "outputs."), "_dir")
		want := fmt.Sprintf("%q or omitted", fixed)
		switch p.path {
		case "execution.work_root_mode":
			want = modePerRun + " or omitted"
		case "outputs.out_dir", "outputs.eval_dir": // required
			want = fmt.Sprintf("%q", fixed)
		}
		c.doubt(p.node.Pos, p.path, codeReserved,
			fmt.Sprintf("is reserved and has no effect: must be %s, got %s", want, c.Describe(p.node)), "")
	}
}

// schemaLimits reports values that existing tools accept although the published JSON Schema rejects
// them.
func (c *checker) schemaLimits() {
	for _, f := range []struct {
		path string
		most int
	}{
		{"campaign_id", 128}, {"description", 4096}, {"target.agent_id", 128}, {"target.engine", 128}, {"seed.media_type", 256},
		{"outputs.input_dir", math.MaxInt}, {"outputs.out_dir", math.MaxInt}, {"outputs.eval_dir", math.MaxInt}, {"outputs.llmfuzz_dir", math.MaxInt},
	} {
		n := c.node(f.path)
		text, ok := n.Str()
		if !ok || text == "" && f.path == "target.agent_id" { // refused already
			continue
		}
		if length := len([]rune(text)); length == 0 || length > f.most {
			want := "non-empty"
			if f.most < math.MaxInt {
				want = fmt.Sprintf("1 to %d characters long", f.most)
			}
			c.doubt(n.Pos, f.path, codeSchemaLimit, fmt.Sprintf("must be %s, got %s (%s)", want, c.Describe(n), diag.Plural(length, "character")), "")
		} else if f.path == "campaign_id" && !isLabel(text) {
			c.doubt(n.Pos, f.path, codeSchemaLimit,
				"must consist of letters, digits, '.', '_' and '-', starting with a letter or digit, got "+c.Describe(n), "")
		}
	}
}

// isLabel reports whether s has the form that the schema requires of campaign_id.
func isLabel(s string) bool {
	for i, r := range s {
		alnum := '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return s != ""
}

// sanity reports what is allowed but can only go wrong, or has no effect.
func (c *checker) sanity() {
	if t := c.spec.Target.TimeoutS; t != nil && !(*t <= maxTimeout) { // also true of NaN
		n := c.node("target.timeout_s")
		c.add(diag.Error, n.Pos, "target.timeout_s", codeTimeout, c.timeoutMessage(n), "")
	}
	c.commandUse()
	size, known := c.seedContent()
	c.mutationUse(size, known)
}

// commandUse looks for unknown placeholders, and for a command that cannot find its input.
func (c *checker) commandUse() {
	n := c.node("target.command")
	if n == nil || len(n.Items()) == 0 || len(c.spec.Target.Command) != len(n.Items()) {
		return
	}
	findsInput := false
	for i := range n.Items() {
		item := &n.Items()[i]
		for _, name := range []string{"<input_path>", "<run_dir>", "LLMFUZZ_INPUT_PATH", "LLMFUZZ_RUN_DIR"} {
			findsInput = findsInput || strings.Contains(item.Text, name)
		}
		for _, token := range templateTokens(item.Text) {
			near := diag.DidYouMean(token, placeholders)
			switch {
			case near == "" && (strings.ContainsAny(item.Text, " \t\n") || !isLabel(token[1:len(token)-1])):
				// In a script or markup, <x> has its own meaning.
			case near == "" && strings.Contains(strings.Join(placeholders, ""), token):
			default:
				c.add(diag.Warning, item.Pos, fmt.Sprintf("target.command[%d]", i), codePlaceholder,
					fmt.Sprintf("must be one of %s, got %s, which is passed on as it is", strings.Join(placeholders, ", "), strconv.Quote(diag.Cut(token, 60))), near)
			}
		}
	}
	if !findsInput && !c.o.Stdin {
		c.add(diag.Warning, n.Pos, "target.command", codeInputUnused,
			"must contain <input_path>, got a command without it",
			"the program will see its input only if it reads the variable LLMFUZZ_INPUT_PATH or opens input/original.pdf")
	}
}

// seedContent checks the seed file itself and returns its size.
func (c *checker) seedContent() (size int64, known bool) {
	n, digest := c.node("seed.path"), c.node("seed.sha256")
	if n == nil || c.spec.Seed.Path == "" {
		return 0, false
	}
	info, err := c.fsys.Stat(c.spec.Seed.Path)
	if err != nil {
		return 0, false // reported by the walk
	}
	const path = "seed.path"
	if !info.Mode().IsRegular() && c.spec.Seed.Path != "/dev/null" {
		c.add(diag.Error, n.Pos, path, codeSeedKind, "must be a regular file, got "+c.Describe(n)+", which is "+fileKind(info.Mode()), "")
		return 0, false
	}
	if size = info.Size(); size == 0 {
		c.add(diag.Warning, n.Pos, path, codeSeedEmpty, "must be a file with content, got an empty one",
			"with no bytes to flip or cut, only append_bytes has an effect")
	}
	wanted := c.spec.Seed.SHA256
	if c.o.ReadSeed == nil {
		if wanted != nil && isDigest(*wanted) {
			c.add(diag.Warning, digest.Pos, "seed.sha256", codeDigestUnchecked, "must equal the digest of the seed file, which was not read", "")
		}
		return size, true
	}
	data, err := c.o.ReadSeed(c.spec.Seed.Path)
	if err != nil {
		c.add(diag.Error, n.Pos, path, codeSeedUnread, "must be a file that can be read, got "+c.Describe(n)+": "+cause(err), "")
		return size, true
	}
	if wanted != nil && isDigest(*wanted) {
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, *wanted) {
			hint := "the seed file has changed since the document was written, or is another one"
			if strings.Trim(*wanted, "0") == "" {
				hint = "zeros are a placeholder: write the digest, or omit the field"
			}
			c.add(diag.Error, digest.Pos, "seed.sha256", codeSeedDigest,
				fmt.Sprintf("must be %s, the digest of %s, got %s", got, c.spec.Seed.Path, *wanted), hint)
		}
	}
	return int64(len(data)), true
}

// fileKind names the kind of a file that is not regular.
func fileKind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

const (
	mostOps       = 1_000_000
	mostBytes     = 1 << 30
	manyBytes     = 16 << 20 // from here on, making a case takes seconds
	shrinkableMin = 256      // truncate_tail leaves shorter inputs alone
)

// mutationUse looks for numbers that no machine can handle, and for documents whose cases are all
// equal.
func (c *checker) mutationUse(seedSize int64, known bool) {
	m := &c.spec.Mutations
	if m.Cases != nil && !m.Cases.IsInt64() {
		n := c.node("mutations.cases")
		c.add(diag.Warning, n.Pos, "mutations.cases", codeCasesHuge,
			fmt.Sprintf("must be at most %d to run to its end, got %s", int64(math.MaxInt64), c.Describe(n)), "bound the run with --cases or --time")
	}
	if m.MaxOpsPerCase != nil && m.OpLimit() > mostOps {
		n := c.node("mutations.max_ops_per_case")
		c.add(diag.Error, n.Pos, "mutations.max_ops_per_case", codeTooManyOps,
			fmt.Sprintf("must be at most %d, got %s", mostOps, c.Describe(n)), "")
	}
	limit, limited := m.ByteLimit()
	if n := c.node("mutations.max_bytes"); limited && n != nil {
		switch {
		case limit > mostBytes && m.appends():
			c.add(diag.Error, n.Pos, "mutations.max_bytes", codeTooManyBytes,
				fmt.Sprintf("must be at most %d while append_bytes is used, got %s", mostBytes, c.Describe(n)), "inputs grow to random lengths up to max_bytes")
		case limit > manyBytes && m.appends():
			c.add(diag.Warning, n.Pos, "mutations.max_bytes", codeBytesHuge,
				fmt.Sprintf("must be at most %d, so that cases are made quickly, got %s", manyBytes, c.Describe(n)), "inputs grow to random lengths up to max_bytes")
		case known && limit < seedSize:
			c.add(diag.Warning, n.Pos, "mutations.max_bytes", codeSeedCut,
				fmt.Sprintf("must be at least %d, the size of the seed, got %s: every input is cut to it", seedSize, c.Describe(n)), "")
		}
	}
	list := c.node("mutations.strategies")
	sound := list == nil || len(list.Items()) == len(m.Strategies) // else reported by the walk
	if m.MaxOpsPerCase != nil && known && sound && m.Cases != nil && m.CaseCount() > 1 {
		if path, why := m.idle(seedSize); why != "" {
			n := c.node(path)
			c.add(diag.Warning, n.Pos, path, codeNoOp, "must leave something to mutate, got "+c.Describe(n)+": "+why, "every case is the same input")
		}
	}
}

// appends reports whether append_bytes is among the operations.
func (m *Mutations) appends() bool {
	return m.Strategies == nil || strings.Contains(strings.Join(m.Strategies, " "), "append_bytes")
}

// idle returns why no case differs from the seed, and the field responsible.
func (m *Mutations) idle(seedSize int64) (path, why string) {
	if m.MaxOpsPerCase.Sign() == 0 {
		return "mutations.max_ops_per_case", "0 operations"
	}
	if m.Strategies == nil {
		return "", ""
	}
	for _, op := range m.Strategies {
		switch {
		case op == "append_bytes":
			return "", ""
		case op == "truncate_tail" && seedSize > shrinkableMin:
			return "", ""
		case strings.HasPrefix(op, "flip_") && seedSize > 0:
			return "", ""
		}
	}
	return "mutations.strategies", "none of these operations applies to the seed"
}

// Codes of the diagnostics of [Check]. Tests and the reference take the rest, the level and why
// Check rejects what [Validate] accepts, from testdata/rules.json.
const (
	codeSyntax          = "fuzzspec.syntax"
	codeEncoding        = "fuzzspec.encoding"
	codeDepth           = "fuzzspec.too-deep"
	codeDigits          = "fuzzspec.too-many-digits"
	codeVersion         = "fuzzspec.schema-version"
	codeAbsolute        = "fuzzspec.absolute-path"
	codeExecutable      = "fuzzspec.executable"
	codeNotAllowed      = "fuzzspec.executable-not-allowed"
	codeRange           = "fuzzspec.range"
	codeRuntimeRoot     = "fuzzspec.under-runtime-root"
	codeSeedMissing     = "fuzzspec.seed-missing"
	codeUnreadable      = "fuzzspec.path-unreadable"
	codeDigestForm      = "fuzzspec.digest-form"
	codeSize            = "fuzzspec.too-large"
	codeEnv             = "fuzzspec.env-not-allowed"
	codeTemplate        = "fuzzspec.template"
	codeTimeout         = "fuzzspec.timeout"
	codeSeedKind        = "fuzzspec.seed-not-a-file"
	codeSeedDigest      = "fuzzspec.seed-digest"
	codeSeedUnread      = "fuzzspec.seed-unread"
	codeTooManyOps      = "fuzzspec.too-many-ops"
	codeTooManyBytes    = "fuzzspec.too-many-bytes"
	codeReserved        = "fuzzspec.reserved"
	codeSchemaLimit     = "fuzzspec.schema-limit"
	codeSeedEmpty       = "fuzzspec.seed-empty"
	codeSeedCut         = "fuzzspec.seed-truncated"
	codeDigestUnchecked = "fuzzspec.seed-digest-unchecked"
	codeCasesHuge       = "fuzzspec.cases-huge"
	codePlaceholder     = "fuzzspec.unknown-placeholder"
	codeInputUnused     = "fuzzspec.input-unused"
	codeBytesHuge       = "fuzzspec.bytes-huge"
	codeNoOp            = "fuzzspec.no-mutation"
)
