package operator

import (
	"bytes"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

// Contract implements [campaign.Contract].
type Contract struct {
	python  pyhost.OperatorOpener
	program process.Opener
	systems sut.Opener
	checks  Checks
}

// New returns the Operator Contract v0.1. python applies Python operators, program runs oracles.
func New(python pyhost.OperatorOpener, program process.Opener) *Contract {
	return &Contract{python: python, program: program}
}

// Systems sets the opener of systems that receive the children.
func (k *Contract) Systems(open sut.Opener) *Contract {
	k.systems = open
	return k
}

// Checks sets the reader of judges that need more than the text of a reply.
func (k *Contract) Checks(read Checks) *Contract {
	k.checks = read
	return k
}

// Name implements [campaign.Contract].
func (*Contract) Name() string { return "operator" }

// Summary implements [campaign.Contract].
func (*Contract) Summary() string {
	return "mutate prompts until one gets past a guard (Operator Contract v0.1)"
}

// Detect implements [campaign.Contract]: a JSON object with a schema_version of the format, or JSON
// lines that are seeds.
func (*Contract) Detect(s campaign.Spec) bool {
	return isSpec(s.Data) || isSeeds(s.Data)
}

func isSpec(data []byte) bool {
	text := unmarked(data)
	return bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"thresh.operators`))
}

// unmarked is a document without a byte order mark and blanks at its start.
func unmarked(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(data, []byte(mark)), " \t\r\n")
}

// isSeeds reports whether the first line is a seed record.
func isSeeds(data []byte) bool {
	line, _, _ := bytes.Cut(unmarked(data), []byte("\n"))
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.HasSuffix(bytes.TrimRight(line, " \t\r"), []byte("}")) {
		return false
	}
	for _, key := range []string{`"mutation_target_text"`, `"input_primary"`, `"seed_text"`, `"child_text"`} {
		if bytes.Contains(line, []byte(key)) {
			return true
		}
	}
	return bytes.Contains(line, []byte(`"text"`)) && (bytes.Contains(line, []byte(`"seed_id"`)) || bytes.Contains(line, []byte(`"bucket_id"`)) || bytes.Contains(line, []byte(`"surface"`)))
}

// Names of the options.
const (
	optOperators = "operators"
	optChildren  = "children"
	optPolicy    = "policy"
	optSystem    = "system"
	optRecord    = "record-replies"
	optReplay    = "replay-replies"
)

// Options implements [campaign.Contract].
func (*Contract) Options() []campaign.Option {
	return []campaign.Option{
		{Name: optOperators, Many: true, Path: true, Usage: "further operators: every op_*.star and op_*.py in `FOLDER`, or a file"},
		{Name: optChildren, Usage: "children wanted for each seed, in place of the document's `N`"},
		{Name: optPolicy, Usage: "choose operators by `POLICY`, uniform or round-robin, in place of the document's, so that compare can test the rates of two guards"},
		{Name: optSystem, Path: true, Usage: "send the children to the system that `FILE` describes, in place of the document's"},
		{Name: optRecord, Bool: true, Usage: "keep every reply with the run, for thresh report --format attempts"},
		{Name: optReplay, Path: true, Attempts: true, Usage: "take the replies from `RUN|FILE`, a run with --record-replies or what thresh report --format attempts wrote, and do not reach the system"},
	}
}

// Starter implements [campaign.Contract].
func (*Contract) Starter(string) []campaign.File { return starter() }

// Sent implements [campaign.Pairer].
func (*Contract) Sent(data []byte) (what uint64, failed, ok bool) {
	f, ok := decodeFacts(data)
	return f.print.Exact, f.judgement == mutator.Fail, ok && f.judged && f.status == textop.OK && f.judgement != mutator.Unknown
}

var (
	_ campaign.Contract = (*Contract)(nil)
	_ campaign.Pairer   = (*Contract)(nil)
)
