package spectest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultPattern matches the names of documents in a folder.
const DefaultPattern = "*.spec.md"

// Discovery selects the documents in a folder.
type Discovery struct {
	Pattern   string   // of Markdown documents: a shell pattern for their names
	Formats   []string // "md", "yaml", "json"; sorted
	Recursive bool     // search subfolders too
}

// Formats parses a list of formats such as "md,yaml".
func Formats(list string) ([]string, error) {
	var out []string
	for f := range strings.SplitSeq(list, ",") {
		switch f = strings.ToLower(strings.TrimSpace(f)); f {
		case "":
		case "md", "yaml", "json":
			out = append(out, f)
		default:
			return nil, fmt.Errorf("there is no format %q; known are md, yaml and json", f)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("at least one of md, yaml and json must be named")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Order sorts the documents of a folder as users of the format expect: by format, then by name.
func (d Discovery) Order(folder string, paths []string) []string {
	var out []string
	for _, f := range d.Formats {
		part := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			taken, _ := d.accepts(folder, p)
			return !taken || formatOf(p) != f
		})
		slices.Sort(part)
		if f == "yaml" { // *.spec.yaml, then *.spec.yml
			slices.SortStableFunc(part, func(a, b string) int { return strings.Compare(filepath.Ext(a), filepath.Ext(b)) })
		}
		out = append(out, part...)
	}
	return out
}

// accepts reports whether a file is selected, and if not, what would change that.
func (d Discovery) accepts(folder, path string) (bool, string) {
	name, format := filepath.Base(path), formatOf(path)
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		rel = path
	}
	pattern := d.Pattern
	deep := d.Recursive
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		pattern, deep = rest, true
	}
	switch {
	case !slices.Contains(d.Formats, format):
		return false, "--case-formats " + strings.Join(append(slices.Clone(d.Formats), format), ",") + " takes it"
	case format == "md":
		if strings.ToLower(filepath.Ext(name)) != ".md" {
			return false, "its name does not end in .md"
		}
		// Python and the shell negate a character class with an exclamation mark.
		if ok, err := filepath.Match(strings.ReplaceAll(pattern, "[!", "[^"), name); err != nil || !ok {
			return false, "its name does not match " + pattern + "; --case-file-pattern names another pattern"
		}
	default:
		if !slices.ContainsFunc([]string{".spec.yaml", ".spec.yml", ".spec.json"}, func(s string) bool { return strings.HasSuffix(name, s) }) {
			return false, "its name does not end in .spec." + format
		}
	}
	if filepath.Dir(rel) != "." && !deep {
		return false, "-r searches subfolders too"
	}
	return true, ""
}
