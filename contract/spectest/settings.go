package spectest

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// Environment variables known to users of the format.
const (
	envEntrypoint = "SPEC_RUNNER_ENTRYPOINT"
	envSafe       = "SPEC_RUNNER_SAFE_MODE"
	envAllow      = "SPEC_RUNNER_ENV_ALLOWLIST"
	envHealth     = "SPEC_RUNNER_ASSERT_HEALTH"
)

// bareShuffle is the value of --shuffle given without one.
const bareShuffle = "default"

// Names of the options.
const (
	optFilter    = "filter"
	optShard     = "shard"
	optShuffle   = "shuffle"
	optRetries   = "retries"
	optRecursive = "recursive"
	optPattern   = "case-file-pattern"
	optFormats   = "case-formats"
	optHealth    = "assert-health"
	optSafe      = "safe-mode"
	optAllow     = "env-allowlist"
	optAlias     = "alias"
	optPython    = "python"
	optRoot      = "contract-root"
	optTimeout   = "cli-timeout"
	optWritten   = "write-limit"
	optRedact    = "redact"
	optLink      = "link"
	optSystem    = "system"
	optVar       = "var"
	optVarFile   = "var-file"

	// OptExpect judges cases by their expect metadata: an expected result passes. The conformance
	// command sets it.
	OptExpect = "against-expect"
)

// Options implements [campaign.Contract].
func (*Contract) Options() []campaign.Option {
	return []campaign.Option{
		{Name: optFilter, Many: true, Usage: "run only cases that match `WHAT`: a regular expression for id or title, or id=, type=, tag= or title= before one; given twice, both must match"},
		{Name: optShard, Usage: "run part I of N of the cases, `I/N` with I from 1; documents of other formats are distributed whole"},
		{Name: optShuffle, Bare: bareShuffle, Usage: "run the cases of a document in another order, by `SEED` (default: that of --seed, or 0)"},
		{Name: optRetries, Default: "0", Usage: "run a failing case up to `N` times more; one that passes then is reported as flaky, not as passed"},
		{Name: optRecursive, Short: "r", Bool: true, Usage: "search subfolders for documents too"},
		{Name: optPattern, Default: DefaultPattern, Usage: "file names of Markdown documents in a folder, `PATTERN`"},
		{Name: optFormats, Default: "md", Usage: "formats of documents in a folder, `LIST` of md, yaml and json"},
		{Name: optHealth, Usage: "what to do about unhealthy assertions: ignore, warn or error (default: SPEC_RUNNER_ASSERT_HEALTH, or ignore)"},
		{Name: optSafe, Bool: true, Usage: "no hooks, and no entrypoint but the case's own (also by SPEC_RUNNER_SAFE_MODE=1)"},
		{Name: optAllow, Usage: "environment variables that commands see, `NAMES` separated by commas (default: SPEC_RUNNER_ENV_ALLOWLIST, or all)"},
		{Name: optAlias, Many: true, Usage: "run a command line in place of an entrypoint, `ENTRYPOINT=COMMAND`"},
		{Name: optPython, Usage: "`PATH` of the python3 that runs module:function (default: THRESH_PYTHON, or python3)"},
		{Name: optRoot, Path: true, Usage: "`FOLDER` that paths in documents must not leave (default: the nearest above the document with .git, or the document's own)"},
		{Name: optTimeout, Default: "60", Usage: "`SECONDS` that a command may take"},
		{Name: optWritten, Default: "512MiB", Usage: "limit of the files that a case writes, all together, such as 1GiB; 0: none"},
		{Name: optRedact, Many: true, Usage: "in transcripts, <NAME> matches the regular expression, `NAME=REGEX`"},
		{Name: optLink, Many: true, Path: true, Usage: "`PATH` to link into the folder of transcripts"},
		{Name: optSystem, Path: true, Usage: "the system `FILE` for cases of type system.call, instead of harness.system"},
		{Name: optVar, Many: true, Usage: "value of ${NAME} in cases, `NAME=VALUE`; NAME alone reads the environment and keeps the value out of reports"},
		{Name: optVarFile, Many: true, Path: true, Usage: "`FILE` of such values: a mapping in YAML or JSON, or lines of NAME=VALUE"},
		{Name: OptExpect, Bool: true, Usage: "judge cases by their expect metadata, as thresh spectest conformance does"},
	}
}

