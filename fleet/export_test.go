package fleet

import "github.com/thresh-dev/thresh/campaign"

// WireSize is how many bytes an outcome takes in a report.
func WireSize(index int64, o campaign.Outcome) int { return len(appendEntry(nil, index, &o)) }

// Decode reads outcomes as the coordinator does and writes them again.
func Decode(b []byte) ([]byte, error) {
	entries, err := decodeEntries(b)
	var again []byte
	for i := range entries {
		again = appendEntry(again, entries[i].index, &entries[i].outcome)
	}
	return again, err
}
