package fuzzspec

import "time"

// Drafted is what is known of a program for which a document is drafted.
type Drafted struct {
	Name        string // of the campaign and the program
	Description string
	WorkRoot    string   // absolute
	Command     []string // with <input_path> where the input's path goes
	Timeout     time.Duration
	Seed        string // absolute path of the seed
	SeedData    []byte
	MediaType   string
	Cases       int
}

// Draft is a document for a program, of which all but reserved fields are known.
func Draft(d Drafted) []byte {
	return pretty(object{
		"schema_version": SchemaVersion,
		"campaign_id":    d.Name,
		"description":    d.Description,
		"target": object{
			"agent_id":       d.Name,
			"work_root_base": d.WorkRoot,
			"command":        d.Command,
			"timeout_s":      d.Timeout.Seconds(),
		},
		"seed":      object{"path": d.Seed, "media_type": d.MediaType, "sha256": digest(d.SeedData)},
		"mutations": object{"cases": d.Cases, "rng_seed": 1},
		"execution": object{},
		"outputs":   object{"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"},
	})
}
