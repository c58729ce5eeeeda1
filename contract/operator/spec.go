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

// SchemaVersion is the version that a document must name. The contract has no
// document of its own for campaigns; this one is Thresh's.
const SchemaVersion = "thresh.operators.v1"

// Spec is a decoded document. Paths are as written: those that are relative
// begin at the document's folder.
type Spec struct {
	Name        string
	Description string
	Seeds       []string // seed files
	Operators   []string // files and folders of plug-ins
	Builtins    bool     // the operators of the house take part
	All         bool     // and those that were added later
	Edition3    bool     // and those of the third edition, too
	Include     []string // patterns of ids
	Exclude     []string
	Buckets     []textop.Bucket // in place of those of the seeds; each seed is run in each
	Surface     textop.Surface  // in place of those of the seeds
	RiskMax     textop.Risk     // "": no cap
	Children    int64           // wanted for each seed
	Testcases   []string        // these children alone, by their ids; nil: Children of each seed
	Chain       []Step          // operators applied to every child, in order; nil: Steps that a policy chooses
	Steps       int             // operators applied to a child
	Strength    textop.Range    // drawn from it
	SeedBase    *big.Int        // of the derivation (OC-7.2)
	Rule        textop.Rule     // of the derivation (OC-7.3)
	Policy      mutator.Policy  // how operators are chosen
	Weights     mutator.Weights // for the policy weighted
	Rounds      int             // of learning policies
	Redraws     int             // further operators a step may try if one skips
	Constraints textop.Constraints
	Duplicates  Duplicates
	Stats       string // statistics file to begin with; "": none
	Verdicts    string // verdicts on children, by testcase_id; "": none
	Oracle      *Oracle
	System      string // a system file that gets the children; "": none
	Inline      []byte // or its content, in the document
	Judges      []Judge
	Budget      *Budget // nil: none
	Verbatim    bool    // the seeds are the prompts: no operator takes part
	Attacker    *Attacker
	doc         *doctree.Document
}

// Step is an operator of a chain.
type Step struct {
	Op       string `json:"op"`
	Strength int    `json:"strength,omitempty"` // 0: the child's
}

// MarshalJSON writes an operator alone by its id.
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

// Judge is what a reply of the system must keep to.
type Judge struct {
	ID string
	judge.Demand
	Model string        // of llm_judge: the system file of the model that is asked
	node  *doctree.Node // of a type that looks at more than the reply's text; nil: it does not
	path  string
	check Check     // of node
	model *sut.Plan // of Model
}

// Oracle is a program that judges children: it is given the child on standard
// input and as the file <child>, and says by its exit code whether the system
// under test held (0) or not (1).
type Oracle struct {
	Command   []string // argv; <child> is the path of the child's text
	Folder    string   // in which it is run; "": the document's
	TimeoutS  float64
	Retries   int  // how often it is asked again if it gives no verdict
	HangFails bool // that it takes too long is a finding, not an error
}

// Duplicates says what becomes of a child whose text the same seed has already
// had.
type Duplicates string

// The ways. A rejected child is counted and replaced by one with a further
// index, so that every child that counts is reproducible from its own id.
const (
	KeepDuplicates Duplicates = "keep"
	RejectExact    Duplicates = "exact" // equal texts are rejected
	RejectNear     Duplicates = "near"  // and those that differ in a few places only
)

// Limits of a document.
const (
	maxChildren = 1_000_000
	maxSteps    = 16
	maxRounds   = 1000
)

// What a search has that the document does not say: the longest chain, and the
// strengths of its operators.
const searchSteps = 4

var searchStrength = textop.Range{Min: 1, Max: 5}

// defaults is what a document has that says nothing.
func defaults() Spec {
	return Spec{
		Builtins: true, Children: 10, Steps: 1, Strength: textop.Range{Min: 2, Max: 2}, SeedBase: big.NewInt(mutator.DefaultSeedBase),
		Rule: textop.RuleContract, Policy: mutator.Uniform, Rounds: 4, Redraws: 3, Duplicates: RejectExact,
	}
}

// Config returns how the document's children are made.
func (s *Spec) Config() mutator.Config {
	return mutator.Config{
		SeedBase: s.SeedBase, Rule: s.Rule, Steps: s.Steps, Strength: s.Strength, Policy: s.Policy, Weights: s.Weights, Redraws: s.Redraws,
		Constraints: s.Constraints, Filter: mutator.Filter{RiskMax: s.RiskMax, Include: s.Include, Exclude: s.Exclude},
	}
}

// besideDocument is a path of the document at docPath as one that can be opened.
func besideDocument(docPath, p string) string {
	return inFolder(filepath.Dir(docPath), p)
}

// inFolder is a path that begins at a folder unless it is absolute.
func inFolder(folder, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(folder, p)
}
