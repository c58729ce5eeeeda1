package cli

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"runtime/debug"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// component is a module in CycloneDX 1.5.
type component struct {
	Type    string       `json:"type"`
	Name    string       `json:"name"`
	Version string       `json:"version"`
	PURL    string       `json:"purl"`
	Ref     string       `json:"bom-ref"`
	Hashes  []moduleHash `json:"hashes,omitempty"`
}

type moduleHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// sbom writes what a Go binary was built from. The list has no date and no serial number, so equal
// binaries have equal lists.
func (a *application) sbom(of, out string) error {
	info, ok := debug.ReadBuildInfo()
	if of != "" {
		var err error
		if info, err = buildinfo.ReadFile(of); err != nil {
			return diag.Refused("read what %s was built from: %w", of, err)
		}
	} else if !ok {
		return diag.Environment("this program was built without a list of its modules")
	}
	main := componentOf(&info.Main)
	main.Type = "application"
	parts := []component{{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Ref: "std"}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, componentOf(m))
	}
	return a.output(out, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{
			"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
			"metadata": map[string]any{"component": main}, "components": parts,
		})
	})
}

// componentOf describes a module. The checksum is Go's own, over the hashes of the files.
func componentOf(m *debug.Module) component {
	c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version, Ref: m.Path + "@" + m.Version}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == 32 {
		c.Hashes = []moduleHash{{"SHA-256", hex.EncodeToString(sum)}}
	}
	return c
}
