package fuzzspec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// copyOutputs copies the program's files in out/, and the report that some programs write to eval/,
// from the folder it ran in. Notes name the files that could not be kept; an error concerns the
// destination.
func copyOutputs(stage string, r *RunRecord) (notes []string, err error) {
	if r.Result == nil || r.Result.Dir == "" {
		return nil, nil
	}
	from := r.Result.Dir
	note := func(name, why string) { notes = append(notes, name+" was not kept: "+why) }
	err = filepath.WalkDir(filepath.Join(from, "out"), func(name string, d fs.DirEntry, walkErr error) error {
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if walkErr != nil {
			if rel != "out" || !errors.Is(walkErr, fs.ErrNotExist) {
				note(rel, cause(walkErr))
			}
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		to := filepath.Join(stage, rel)
		switch t := d.Type(); {
		case t.IsDir():
			return os.MkdirAll(to, 0o755)
		case t.IsRegular():
			return keepFile(name, to, rel, note)
		case t&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			if err != nil {
				note(rel, cause(err))
				return nil
			}
			return os.Symlink(link, to)
		}
		note(rel, "it is "+fileKind(d.Type()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	const report = "eval/report.json"
	if info, err := os.Lstat(filepath.Join(from, report)); err == nil && info.Mode().IsRegular() {
		if err := keepFile(filepath.Join(from, report), filepath.Join(stage, report), report, note); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// keepFile copies a file. A read error becomes a note, a write error is returned.
func keepFile(from, to, rel string, note func(name, why string)) error {
	in, err := os.Open(from)
	if err != nil {
		note(rel, cause(err))
		return nil
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// observeOutputs lists the JSON files of a run with their digests, sorted: all below out/, the
// report in eval/, and those that older agents write to a folder of their own.
func observeOutputs(root *os.Root, f RunFolder, agentID string) (list []observed, notes []string) {
	add := func(name, listed string, open func(string) (fs.File, error)) {
		file, err := open(name)
		if err != nil {
			notes = append(notes, listed+" was not read: "+cause(err))
			return
		}
		defer file.Close()
		h := sha256.New()
		if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
			return
		}
		if _, err := io.Copy(h, file); err != nil {
			notes = append(notes, listed+" was not read: "+cause(err))
			return
		}
		list = append(list, observed{listed, hex.EncodeToString(h.Sum(nil))})
	}
	fsys := root.FS()
	// The folder was made by copyOutputs' caller: walking it cannot fail.
	_ = fs.WalkDir(fsys, "out", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".json") {
			if info, err := fs.Stat(fsys, name); err == nil && !info.Mode().IsRegular() {
				return nil // a link to a folder, or something without an end
			}
			add(name, name, fsys.Open)
		}
		return nil
	})
	if isRegular(fsys, "eval/report.json") {
		add("eval/report.json", "eval/report.json", fsys.Open)
	}
	// An agent id is free text: only one that names a folder directly is searched for.
	if CheckID("agent id", agentID) == nil {
		dir := filepath.Join(f.base, "out", agentID)
		entries, _ := os.ReadDir(dir) // mostly there is none
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), "_"+f.id+".json") {
				add(filepath.Join(dir, e.Name()), path.Join("__legacy__/out", agentID, e.Name()),
					func(name string) (fs.File, error) { return os.Open(name) })
			}
		}
	}
	slices.SortFunc(list, func(a, b observed) int { return strings.Compare(a.path, b.path) })
	return list, notes
}

// writeSynced writes a file and forces it to disk.
func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// replaceFile replaces a file atomically: a reader sees the old content or the new, even after a
// crash.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(f.Name()))
		}
	}()
	if err = write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
