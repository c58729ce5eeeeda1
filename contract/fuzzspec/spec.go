package fuzzspec

import (
	"math"
	"math/big"
	"time"
)

// SchemaVersion is the version that a document must state.
const SchemaVersion = "llmfuzz.fuzzspec.v1"

// Spec is a decoded document. A nil pointer is a field that was not given; paths are in pathlib's
// form ([NormalizePath]).
type Spec struct {
	CampaignID  string
	Description *string
	Target      Target
	Seed        Seed
	Mutations   Mutations
	Execution   Execution
	Outputs     Outputs
}

// Target is the program under test.
type Target struct {
	AgentID        string
	WorkRootBase   string
	Command        []string // argv with placeholders, see [Expand]
	TimeoutS       *float64
	Engine         *string
	RuntimeRoot    *string
	EnginePolicy   *string
	RunAgentScript *string
}

// Seed is the file that mutations start from.
type Seed struct {
	Path      string
	MediaType *string
	SHA256    *string // as written: 64 hexadecimal digits of either case
}

// Mutations configures how cases are made. Integers may be arbitrarily large; CaseCount and OpLimit
// clamp them to machine words.
type Mutations struct {
	Cases         *big.Int
	RNGSeed       *big.Int // nil: not given
	MaxBytes      *big.Int // nil: not given
	MaxOpsPerCase *big.Int // 1 if not given
	OpsGiven      bool     // MaxOpsPerCase was given
	Strategies    []string // nil: not given; an empty list is not nil
}

// Execution holds the fields that the contract reserves, and the environment overrides.
type Execution struct {
	WorkRootMode string            // "per_run" if not given
	EnvOverrides map[string]string // nil: not given
}

// Outputs holds templates that the contract reserves; they have no effect.
type Outputs struct {
	InputDir   *string
	OutDir     string
	EvalDir    string
	LLMFuzzDir *string
}

// defaultTimeout is the contract's timeout, in seconds, for a target without timeout_s.
const defaultTimeout = 30

// TimeoutSeconds returns the target's timeout in seconds.
func (s *Spec) TimeoutSeconds() float64 {
	if s.Target.TimeoutS == nil {
		return defaultTimeout
	}
	return *s.Target.TimeoutS
}

// Timeout returns the target's timeout. It is at least a nanosecond, because zero would mean no
// limit.
func (s *Spec) Timeout() time.Duration {
	return max(time.Duration(s.TimeoutSeconds()*float64(time.Second)), 1)
}

// CaseCount is mutations.cases, or the largest int64 if it is larger.
func (m *Mutations) CaseCount() int64 { return clampInt64(m.Cases) }

// OpLimit is mutations.max_ops_per_case, or the largest int64 if it is larger.
func (m *Mutations) OpLimit() int64 { return clampInt64(m.MaxOpsPerCase) }

// ByteLimit is mutations.max_bytes; false if there is no limit.
func (m *Mutations) ByteLimit() (int64, bool) {
	if m.MaxBytes == nil {
		return 0, false
	}
	return clampInt64(m.MaxBytes), true
}

func clampInt64(v *big.Int) int64 {
	if v.IsInt64() {
		return v.Int64()
	}
	return math.MaxInt64
}

// EffectiveSeed returns the generator's seed for one case.
func (m *Mutations) EffectiveSeed(caseIndex int64) *big.Int {
	seed := big.NewInt(caseIndex)
	if m.RNGSeed != nil {
		seed.Add(seed, m.RNGSeed)
	}
	return seed
}
