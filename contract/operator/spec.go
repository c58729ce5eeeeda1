package operator

import (
	"encoding/json"
	"math/big"
	"path/filepath"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/sut"
)

// SchemaVersion is the version that a document must state. The contract does not define a document
// for campaigns; this one is Thresh's own.
const SchemaVersion = "thresh.operators.v1"

// Spec is a decoded document. Paths are as written; relative ones start at the document's folder.
type Spec struct {
	Name        string
	Description string
	Seeds       []string // seed files
	Operators   []string // files and folders of plug-ins
	Builtins    bool     // use the built-in operators
	All         bool     // and those added later
	Edition3    bool     // and those of the third edition
	Include     []string // patterns of ids
	Exclude     []string
	Buckets     []textop.Bucket // instead of the seeds' buckets; each seed runs in each
	Surface     textop.Surface  // instead of the seeds' surfaces
	RiskMax     textop.Risk     // "": no limit
	Children    int64           // wanted per seed
	Testcases   []string        // only these children, by id; nil: Children of each seed
	Chain       []Step          // operators applied to every child, in order; nil: Steps operators that a policy chooses
	Steps       int             // number of operators per child
	Strength    textop.Range    // range to draw from
	SeedBase    *big.Int        // of the derivation (OC-7.2)
	Rule        textop.Rule     // of the derivation (OC-7.3)
	Policy      mutator.Policy  // how operators are chosen
	Weights     mutator.Weights // for the policy weighted
	Rounds      int             // for learning policies
	Redraws     int             // further operators that a step may try if one skips
	Constraints textop.Constraints
	Duplicates  Duplicates
	Stats       string // initial statistics file; "": none
	Verdicts    string // file of verdicts on children, by testcase_id; "": none
	Oracle      *Oracle
	System      string // system file that receives the children; "": none
	Inline      []byte // or its content, in the document
	Judges      []Judge
	Budget      *Budget // nil: none
	Verbatim    bool    // the seeds are the prompts: no operators
	Attacker    *Attacker
	doc         *doctree.Document
}

// Step is an operator of a chain.
type Step struct {
	Op       string `json:"op"`
	Strength int    `json:"strength,omitempty"` // 0: the child's
}

// MarshalJSON writes an operator without a strength as its id.
func (s Step) MarshalJSON() ([]byte, error) {
	if s.Strength == 0 {
		return json.Marshal(s.Op)
	}
	type plain Step
	return json.Marshal(plain(s))
}

// UnmarshalJSON reads either form.
func (s *Step) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &s.Op) == nil {
		return nil
	}
	type plain Step
	return json.Unmarshal(b, (*plain)(s))
}

// Judge is a requirement on the replies of the system.
type Judge struct {
	ID string
	judge.Demand
	Model string        // for llm_judge: the system file of the model
	node  *doctree.Node // for a type that needs more than the reply's text; otherwise nil
	path  string
	check Check     // of node
	model *sut.Plan // of Model
}

// Oracle is a program that judges children: it gets the child on standard input and as the file
// <child>, and its exit code says whether the system under test held (0) or not (1).
type Oracle struct {
	Command   []string // argv; <child> is the path of the child's text
	Folder    string   // its working folder; "": the document's
	TimeoutS  float64
	Retries   int  // retries if it gives no verdict
	HangFails bool // a timeout is a finding, not an error
}

// Duplicates is the treatment of a child whose text the same seed already had.
type Duplicates string

// The treatments. A rejected child is counted and replaced by one with a further index, so that
// every child that counts is reproducible from its own id.
const (
	KeepDuplicates Duplicates = "keep"
	RejectExact    Duplicates = "exact" // reject equal texts
	RejectNear     Duplicates = "near"  // and texts that differ in a few places only
)

// Limits of a document.
const (
	maxChildren = 1_000_000
	maxSteps    = 16
	maxStrength = 100
	maxRounds   = 1000
)

// Defaults of a search: the longest chain, and the strengths of its operators.
const searchSteps = 4

var searchStrength = textop.Range{Min: 1, Max: 5}

// defaults is the spec of an empty document.
func defaults() Spec {
	return Spec{
		Builtins: true, Children: 10, Steps: 1, Strength: textop.Range{Min: 2, Max: 2}, SeedBase: big.NewInt(mutator.DefaultSeedBase),
		Rule: textop.RuleContract, Policy: mutator.Uniform, Rounds: 4, Redraws: 3, Duplicates: RejectExact,
	}
}

// Config returns the configuration of the document's mutator.
func (s *Spec) Config() mutator.Config {
	return mutator.Config{
		SeedBase: s.SeedBase, Rule: s.Rule, Steps: s.Steps, Strength: s.Strength, Policy: s.Policy, Weights: s.Weights, Redraws: s.Redraws,
		Constraints: s.Constraints, Filter: mutator.Filter{RiskMax: s.RiskMax, Include: s.Include, Exclude: s.Exclude},
	}
}

// besideDocument resolves a path of the document at docPath.
func besideDocument(docPath, p string) string {
	return inFolder(filepath.Dir(docPath), p)
}

// inFolder resolves a path relative to a folder.
func inFolder(folder, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(folder, p)
}
