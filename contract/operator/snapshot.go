package operator

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/thresh-dev/thresh/engine/mutator"
)

// snapshotPath is where the snapshot of an operator belongs: a folder beside
// its file.
func snapshotPath(e *mutator.Entry) string {
	return filepath.Join(filepath.Dir(e.Source.File), "snapshots", e.Meta.ID+".jsonl")
}

// encodeSnapshot is a snapshot file: a line for each probe, with what was asked
// and the result.
func encodeSnapshot(e *mutator.Entry, list []probe, answers []mutator.Answered) []byte {
	var b []byte
	for i, p := range list {
		b = append(b, `{"op_id":`...)
		b = mutator.AppendString(b, e.Meta.ID)
		b = fmt.Appendf(b, `,"surface":%q,"strength":%d,"seed_base":%d,"testcase_id":%q,"seed_text":`, p.surface, p.strength, snapshotBase, p.testcase)
		b = mutator.AppendString(b, p.text)
		b = append(b, `,"result":`...)
		b = mutator.AppendResult(b, &answers[i].Result)
		b = append(b, '}', '\n')
	}
	return b
}

// firstDifference says where two snapshots differ.
func firstDifference(kept, now []byte) string {
	a, b := bytes.Split(kept, []byte("\n")), bytes.Split(now, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d", i+1)
		}
	}
	return fmt.Sprintf("it has %d lines, now there are %d", len(a)-1, len(b)-1)
}
