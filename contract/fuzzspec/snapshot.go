package fuzzspec

import (
	"math/big"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// object is a JSON object under construction; jsontree.Of accepts its values.
type object = map[string]any

// pretty writes a record in the form of every record file: sorted keys, two spaces, raw non-ASCII
// and a final line end. It panics if a value has no JSON form, which only a mistake in this package
// can cause.
func pretty(v any) []byte {
	n := tree(v)
	return append(jsontree.Pretty.Append(nil, &n), '\n')
}

func tree(v any) jsontree.Node {
	n, err := jsontree.Of(v)
	if err != nil {
		panic("fuzzspec: " + err.Error())
	}
	return n
}

// give adds an optional field.
func give[T any](o object, key string, v *T) {
	if v != nil {
		o[key] = *v
	}
}

func giveInt(o object, key string, v *big.Int) {
	if v != nil {
		o[key] = v
	}
}

// Snapshot returns the canonical text of the document, as run folders keep it: it writes out
// defaults for work_root_mode and max_ops_per_case only.
func (s *Spec) Snapshot() []byte {
	top := object{"schema_version": SchemaVersion, "campaign_id": s.CampaignID}
	give(top, "description", s.Description)

	target := object{"agent_id": s.Target.AgentID, "work_root_base": s.Target.WorkRootBase, "command": s.Target.Command}
	give(target, "engine", s.Target.Engine)
	give(target, "runtime_root", s.Target.RuntimeRoot)
	give(target, "engine_policy", s.Target.EnginePolicy)
	give(target, "run_agent_script", s.Target.RunAgentScript)
	give(target, "timeout_s", s.Target.TimeoutS)

	seed := object{"path": s.Seed.Path}
	give(seed, "media_type", s.Seed.MediaType)
	give(seed, "sha256", s.Seed.SHA256)

	mutations := object{"cases": s.Mutations.Cases, "max_ops_per_case": s.Mutations.MaxOpsPerCase}
	giveInt(mutations, "rng_seed", s.Mutations.RNGSeed)
	giveInt(mutations, "max_bytes", s.Mutations.MaxBytes)
	if s.Mutations.Strategies != nil {
		mutations["strategies"] = s.Mutations.Strategies
	}

	execution := object{"work_root_mode": s.Execution.WorkRootMode}
	if s.Execution.EnvOverrides != nil {
		execution["env_overrides"] = s.Execution.EnvOverrides
	}

	outputs := object{"out_dir": s.Outputs.OutDir, "eval_dir": s.Outputs.EvalDir}
	give(outputs, "input_dir", s.Outputs.InputDir)
	give(outputs, "llmfuzz_dir", s.Outputs.LLMFuzzDir)

	top["target"], top["seed"], top["mutations"] = target, seed, mutations
	top["execution"], top["outputs"] = execution, outputs
	return pretty(top)
}
