package docs_test

import (
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packagesOf is every package of the main module with what its comment says
// first, by folder.
func packagesOf(t *testing.T) map[string]string {
	t.Helper()
	list := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (nested == nil || strings.HasPrefix(name, ".") || name == "testdata" || name == "artifacts") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(rel)
		text := strings.ReplaceAll(new(doc.Package).Synopsis(f.Doc.Text()), "|", "\\|")
		if list[dir] == "" || text != "" {
			list[dir] = text
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The page names every package, in its own words.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	list := packagesOf(t)
	var b strings.Builder
	b.WriteString("| package | what it is for |\n|---|---|\n")
	dirs := make([]string, 0, len(list))
	for dir := range list {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		name, link := dir, "../"+dir
		if dir == "." {
			name, link = "thresh", "../thresh.go"
		}
		b.WriteString("| [`" + name + "`](" + link + ") | " + list[dir] + " |\n")
	}
	generated(t, "docs/architecture.md", "packages", b.String())
}
