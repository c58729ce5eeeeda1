package cli

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
)

// runFlags are the settings that mean the same for every contract.
type runFlags struct {
	workers     int
	seed        string
	time        time.Duration
	cases       int64
	failFast    bool
	maxErrors   string
	errorLimit  *app.ErrorLimit // parsed maxErrors
	store       string
	reports     []string
	baseline    string
	base        *app.Baseline // the run or report that baseline names
	failOn      string
	strict      bool
	resume      string
	reruns      int
	shrink      int
	caseTimeout time.Duration
	allowEmpty  bool
	quiet       bool
	ui          bool
	merged      *app.Merged // the runs that the record was merged from; nil: it is a single run
	pagesOver   func()      // ends the run's pages, if they are served
	fleet       fleetFlags
	// workersGiven reports whether the number of workers was given.
	workersGiven func() bool
	options      optionFlags
	screen       func(io.Writer, campaign.Record) error // what standard output shows of the run; nil: the text report
	stop         func(*campaign.Outcome) bool           // when to end early; nil: as failFast says
	stopFrom     int64                                  // first case that stop is called with
}

func (f *runFlags) register(c *cobra.Command, contracts []campaign.Contract) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.IntVarP(&f.workers, "workers", "j", runtime.NumCPU(), "cases run in parallel (with --fleet: leases, 64); does not change the result")
	f.workersGiven = func() bool { return fs.Changed("workers") }
	fs.StringVar(&f.seed, "seed", "", "use this integer in place of the document's seed")
	fs.Int64Var(&f.cases, "cases", 0, "run at most this many cases of each campaign (0: all)")
	fs.DurationVar(&f.time, "time", 0, "end the run after this long, confirming and shrinking included (0: no limit)")
	fs.BoolVar(&f.failFast, "fail-fast", false, "stop at the first failing case, in case order")
	fs.StringVar(&f.maxErrors, "max-errors", "", "end the run once more than `N|P%` of its cases have no result (default: no limit)")
	fs.BoolVar(&f.strict, "strict", false, "treat warnings about documents as errors")
	fs.StringVar(&f.resume, "resume", "", "continue a stored `RUN` (\"latest\" for the newest)")
	fs.IntVar(&f.reruns, "reruns", app.DefaultReruns, "times to run a finding again before reporting it")
	fs.IntVar(&f.shrink, "shrink", app.DefaultShrink, "executions for shrinking each finding (0: none)")
	fs.DurationVar(&f.caseTimeout, "case-timeout", app.DefaultCaseTimeout, "a case without a result after this long is an error")
	fs.BoolVar(&f.allowEmpty, "allow-empty", false, "accept campaigns that run no case")
	f.registerReports(c)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	fs.BoolVar(&f.ui, "ui", false, "show the run in a browser; on a terminal, keep serving until interrupted")
	registerStore(c, &f.store)
	f.fleet.register(c)
	f.options.register(fs, contracts)
}

// registerReports adds the flags for reports.
func (f *runFlags) registerReports(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.reports, "report", nil, "write a report, `FORMAT=FILE` (text, json, junit, sarif, tap, jsonl, html, markdown, github, codequality, ctrf, hits, attempts; FILE - is standard output); repeatable")
	c.Flags().Var((*jsonLines)(f), "json", "print JSON lines for cases, findings and the run: --report jsonl=- --quiet")
	c.Flags().Lookup("json").NoOptDefVal = "true"
	_ = c.RegisterFlagCompletionFunc("report", completeReport)
}

// jsonLines is the value of the flag --json.
type jsonLines runFlags

// String implements pflag.Value.
func (f *jsonLines) String() string { return "false" }

// Set makes the run write JSON lines to standard output.
func (f *jsonLines) Set(v string) error {
	on, err := strconv.ParseBool(v)
	if on {
		f.reports, f.quiet = append(f.reports, "jsonl=-"), true
	}
	return err
}

// Type implements pflag.Value.
func (f *jsonLines) Type() string { return "bool" }

// registerGate adds the flags that say what a run is compared with and what makes it fail.
func (f *runFlags) registerGate(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.baseline, "baseline", "", "compare with this `RUN|FILE` (a JSON report) instead of the previous run of the same documents, seed and options")
	fs.StringVar(&f.failOn, "fail-on", app.FailOnAny, "exit with 1 for `any` finding, for new ones, or for a regression (new findings; scores, and cells of matrices, that got worse beyond chance)")
}

