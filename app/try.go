package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/app/draft"
	"github.com/thresh-dev/thresh/diag"
)

// Try says what to draft, and how.
type Try struct {
	Words  []string      // what to try, as thresh try takes it
	Seeds  []string      // files and folders of inputs for a program
	Format string        // the format of the draft; "": the one that fits
	Folder string        // the draft's folder; "": a new folder in the working directory
	Yes    bool          // also call operations that may change or delete something
	Lanes  int           // number of cases that will run at once
	Time   time.Duration // limit for looking and running together; 0: none
}

// Draft examines what the user wants to test, drafts a document for it and writes it.
func (a *App) Draft(ctx context.Context, t Try) (*draft.Draft, error) {
	thing, err := draft.Read(t.Words, t.Seeds, IsFolder)
	if err != nil {
		return nil, err
	}
	folder, err := tryFolder(t.Folder, thing.Name())
	if err != nil {
		return nil, err
	}
	d, err := a.look(ctx, &t, &thing, folder)
	if err != nil {
		return nil, err
	}
	if err := t.fits(&thing, d.Format); err != nil {
		return nil, err
	}
	if d.Folder == "" {
		return d, nil
	}
	for _, f := range d.Files {
		if _, err := os.Lstat(filepath.Join(folder, f.Name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Refused("%s exists; nothing was written", filepath.Join(folder, f.Name))
		}
	}
	if err := WriteFiles(folder, d.Files); err != nil {
		return nil, err
	}
	return d, nil
}

// fits refuses a format that cannot test the thing.
func (t *Try) fits(thing *draft.Thing, format string) error {
	if t.Format == "" || t.Format == format {
		return nil
	}
	return diag.WithHint(diag.Refused("%s is tested by %s, not by %s", strings.Join(thing.Words, " "), format, t.Format),
		"thresh init "+format+" --from ...")
}

// look learns what a draft of a thing needs, and drafts it.
func (a *App) look(ctx context.Context, t *Try, thing *draft.Thing, folder string) (*draft.Draft, error) {
	if t.Format == "fresnelfir" && thing.Kind == draft.Module || thing.Kind == draft.Recording {
		return a.lookAtModel(ctx, thing, folder)
	}
	if t.Format == "fresnelfir" && (thing.Kind == draft.Service || thing.Kind == draft.Server) {
		return a.lookAtCalls(ctx, t, thing, folder)
	}
	switch thing.Kind {
	case draft.Program:
		f, err := a.lookAtProgram(ctx, t, thing, folder)
		if err != nil {
			return nil, err
		}
		return draft.DraftProgram(f), nil
	case draft.Service, draft.Server:
		lookAt := a.lookAtService
		if thing.Kind == draft.Server {
			lookAt = a.lookAtServer
		}
		f, err := lookAt(ctx, t, thing, folder)
		if err != nil {
			return nil, err
		}
		return draft.DraftSystem(f), nil
	case draft.Agent:
		f, err := a.lookAtAgent(ctx, thing, folder)
		if err != nil {
			return nil, err
		}
		return draft.DraftAgent(f), nil
	case draft.Chat:
		f, err := a.lookAtChat(ctx, thing, folder)
		if err != nil {
			return nil, err
		}
		return draft.DraftAgent(f), nil
	case draft.Module:
		return a.lookAtModule(ctx, t, thing, folder)
	}
	return a.lookAtPages(t, thing, folder)
}

// IsFolder reports whether a path is a folder.
func IsFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// IsThere reports whether a path exists.
func IsThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tryFolder returns the absolute folder of a draft: the one asked for, or try-NAME, with a number
// appended if that exists already.
func tryFolder(given, name string) (string, error) {
	dir := given
	if dir == "" {
		for n := 1; ; n++ {
			dir = "try-" + name
			if n > 1 {
				dir += "-" + strconv.Itoa(n)
			}
			if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				break
			}
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", diag.Environment("finding %s: %w", dir, err)
	}
	return abs, nil
}

// absoluteWords replaces words that are files by absolute paths, and the first word by the program
// that the user's PATH finds.
func absoluteWords(words []string) ([]string, error) {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w
		if i == 0 && !strings.ContainsRune(w, filepath.Separator) {
			path, err := exec.LookPath(w)
			if err != nil {
				if _, there := os.Stat(w); there == nil {
					return nil, diag.WithHint(diag.Refused("there is no program %s on PATH", w), "for the file in this folder: ./"+w)
				}
				return nil, elsewhere(w, diag.Refused("there is no program %s on PATH", w))
			}
			list[i] = path
		}
		if strings.HasPrefix(list[i], "-") || strings.Contains(list[i], draft.Mark) {
			continue
		}
		if st, err := os.Stat(list[i]); err == nil && (i == 0 || st.Mode().IsRegular() || strings.ContainsRune(w, filepath.Separator)) {
			abs, err := filepath.Abs(list[i])
			if err != nil {
				return nil, diag.Environment("finding %s: %w", w, err)
			}
			list[i] = abs
		} else if i == 0 {
			return nil, elsewhere(w, diag.Refused("%s: %s", w, Reason(err)))
		}
	}
	return list, nil
}

// elsewhere adds to an error a hint at what else the word may have meant.
func elsewhere(word string, err error) error {
	name, rest, _ := strings.Cut(word, ":")
	if port := strings.TrimLeft(rest, "0123456789"); rest != port && (port == "" || port[0] == '/') {
		return diag.WithHint(err, "for a service: thresh try http://"+word)
	}
	if rest != "" && IsThere(name+".py") {
		return diag.WithHint(err, "for an agent: thresh try "+name+".py:"+rest)
	}
	return diag.WithHint(err, "thresh try --help lists what can be tried")
}

// readSeeds reads the files that the user gave, and the files in the folders.
func readSeeds(paths []string) (list []draft.Seed, err error) {
	add := func(path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return diag.Refused("the seed %s: %s", path, Reason(err))
		}
		list = append(list, draft.Seed{Name: fmt.Sprintf("%03d-%s", len(list), filepath.Base(path)), Data: data})
		return nil
	}
	for _, p := range paths {
		files := []string{p}
		if IsFolder(p) {
			if files, _, err = FilesIn(p); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				return nil, diag.Refused("the folder %s has no file to start from", p)
			}
		}
		for _, f := range files {
			if err := add(f); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
