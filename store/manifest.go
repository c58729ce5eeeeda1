package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Manifest is the first record of a journal: what the run is, and all that is
// needed to compile its campaigns again.
type Manifest struct {
	RunID      string              `json:"run_id"`
	Created    time.Time           `json:"created"`
	Command    []string            `json:"command"`
	Folder     string              `json:"folder,omitempty"` // that the run was started in: relative paths begin there
	Version    string              `json:"version"`          // of Thresh
	Specs      []SpecRef           `json:"specs"`
	Files      map[string]string   `json:"files,omitempty"`   // path to blob: files that documents named (seeds, dictionaries)
	Digests    map[string]string   `json:"digests,omitempty"` // path to hex SHA-256: files that decide the cases and are not kept (programs)
	Settings   json.RawMessage     `json:"settings,omitempty"`
	Identities []campaign.Identity `json:"identities"`
}

// runPrefix is the part of a run's name that its campaigns decide. Runs of the
// same campaigns share it, and are distinguished by the number behind it.
func runPrefix(ids []campaign.Identity) string {
	var b []byte
	for _, id := range ids {
		for _, s := range [...]string{id.Contract, id.Name, id.Digest} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	sum := sha256.Sum256(b)
	return "r" + hex.EncodeToString(sum[:4]) + "-"
}
