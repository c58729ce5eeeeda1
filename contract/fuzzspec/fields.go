package fuzzspec

import (
	"math"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// maxTimeout is the longest timeout, in seconds, that fits in nanoseconds.
const maxTimeout = math.MaxInt64 / 1_000_000_000

// operations are the mutation operators, in the contract's order.
var operations = []string{"flip_bit", "flip_byte", "truncate_tail", "append_bytes"}

const (
	modePerRun = "per_run"
	modeShared = "shared"
	// envUnbuffered is the only variable that a document may set.
	envUnbuffered = "PYTHONUNBUFFERED"
)

// format declares a document. Required keys are in the order in which existing tools report them
// missing: for a target without a command, they report only that.
var format = sync.OnceValue(func() *doctree.Shape {
	text, integer, object := doctree.Text, doctree.Integer, doctree.Object
	unbounded := math.Inf(1)
	path, some := text().Like("^/"), text().Like(`[\s\S]`)
	template := text().Like("^([^/<]|<run_id>|<>)([^<]|<run_id>|<>)*(<[^>]*)?$|^<[^>]*$")
	const reserved = "reserved: checked, but without effect. A path relative to target.work_root_base, with no token but `<run_id>`"
	target := &doctree.Shape{Name: "target", Doc: "the program under test", Fields: []doctree.Field{
		{Name: "command", Need: true, Type: doctree.List(text()).Must(),
			Doc: "program and arguments; no shell. `<run_id>`, `<run_dir>`, `<input_path>` and `<out_dir>` are filled in for each case"},
		{Name: "agent_id", Need: true, Type: text().Must().UpTo(128), Doc: "name of the program or flow under test"},
		{Name: "work_root_base", Need: true, Type: path, Doc: "folder below which runs and campaigns are kept"},
		{Name: "timeout_s", Type: doctree.Number(0, maxTimeout).MoreThan(0), Default: "30", Doc: "seconds that a case may take"},
		{Name: "engine", Type: some.UpTo(128), Doc: "for people; no effect"},
		{Name: "runtime_root", Type: path, Doc: "work_root_base must not be below it"},
		{Name: "engine_policy", Type: path, Doc: "its digest is kept with every run"},
		{Name: "run_agent_script", Type: path, Doc: "checked; no effect"},
	}}
	seed := &doctree.Shape{Name: "seed", Doc: "the file that mutations start from", Fields: []doctree.Field{
		{Name: "path", Need: true, Type: path, Doc: "the file; any bytes"},
		{Name: "media_type", Type: some.UpTo(256), Doc: "decides the extension of the input's file name"},
		{Name: "sha256", Type: text().Like("^[0-9A-Fa-f]{64}$"), Doc: "digest that the seed file must have"},
	}}
	mutations := &doctree.Shape{Name: "mutations", Doc: "how cases are made", Fields: []doctree.Field{
		{Name: "cases", Need: true, Type: integer(1, unbounded), Doc: "number of cases"},
		{Name: "rng_seed", Type: doctree.AnyInteger(), Doc: "case i is generated from rng_seed + i; from i if it is not given"},
		{Name: "max_bytes", Type: integer(1, unbounded), Doc: "every input is cut to this many bytes"},
		{Name: "max_ops_per_case", Type: integer(0, unbounded).UpTo(mostOps), Default: "1", Doc: "mutations of one case"},
		{Name: "strategies", Type: doctree.List(doctree.Word(operations...)),
			Doc: "mutations to choose from; naming one twice makes it twice as likely"},
	}}
	environment := &doctree.Shape{Name: "env_overrides", Doc: "the one variable that may be set", Fields: []doctree.Field{
		{Name: envUnbuffered, Type: doctree.Word("0", "1"), Doc: "passed to the program"},
	}}
	execution := &doctree.Shape{Name: "execution", Doc: "how a case is run", Fields: []doctree.Field{
		{Name: "work_root_mode", Type: doctree.Word(modePerRun, modeShared), Default: `"per_run"`, Doc: "reserved: checked, but without effect"},
		{Name: "env_overrides", Type: object(environment), Doc: "added to the program's environment, which is empty but for four LLMFUZZ_ variables"},
	}}
	outputs := &doctree.Shape{Name: "outputs", Doc: "where files of a case go", Fields: []doctree.Field{
		{Name: "input_dir", Type: template, Doc: reserved},
		{Name: "out_dir", Need: true, Type: template, Doc: reserved},
		{Name: "eval_dir", Need: true, Type: template, Doc: reserved},
		{Name: "llmfuzz_dir", Type: template, Doc: reserved},
	}}
	return &doctree.Shape{Name: "FuzzSpec v1", Doc: "a campaign that mutates a seed file and runs a command on every mutation", Fields: []doctree.Field{
		{Name: "schema_version", Need: true, Type: text().Like("^llmfuzz\\.fuzzspec\\.v1$"), Doc: "llmfuzz.fuzzspec.v1"},
		{Name: "campaign_id", Need: true, Type: text().Like("^[A-Za-z0-9][A-Za-z0-9._-]*$").UpTo(128), Doc: "short, stable name of the campaign"},
		{Name: "target", Need: true, Type: object(target), Doc: "the program under test"},
		{Name: "seed", Need: true, Type: object(seed), Doc: "the file that mutations start from"},
		{Name: "mutations", Need: true, Type: object(mutations), Doc: "how cases are made"},
		{Name: "execution", Need: true, Type: object(execution), Doc: "how a case is run"},
		{Name: "outputs", Need: true, Type: object(outputs), Doc: "where files of a case go"},
		{Name: "description", Type: some.UpTo(4096), Doc: "for people; no effect"},
	}}
})

// Schema returns the JSON Schema (draft 2020-12) of FuzzSpec v1, for editors and other tools. It
// cannot express rules that depend on the disk or on two fields at once, and accepts 1.0 as an
// integer; [Check] covers the rest.
func Schema() []byte { return doctree.Schema("fuzzspec.v1", doctree.Object(format())) }

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "fuzzspec", Summary: "a FuzzSpec campaign (JSON)", Schema: Schema,
		Keys: func() string { return doctree.Tables(doctree.Object(format())) },
	}}
}
