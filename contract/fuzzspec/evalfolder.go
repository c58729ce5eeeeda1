package fuzzspec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// EvaluateFolder judges the kept run folder of that id again and writes its
// llmfuzz/eval.json, making what folders are missing: a run that left nothing
// behind gets a verdict too. With patch the failure record gets the result as
// well; a record that is missing or broken is then an error, told after the
// evaluation was written.
func EvaluateFolder(workRootBase, runID string, patch bool) (signature string, err error) {
	f, err := NewRunFolder(workRootBase, runID)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(f.Dir(), "llmfuzz"), 0o755); err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	root, err := os.OpenRoot(f.Dir())
	if err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	defer root.Close()
	e := EvaluateRun(root.FS(), runID, EvaluateOptions{})
	put := func(name string, data []byte) error {
		return replaceFile(filepath.Join(f.Dir(), name), func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err := put("llmfuzz/eval.json", e.JSON); err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	if !patch {
		return e.Signature, nil
	}
	record, err := os.ReadFile(f.RecordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("judge run %s: there is no failure record to patch: %w", runID, err)
	}
	if err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	patched, ok := e.PatchRecord(record, runID)
	if !ok {
		return "", fmt.Errorf("judge run %s: the failure record is not a JSON object", runID)
	}
	if err := put(fileRecord, patched); err != nil {
		return "", fmt.Errorf("judge run %s: %w", runID, err)
	}
	return e.Signature, nil
}