// settings decide how documents are decoded and run.
type settings struct {
	filters     []filter
	shard, of   uint32 // of 0: no sharding
	shuffle     bool
	seed        int64
	retries     int
	health      string
	safe        bool
	allow       []string // nil: all variables
	aliases     map[string][]string
	python      string
	program     campaign.Settings // to replace the name of this program in commands
	strict      bool
	root        string
	entrypoint  string
	timeout     time.Duration
	maxWritten  int64  // total bytes of files that a case may write; 0: no limit
	writtenText string // as given by the user
	expect      bool
	checking    bool
	redact      redactions
	link        []string // absolute
	vars        variables
	hidden      *secret.Redactor // removes secrets from stored output; nil: there are none
	source      bool             // keep operands beside their compiled form
	shared      *programs
}

// programs caches compiled predicates of plain texts: documents repeat them from case to case, and
// folders from document to document. They contain no position, so cases can share them.
type programs struct {
	mu   sync.Mutex
	list map[[2]string]*speclang.Program // by operator and operand
}

// sharedPrograms limits the number of shared predicates, and maxShared the length of the operand of
// one.
const (
	sharedPrograms = 4096
	maxShared      = 200
)

func (p *programs) get(op, operand string) *speclang.Program {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[[2]string{op, operand}]
}

func (p *programs) add(op, operand string, prog *speclang.Program) {
	if len(operand) > maxShared {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.list == nil {
		p.list = make(map[[2]string]*speclang.Program)
	}
	if len(p.list) < sharedPrograms {
		p.list[[2]string{op, strings.Clone(operand)}] = prog
	}
}

// filter selects cases by one of their properties.
type filter struct {
	property string // "id", "type", "tag", "title"; "" is id or title
	pattern  *match.Pattern
}

// settings returns the settings from options and environment. All documents of a run use the same.
func (k *Contract) settings(set campaign.Settings) (*settings, diag.List) {
	from := settingsFrom{options: fmt.Sprintf("%q", set.Options), health: k.getenv(envHealth), safe: k.getenv(envSafe), allow: k.getenv(envAllow), entry: k.getenv(envEntrypoint), check: set.Check}
	if set.Seed != nil {
		from.seed, from.seeded = *set.Seed, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set != nil && k.from == from && !set.Has(optVar) && !set.Has(optVarFile) {
		return k.set, nil
	}
	s, list := decodeSettings(set, k.getenv)
	s.shared = &k.shared
	if len(list) == 0 {
		k.set, k.from = s, from
	}
	return s, list
}

// settingsFrom is the input of decoding settings.
type settingsFrom struct {
	options                    string
	seed                       int64
	seeded, check              bool
	health, safe, allow, entry string
}

// decodeSettings reads options and environment. Its faults concern the command line, so they have
// no place in a document.
func decodeSettings(set campaign.Settings, getenv func(string) string) (*settings, diag.List) {
	s := &settings{shared: &programs{}, health: healthIgnore, timeout: DefaultTimeout, checking: set.Check, program: campaign.Settings{Self: set.Self}, strict: set.Strict, expect: set.Has(OptExpect)}
	var list diag.List
	wrong := func(option, format string, args ...any) {
		list = append(list, diag.Diagnostic{Code: "spectest.option", Path: "--" + option, Message: fmt.Sprintf(format, args...)})
	}
	for _, f := range set.Options[optFilter] {
		x, err := parseFilter(f)
		if err != nil {
			wrong(optFilter, "%v", err)
			continue
		}
		s.filters = append(s.filters, x)
	}
	if v := set.Get(optShard, ""); v != "" {
		i, n, ok := strings.Cut(v, "/")
		a, aerr := strconv.ParseUint(i, 10, 31)
		b, berr := strconv.ParseUint(n, 10, 31)
		if !ok || aerr != nil || berr != nil || a < 1 || a > b {
			wrong(optShard, "must be I/N with 1 <= I <= N, such as 2/5, not %q", v)
		}
		s.shard, s.of = uint32(a), uint32(b)
	}
	if set.Has(optShuffle) {
		s.shuffle = true
		if set.Seed != nil {
			s.seed = *set.Seed
		}
		if v := set.Get(optShuffle, ""); v != bareShuffle {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				wrong(optShuffle, "the seed must be an integer, not %q", v)
			}
			s.seed = n
		}
	}
	if v := set.Get(optRetries, ""); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 1000 {
			wrong(optRetries, "must be a number from 0 to 1000, not %q", v)
		}
		s.retries = n
	}
	if v := set.Get(optTimeout, ""); v != "" {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0) || n > 1e6 {
			wrong(optTimeout, "must be a number of seconds above 0, not %q", v)
		} else {
			s.timeout = time.Duration(n * float64(time.Second))
		}
	}
	s.writtenText = set.Get(optWritten, "512MiB")
	size, err := campaign.ParseSize(s.writtenText)
	if err != nil {
		wrong(optWritten, "%v", err)
	}
	s.maxWritten = size
	if v := strings.ToLower(strings.TrimSpace(getenv(envHealth))); v != "" {
		s.health = v // an unknown mode is a fault of every case without its own mode
	}
	if v := set.Get(optHealth, ""); v != "" {
		if s.health = v; !slices.Contains(healthModes(), v) {
			wrong(optHealth, "must be one of %s, not %q", oneOf(healthModes()), v)
		}
	}
	s.safe = set.Get(optSafe, "") == "true" || slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(getenv(envSafe))))
	if v := set.Get(optAllow, getenv(envAllow)); strings.TrimSpace(v) != "" {
		s.allow = []string{}
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" {
				s.allow = append(s.allow, name)
			}
		}
	}
	for _, v := range set.Options[optAlias] {
		name, command, ok := strings.Cut(v, "=")
		argv, why := splitCommand(command)
		if !ok || strings.TrimSpace(name) == "" {
			wrong(optAlias, "must be ENTRYPOINT=COMMAND, not %q", v)
			continue
		}
		if why != "" {
			wrong(optAlias, "%q: %s", v, why)
			continue
		}
		if s.aliases == nil {
			s.aliases = make(map[string][]string)
		}
		s.aliases[strings.TrimSpace(name)] = argv
	}
	for _, v := range set.Options[optRedact] {
		name, expr, ok := strings.Cut(v, "=")
		if !ok {
			wrong(optRedact, "must be NAME=REGEX, not %q", v)
		} else if err := s.redact.add(name, expr); err != nil {
			wrong(optRedact, "%v", err)
		}
	}
	for _, v := range set.Options[optLink] {
		path, err := filepath.Abs(v)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			wrong(optLink, "%s: %s", v, diag.Reason(err))
		}
		s.link = append(s.link, path)
	}
	vars, option, err := readVariables(set, getenv)
	if err != nil {
		wrong(option, "%v", err)
	}
	s.vars = vars
	s.hidden = s.vars.redactor(false)
	s.python, s.root = set.Get(optPython, ""), set.Get(optRoot, "")
	if s.root != "" {
		if info, err := os.Stat(s.root); err != nil {
			wrong(optRoot, "%s: %s", s.root, diag.Reason(err))
		} else if !info.IsDir() {
			wrong(optRoot, "%s: not a folder", s.root)
		}
	}
	s.entrypoint = getenv(envEntrypoint)
	if _, err := Formats(set.Get(optFormats, "md")); err != nil {
		wrong(optFormats, "%v", err)
	}
	return s, list
}

