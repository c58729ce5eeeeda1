package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/report"
)

// versionFacts is what thresh version --json prints.
type versionFacts struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Revision string   `json:"revision,omitempty"` // of the source, if the build knows it
	Modified bool     `json:"modified,omitempty"` // the source had uncommitted changes
	Formats  []string `json:"formats"`
	Reports  []string `json:"reports"`
	Modules  []module `json:"modules"`
}

type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"`
}

func (a *application) versionCommand() *cobra.Command {
	var asJSON, parts bool
	var of, out string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what it was built from",
		Example: `  thresh version
  thresh version --json | jq -r '.modules[].path'
  thresh version --sbom --of ./thresh --output thresh.cdx.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if parts {
				return a.sbom(of, out)
			}
			if of != "" || out != "-" {
				return usagef("--of and --output go with --sbom")
			}
			v := a.version()
			if asJSON {
				enc := json.NewEncoder(a.io.Out)
				enc.SetIndent("", "  ")
				return enc.Encode(v)
			}
			fmt.Fprintf(a.io.Out, "thresh %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "JSON, with the formats, the reports and the modules it is built from")
	c.Flags().BoolVar(&parts, "sbom", false, "a bill of materials in CycloneDX: every module with its checksum")
	c.Flags().StringVar(&of, "of", "", "the Go binary `FILE` instead of this program, for --sbom")
	c.Flags().StringVarP(&out, "output", "o", "-", "`FILE` for --sbom, - for standard output")
	return c
}

func (a *application) version() versionFacts {
	v := versionFacts{Version: app.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Formats: []string{}, Modules: []module{}}
	for _, k := range a.app.Contracts {
		v.Formats = append(v.Formats, k.Name())
	}
	for _, f := range report.Formats() {
		v.Reports = append(v.Reports, f.Name)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		v.Modules = append(v.Modules, module{m.Path, m.Version, m.Sum})
	}
	return v
}
