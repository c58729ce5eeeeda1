package fuzzspec

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Limits on the outputs that are parsed.
const (
	mostOutputs     = 20
	mostOutputBytes = 10 << 20
	// mostRecordBytes bounds the records of a run, which are small.
	mostRecordBytes = 64 << 20
)

// judgeOutputs looks for outputs and parses those that are JSON.
func (e *evaluator) judgeOutputs(record *jsontree.Node, exited bool) {
	if e.o.IgnoreOutputs && exited {
		e.verdict, e.signature = VerdictPass, VerdictPass
		e.outputs.set(true, "not judged")
		e.parse.set(true, "not judged")
		return
	}
	files, missing, listed := e.findOutputs(record)
	if len(files) == 0 {
		if !listed {
			missing = []string{"NO_OUTPUTS"}
			if e.o.NoneExpected && exited {
				e.verdict, e.signature = VerdictPass, VerdictPass
				e.outputs.set(true, "none expected: the seed writes none")
				e.parse.set(true, "parsed_bytes=0")
				return
			}
		}
		slices.Sort(missing)
		names := strings.Join(missing, ",")
		e.verdict, e.signature = VerdictFail, "OUT_MISSING:"+hash16(printableUTF8(names))
		e.outputs.set(false, "missing=%s", names)
		e.parse.set(false, "skipped: no outputs")
		return
	}
	e.outputs.set(true, "count=%d", len(files))
	e.verdict, e.signature = VerdictPass, VerdictPass
	var total int64
	for _, name := range files[:min(len(files), mostOutputs)] {
		info, err := fs.Stat(e.run, name)
		if err == nil {
			if total+info.Size() > mostOutputBytes {
				break
			}
			total += info.Size()
		}
		exception := "OSError"
		data, err := readBounded(e.run, name, mostOutputBytes)
		if err == nil {
			if _, err = jsontree.Parse(data, jsontree.Python()); err != nil {
				exception = exceptionName(err)
			}
		}
		if err != nil {
			base := path.Base(name)
			e.verdict, e.signature = VerdictFail, "JSON_BAD:"+base+":"+exception
			e.broken = campaign.Attachment{Name: outputName, Data: slices.Clone(data[:min(len(data), maxEvidence)])}
			e.parse.set(false, "first_error=%s (%s)", base, exception)
			return
		}
	}
	e.parse.set(true, "parsed_bytes=%d", total)
}

// findOutputs returns the JSON files that the record lists or, if it lists none, those at the top
// level of out/, and the names of listed files that are missing.
func (e *evaluator) findOutputs(record *jsontree.Node) (files, missing []string, listed bool) {
	var observed []string
	if list := record.Get("observed_outputs"); list != nil && list.Kind == jsontree.Array {
		for i := range list.Items {
			if p, ok := list.Items[i].Get("path").Str(); ok {
				observed = append(observed, p)
			}
		}
	}
	if len(observed) == 0 {
		entries, _ := fs.ReadDir(e.run, "out") // without the folder there are none
		for _, entry := range entries {
			if name := path.Join("out", entry.Name()); strings.HasSuffix(name, ".json") && isRegular(e.run, name) {
				files = append(files, name)
			}
		}
		slices.Sort(files)
		return files, nil, false
	}
	slices.Sort(observed)
	for _, p := range slices.Compact(observed) {
		name, ok := e.inRunFolder(p)
		if !ok || !exists(e.run, name) {
			missing = append(missing, lastPart(p))
		} else if strings.HasSuffix(name, ".json") && isRegular(e.run, name) {
			files = append(files, name)
		}
	}
	return files, missing, true
}

// inRunFolder converts a listed path to one inside the run folder; false if it leads out of it.
func (e *evaluator) inRunFolder(p string) (string, bool) {
	parts := pathParts(p)
	if strings.HasPrefix(p, "/") || slices.Contains(parts, "..") {
		return "", false
	}
	if len(parts) >= 3 && parts[0] == "runs" && parts[1] == e.runID {
		parts = parts[2:]
	}
	name := path.Join(append([]string{"."}, parts...)...)
	return name, fs.ValidPath(name) && !strings.ContainsRune(name, 0)
}

// lastPart is the name of a path, as pathlib determines it.
func lastPart(p string) string {
	if parts := pathParts(p); len(parts) > 0 {
		return parts[len(parts)-1]
	}
	return ""
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

func isRegular(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func openRegular(fsys fs.FS, name string) (fs.File, error) {
	if !isRegular(fsys, name) {
		return nil, fmt.Errorf("read %s: not a regular file", name)
	}
	return fsys.Open(name)
}

// readBounded reads a regular file of at most so many bytes: a program may have left a pipe or an
// endless device in its place.
func readBounded(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := openRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("read %s: more than %d bytes", name, most)
	}
	return data, err
}

// readTail reads the last tailSize bytes of a file of the given size.
func readTail(fsys fs.FS, name string, size int64) ([]byte, error) {
	f, err := openRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if skip := size - tailSize; skip > 0 {
		if s, ok := f.(io.Seeker); ok {
			_, err = s.Seek(skip, io.SeekStart)
		} else {
			_, err = io.CopyN(io.Discard, f, skip)
		}
		if err != nil {
			return nil, fmt.Errorf("read the end of %s: %w", name, err)
		}
	}
	return io.ReadAll(io.LimitReader(f, tailSize))
}

// printableUTF8 replaces what has no UTF-8 form before hashing: half of a surrogate pair becomes a
// question mark, as in Python's encoder.
func printableUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if _, ok := jsontree.IsLone(s[i:]); ok {
			b.WriteByte('?')
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
