package fuzzspec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/process"
)

// settings are the options of the contract, decoded.
type settings struct {
	deep, guided bool
	round        int64 // cases of a guided round
	text         bool
	auto         bool   // the seed decides between deep and text
	chose        string // the decision, and its reason
	executor     process.Executor
	sandbox      bool
	twin, also   string // other builds of the program; "": none
	cmplog       string // the build that reports comparisons
	allowExec    []string
	okExit       []int
	okReports    bool   // with okExit codes, a runtime's report is not a failure either
	outputs      string // auto, require or ignore
	input        string // auto, file or stdin
	keep         string // failures, all or none
	redact       func([]byte) []byte
	timeout      float64 // seconds; 0: as in the document
	memory       int64   // bytes; 0: no limit
	together     bool    // memory was given: it limits all processes of a case together
	fileSize     int64   // bytes; 0: no limit
	written      int64   // total bytes; 0: no limit
	ownWritten   bool    // written was given
	campaignID   string
	self         campaign.Settings // to replace the name of this program in commands
	start, count int64
	seed         *int64
}

// decodeSettings reads the options and returns every fault in them.
func decodeSettings(set campaign.Settings) (settings, diag.List) {
	var list diag.List
	refuse := func(name, format string, args ...any) {
		list = append(list, diag.Diagnostic{Code: "fuzzspec.option", Path: "--" + name, Message: fmt.Sprintf(format, args...)})
	}
	s := settings{
		guided: set.Get(optGuided, "false") == "true", sandbox: set.Get(optSandbox, "false") == "true",
		executor: process.Executor(set.Get(optExecutor, "auto")), allowExec: set.Options[optAllowExec],
		okReports: set.Get(optOKReports, "false") == "true",
		outputs:   set.Get(optOutputs, "auto"), input: set.Get(optInput, "auto"), keep: set.Get(optKeep, "failures"),
		twin: set.Program(set.Get(optTwin, "")), also: set.Program(set.Get(optAlso, "")), cmplog: set.Program(set.Get(optCmplog, "")),
		campaignID: set.Get(OptCampaignID, ""), seed: set.Seed, self: campaign.Settings{Self: set.Self},
	}
	s.deep = s.guided || set.Get(optMutators, "reference") == "deep"
	s.text = set.Get(optMutators, "reference") == "text"
	if s.auto = set.Get(optMutators, "reference") == "auto"; s.auto {
		s.deep = true // until the seed is known
	}
	if got := set.Get(optMutators, "deep"); s.guided && got != "deep" && got != "auto" {
		refuse(optGuided, "needs --mutators deep, got %s", got)
	}
	if s.guided && s.executor != process.Auto && s.executor != process.AFL {
		refuse(optGuided, "needs --executor afl, got %s: only the program's own instrumentation shows what it reached", s.executor)
	}
	s.allowExec = set.Programs(s.allowExec)
	for _, p := range s.allowExec {
		if !strings.HasPrefix(p, "/") {
			refuse(optAllowExec, "must be an absolute path or %s, got %q", campaign.Self, p)
		}
	}
	if !s.deep {
		for _, name := range []string{optDict, optCorpus, optGrammar} {
			if set.Has(name) {
				refuse(name, "is used only by the deep mutators; add --mutators deep")
			}
		}
	}
	for _, codes := range set.Options[optOKExit] {
		for c := range strings.SplitSeq(codes, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(c))
			if err != nil || n < 0 || n > 255 {
				refuse(optOKExit, "must be exit codes from 0 to 255 with commas between, got %q", codes)
				break
			}
			if n != 0 && !slices.Contains(s.okExit, n) {
				s.okExit = append(s.okExit, n)
			}
		}
	}
	slices.Sort(s.okExit)
	if v := set.Get(optTimeout, ""); v != "" {
		t, err := strconv.ParseFloat(v, 64)
		if err != nil || !(t > 0) || t > maxTimeoutSeconds {
			refuse(optTimeout, "must be a number of seconds above 0 and at most %g, got %q", float64(maxTimeoutSeconds), v)
		}
		s.timeout = t
	}
	size := func(name, def string) int64 {
		n, err := campaign.ParseSize(set.Get(name, def))
		if err != nil {
			refuse(name, "%v", err)
		}
		return n
	}
	s.redact = set.Redact
	s.memory, s.fileSize = size(optMemory, "4GiB"), size(optFileSize, "64MiB")
	s.together = set.Get(optMemory, "") != ""
	s.written = 4 * min(s.fileSize, math.MaxInt64/4)
	if v := set.Get(optWritten, ""); v != "" {
		s.written = size(optWritten, v)
		s.ownWritten = true
	}
	integer := func(name string) int64 {
		v := set.Get(name, "0")
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 {
			refuse(name, "must be an integer of 0 or more, got %q", v)
		}
		return n
	}
	s.start, s.count = integer(OptStartIndex), integer(OptCount)
	if s.round = cmp.Or(integer(optRound), guidedRound); set.Has(optRound) && !s.guided {
		refuse(optRound, "is used only by guided campaigns; add --guided")
	}
	if s.cmplog != "" && !s.guided {
		refuse(optCmplog, "is used only by guided campaigns; add --guided")
	}
	if s.campaignID != "" {
		if err := CheckID("campaign id", s.campaignID); err != nil {
			list = append(list, diag.Diagnostic{Code: "fuzzspec.option", Message: err.Error()})
		}
	}
	return s, list
}

// maxTimeoutSeconds is roughly the longest time that a duration can hold.
const maxTimeoutSeconds = 9e9

// timeoutOf is the time limit of a case.
func (s *settings) timeoutOf(spec *Spec) time.Duration {
	if s.timeout > 0 {
		return max(time.Duration(s.timeout*float64(time.Second)), 1)
	}
	return spec.Timeout()
}

// fingerprint lists the options that decide cases or their outcomes.
func (s *settings) fingerprint() string {
	seed := "document"
	if s.seed != nil {
		seed = strconv.FormatInt(*s.seed, 10)
	}
	print := fmt.Sprintf("deep=%t guided=%t sandbox=%t ok-exit=%v outputs=%s input=%s timeout=%g memory=%d file=%d start=%d count=%d seed=%s",
		s.deep, s.guided, s.sandbox, s.okExit, s.outputs, s.input, s.timeout, s.memory, s.fileSize, s.start, s.count, seed)
	if s.text {
		print += " text"
	}
	if s.guided {
		print += fmt.Sprintf(" schedule=6 round=%d budget=%d×%d", s.round, budgetFactor, leastBudget)
	}
	if s.okReports {
		print += " ok-reports"
	}
	if s.ownWritten {
		print += fmt.Sprintf(" written=%d", s.written)
	}
	return print
}
