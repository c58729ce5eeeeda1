package demo

import (
	"bytes"
	"encoding/json"
	"path/filepath"
)

// Command is the hidden command by which the thresh binary runs Main.
const Command = "__demo-target"

// SeedName is the seed's file name in the folder given to Spec.
const SeedName = "seed.scroll"

// Seed returns a valid scroll.
func Seed() []byte {
	b := []byte("SCRL\x01")
	add := func(tag byte, v string) {
		b = append(append(b, tag, byte(len(v))), v...)
	}
	add('A', "Ada")
	add('M', "pen")
	add('T', "LEXTXL")
	add('T', "Tide")
	add('T', "Rye")
	add('I', "\x01\x02\x00\x01")
	add('D', "2026-01-31")
	add('G', "\x01\x00Sea")
	add('G', "\x02\x01Land")
	add('G', "\x03\x02Air")
	add('L', "\x02")
	add('P', "\x18\x04")
	add('B', "\x0f")
	add('B', "\x0d")
	add('W', "\x20calm")
	add('K', "\x01")
	return b
}

// Spec returns a FuzzSpec that runs the program exe (the thresh binary) on mutations of the seed,
// and the seed. dir and exe must be absolute; the seed belongs in dir under SeedName.
func Spec(dir, exe string) (spec, seed []byte) {
	return SpecFor(dir, []string{exe, Command, "<input_path>"}), Seed()
}

// SpecFor is Spec for another way to start the program.
func SpecFor(dir string, command []string) []byte {
	type object = map[string]any
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // keep placeholders readable
	enc.SetIndent("", "  ")
	// Encoding maps of strings and numbers cannot fail.
	_ = enc.Encode(object{
		"schema_version": "llmfuzz.fuzzspec.v1",
		"campaign_id":    "scroll-demo",
		"description":    "A reader of scrolls with ten planted bugs. Every case changes up to four places of the seed.",
		"target": object{
			"agent_id":       "scroll",
			"work_root_base": filepath.Join(dir, "work"),
			"command":        command,
			"timeout_s":      1,
		},
		"seed":      object{"path": filepath.Join(dir, SeedName), "media_type": "application/octet-stream"},
		"mutations": object{"cases": 800, "rng_seed": 1, "max_ops_per_case": 4},
		"execution": object{},
		"outputs":   object{"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"},
	})
	return b.Bytes()
}
