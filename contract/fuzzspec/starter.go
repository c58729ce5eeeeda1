package fuzzspec

import (
	"path"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// starterProgram has a fault that a single flipped bit triggers. It needs only a shell, because the
// environment of a target has no PATH.
const starterProgram = `# Adds up 100/n for the numbers on the first line of its input.
# It checks that they are numbers, but not that they are not 0.
set -f
read -r line < "$1"
total=0
for n in $line; do
  case $n in
    *[!0-9]*) echo '{"error": "not a number"}' > "$2/result.json"; exit 0 ;;
  esac
  total=$((total + 100 / n))
done
echo "{\"total\": $total}" > "$2/result.json"
`

// starterSeed holds numbers that are each one bit away from 0.
const starterSeed = "1 2 4 8\n"

const starterDescription = "A starter campaign. Each case flips, cuts or appends bytes of seed.path and runs target.command on the result: " +
	"<input_path> is the mutated file, <out_dir> a folder for JSON outputs, and <run_dir> and <run_id> can be used too. " +
	"A case fails if the program exits with anything but 0, is killed, takes longer than timeout_s seconds, or writes no readable JSON to <out_dir>. " +
	"With mutations.rng_seed the same cases are made on every machine. " +
	"To fuzz a program of your own, name it in target.command and put a small valid input of it in seed.path."

// Starter returns a document that runs and finds something, with its program and seed. Paths in a
// FuzzSpec are absolute: dir is the folder that the files will be written to.
func Starter(dir string) []campaign.File {
	spec := pretty(object{
		"schema_version": SchemaVersion,
		"campaign_id":    "starter",
		"description":    starterDescription,
		"target": object{
			"agent_id":       "divide",
			"work_root_base": path.Join(dir, "fuzz-work"),
			"command":        []string{"sh", path.Join(dir, "divide.sh"), "<input_path>", "<out_dir>"},
			"timeout_s":      10.0,
		},
		"seed":      object{"path": path.Join(dir, "seed.txt"), "media_type": "text/plain", "sha256": digest([]byte(starterSeed))},
		"mutations": object{"cases": 200, "rng_seed": 1, "max_ops_per_case": 1},
		"execution": object{},
		"outputs":   object{"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"},
	})
	return []campaign.File{
		{Name: "fuzzspec.json", Data: spec},
		{Name: "divide.sh", Data: []byte(starterProgram), Exec: true},
		{Name: "seed.txt", Data: []byte(starterSeed)},
	}
}

// Drafted describes a program for which to draft a document.
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

// Draft returns a document for a program, without the reserved fields.
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