// filterProperty matches the name of the property to filter by.
var filterProperty = lazy.Pattern(`^([A-Za-z_-]+)=`)

func parseFilter(text string) (filter, error) {
	var f filter
	expr := text
	if m := filterProperty().FindStringSubmatch(text); m != nil {
		known := []string{"id", "type", "tag", "title"}
		if f.property, expr = m[1], text[len(m[0]):]; !slices.Contains(known, f.property) {
			hint := diag.DidYouMean(f.property, known)
			if hint == "" {
				hint = "known are " + oneOf(known)
			}
			return f, fmt.Errorf("cases have no %s to filter by (%s); for a pattern with an equals sign, name what it is for, as in title=%s", f.property, hint, text)
		}
	}
	p, err := match.Compile(expr, match.Options{})
	if err != nil {
		return f, fmt.Errorf("%q is not a regular expression: %w", expr, err)
	}
	f.pattern = p
	return f, nil
}

// accepts reports whether the filter selects a case. A search that takes too long does not match.
func (f filter) accepts(c *Case) bool {
	var texts []string
	switch f.property {
	case "id":
		texts = []string{c.ID}
	case "type":
		texts = []string{c.Type}
	case "tag":
		texts = c.Tags
	case "title":
		texts = []string{c.Title}
	default:
		texts = []string{c.ID, c.Title}
	}
	return slices.ContainsFunc(texts, func(t string) bool {
		ok, err := f.pattern.Search(t)
		return ok && err == nil
	})
}

// matches reports whether all filters select a case.
func (s *settings) matches(c *Case) bool {
	return !slices.ContainsFunc(s.filters, func(f filter) bool { return !f.accepts(c) })
}

// inShard reports whether a case belongs to this shard. The cases of a document are assigned to
// shards in turn; the document's name decides which shard comes first, so that documents of one
// case each are spread as well.
func (s *settings) inShard(document string, index int) bool {
	if s.of == 0 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(document))
	return (uint64(h.Sum32())+uint64(index))%uint64(s.of) == uint64(s.shard-1)
}
