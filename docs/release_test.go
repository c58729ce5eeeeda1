package docs_test

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// licences are the ones that dependencies may have, with words of each.
var licences = []struct{ name, words string }{
	{"Apache-2.0", `Apache License\s+Version 2\.0`},
	{"MIT", `Permission is hereby granted, free of charge`},
	{"BSD", `Redistribution and use in source and binary forms`},
	{"ISC", `Permission to use, copy, modify, and/or distribute`},
}

// Every module that the program is built from has a licence that allows it, and
// stands on the page of licences.
func TestLicences(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./cmd/thresh")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // the same on every machine
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(strings.ReplaceAll(string(out), " ", "\x00"))
	slices.Sort(lines)
	var b strings.Builder
	b.WriteString("\n| module | licence |\n|---|---|\n")
	for _, line := range slices.Compact(lines) {
		path, dir, _ := strings.Cut(line, "\x00")
		files, _ := filepath.Glob(filepath.Join(dir, "LICEN[CS]E*"))
		if len(files) == 0 {
			t.Errorf("%s has no licence", path)
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for _, l := range licences {
			if name == "" && regexp.MustCompile(l.words).Match(text) {
				name = l.name
			}
		}
		if name == "" {
			t.Errorf("%s has a licence that is not among those that are allowed: %s", path, files[0])
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", path, name)
	}
	generated(t, "docs/licences.md", "licences", b.String())
}

// The release's configuration names files that are there, and makes static
// binaries for six targets. Its own checker needs a network.
func TestReleaseConfiguration(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("releases are made on Linux")
	}
	data, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Version int
		Builds  []struct {
			Main                     string
			Env, Flags, Goos, Goarch []string
		}
		Archives []struct{ Files []string }
		Dockers  []struct {
			Dockerfile string
			Files      []string `yaml:"extra_files"`
		}
		Signs []struct {
			Cmd, Signature string
			Args           []string
		}
		Nfpms []struct {
			Formats  []string
			Contents []struct{ Src string }
		}
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	b := c.Builds[0]
	if c.Version != 2 || len(b.Goos)*len(b.Goarch) != 6 || !slices.Contains(b.Env, "CGO_ENABLED=0") || !slices.Contains(b.Flags, "-trimpath") {
		t.Errorf("the build: %+v", b)
	}
	dir := t.TempDir()
	made := exec.CommandContext(t.Context(), "bash", "packaging/prepare", filepath.Join(dir, "build"))
	made.Dir, made.Env = root, append(os.Environ(), "THRESH="+thresh(t))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := []string{b.Main}
	files = append(files, c.Archives[0].Files...)
	for _, d := range c.Dockers {
		files = append(append(files, d.Dockerfile), d.Files...)
	}
	for _, x := range c.Nfpms[0].Contents {
		files = append(files, x.Src)
	}
	for _, f := range files {
		from := root
		if strings.HasPrefix(f, "build/") {
			from = dir
		}
		if found, err := filepath.Glob(filepath.Join(from, f)); err != nil || len(found) == 0 {
			t.Errorf("the release names %s, and there is none", f)
		}
	}
	signed(t, dir, c.Signs[0].Cmd, c.Signs[0].Args, c.Signs[0].Signature)
	bin := filepath.Join(dir, "build", "thresh")
	inImage(t, dir, bin)
	var sbom [2][]byte
	for i, args := range [][]string{{"version", "--sbom"}, {"version", "--sbom", "--of", bin}} {
		if sbom[i], err = exec.CommandContext(t.Context(), bin, args...).Output(); err != nil {
			t.Fatal(err)
		}
	}
	if string(sbom[0]) != string(sbom[1]) {
		t.Error("the program lists other parts for itself than for its file")
	}
	var parts struct {
		BOMFormat  string
		Components []struct {
			Name, PURL string
			Hashes     []struct{ Content string }
		}
	}
	if err := json.Unmarshal(sbom[0], &parts); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(parts.Components, func(c struct {
		Name, PURL string
		Hashes     []struct{ Content string }
	}) bool {
		return c.Name == "github.com/spf13/cobra"
	})
	if parts.BOMFormat != "CycloneDX" || i < 0 || len(parts.Components[i].Hashes) != 1 || !strings.HasPrefix(parts.Components[i].PURL, "pkg:golang/github.com/spf13/cobra@v") {
		t.Errorf("the list of parts: %s", sbom[0])
	}
}

// signed signs checksums as the configuration says, with a key made here, and
// verifies them with the page's command: as they are, and with a byte changed.
func signed(t *testing.T, dir, cmd string, args []string, signature string) {
	t.Helper()
	if _, err := exec.LookPath(cmd); err != nil {
		if os.Getenv("THRESH_CI") != "" {
			t.Error(err)
		}
		return
	}
	sums, key := filepath.Join(dir, "checksums.txt"), filepath.Join(dir, "key")
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(sums, []byte("0123  thresh_linux_amd64.tar.gz\n"), 0o600))
	must(exec.CommandContext(t.Context(), cmd, "-q", "-t", "ed25519", "-N", "", "-f", key).Run())
	fill := strings.NewReplacer("${artifact}", sums, "{{ .Env.THRESH_SIGNING_KEY }}", key)
	for i := range args {
		args[i] = fill.Replace(args[i])
	}
	if out, err := exec.CommandContext(t.Context(), cmd, args...).CombinedOutput(); err != nil {
		t.Fatalf("signing: %v\n%s", err, out)
	}
	if _, err := os.Stat(fill.Replace(signature)); err != nil {
		t.Error(err)
	}
	public, err := os.ReadFile(key + ".pub")
	must(err)
	must(os.WriteFile(filepath.Join(dir, "signers"), append([]byte("releases@thresh.dev "), public...), 0o600))
	line := regexp.MustCompile(`(?m)^ssh-keygen -Y verify .*$`).FindString(pageNamed(t, "docs/install.md").text)
	for _, change := range []string{"", "changed"} {
		verify := exec.CommandContext(t.Context(), "sh", "-c", "printf '"+change+"' >> checksums.txt && "+line)
		verify.Dir = dir
		if out, err := verify.CombinedOutput(); (err == nil) != (change == "") {
			t.Errorf("verifying checksums %s: %v\n%s", change, err, out)
		}
	}
}

// inImage runs the program where there is nothing else but what the smallest image
// has, as packaging/Dockerfile lays it out.
func inImage(t *testing.T, dir, bin string) {
	t.Helper()
	chroot, err := exec.LookPath("chroot")
	if err != nil || os.Getuid() != 0 {
		t.Log("the image is tried by root alone")
		return
	}
	// Compiling everything once more without cgo takes longer than all tests of this package.
	if program, err := elf.Open(bin); err != nil || slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Log("the image is tried where CGO_ENABLED=0 makes programs that need no loader, as .ci/run does")
		return
	}
	image := filepath.Join(dir, "image")
	if err := os.Mkdir(image, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"tar", "-xpf", filepath.Join(dir, "build", "root.tar"), "-C", image}, {"cp", bin, image},
		{"env", "-u", "TMPDIR", chroot, "--userspec=65534:65534", image, "/thresh", "doctor"}, // whoever runs it; folders of this machine are not there
	} {
		if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(image, "etc/ssl/certs/ca-certificates.crt")); err != nil {
		t.Error("https has no certificates: ", err)
	}
}