func registerStore(c *cobra.Command, store *string) {
	c.Flags().StringVar(store, "store", app.DefaultStore, "folder that keeps runs")
	_ = c.MarkFlagDirname("store")
}

// validate checks what flag parsing cannot.
func (f *runFlags) validate() error {
	switch {
	case f.workers < 1:
		return usagef("--workers must be at least 1, got %d", f.workers)
	case f.workers > 1024:
		return usagef("--workers must be at most 1024, got %d", f.workers)
	case f.cases < 0:
		return usagef("--cases must not be negative, got %d", f.cases)
	case f.time < 0:
		return usagef("--time must not be negative, got %s", f.time)
	case f.reruns < 1:
		return usagef("--reruns must be at least 1 (a finding is never reported unseen), got %d", f.reruns)
	case f.shrink < 0:
		return usagef("--shrink must not be negative, got %d", f.shrink)
	}
	if _, err := campaign.ParseSeed(f.seed); err != nil {
		return err
	}
	for _, r := range f.reports {
		if _, _, err := parseReport(r); err != nil {
			return err
		}
	}
	switch f.failOn {
	case "", app.FailOnAny, app.FailOnNew, app.FailOnRegression:
	default:
		return usagef("--fail-on must be any, new or regression, got %q", f.failOn)
	}
	if f.maxErrors != "" {
		limit, err := app.ParseErrorLimit(f.maxErrors)
		if err != nil {
			return usagef("--max-errors: %w", err)
		}
		f.errorLimit = limit
	}
	if err := f.fleet.validate(); err != nil {
		return err
	}
	return f.options.validate()
}

// decided names a given flag that works only for a new run; "" if there is none.
func (f *runFlags) decided() string {
	switch {
	case f.seed != "":
		return "seed"
	case f.strict:
		return "strict"
	}
	for _, o := range f.options.flags {
		if len(o.given) > 0 {
			return o.Name
		}
	}
	return ""
}

// settings returns the flags as a contract sees them.
func (f *runFlags) settings() campaign.Settings {
	s := campaign.Settings{Strict: f.strict, Options: f.options.values()}
	s.Seed, _ = campaign.ParseSeed(f.seed) // validate reports an invalid seed
	return s
}

// optionFlags are the flags that contracts declare.
type optionFlags struct {
	flags []*optionFlag
}

type optionFlag struct {
	campaign.Option
	given []string
}

func (o *optionFlags) register(fs *pflag.FlagSet, contracts []campaign.Contract) {
	for _, c := range contracts {
		for _, opt := range c.Options() {
			if same := fs.Lookup(opt.Name); same != nil {
				// An option shared by several contracts is one flag.
				same.Usage = strings.TrimSuffix(same.Usage, "]") + ", " + c.Name() + "]"
				continue
			}
			f := &optionFlag{Option: opt}
			o.flags = append(o.flags, f)
			usage := opt.Usage + " [" + c.Name() + "]"
			if len(opt.Values) > 0 {
				usage = opt.Usage + " (" + strings.Join(opt.Values, "|") + ") [" + c.Name() + "]"
			}
			v := fs.VarPF(f, opt.Name, opt.Short, usage)
			v.DefValue, v.NoOptDefVal = opt.Default, opt.Bare
			if opt.Bool {
				v.NoOptDefVal = "true"
			}
		}
	}
}

// String implements pflag.Value.
func (f *optionFlag) String() string { return strings.Join(f.given, ",") }

// Set takes one value from the command line.
func (f *optionFlag) Set(v string) error {
	if f.Bool {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("must be true or false")
		}
		v = strconv.FormatBool(b)
	}
	if !f.Many {
		f.given = f.given[:0]
	}
	f.given = append(f.given, v)
	return nil
}

// Type implements pflag.Value.
func (f *optionFlag) Type() string {
	if f.Bool {
		return "bool"
	}
	return "string"
}

func (o *optionFlags) validate() error {
	for _, f := range o.flags {
		for _, v := range f.given {
			if _, err := app.OptionValue(f.Option, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *optionFlags) values() map[string][]string {
	m := make(map[string][]string)
	for _, f := range o.flags {
		if len(f.given) > 0 {
			m[f.Name] = append([]string(nil), f.given...)
		}
	}
	return m
}

// set gives an option a further value, as if from the command line.
func (o *optionFlags) set(name, value string) {
	for _, f := range o.flags {
		if f.Name == name {
			f.given = append(f.given, value)
		}
	}
}
