package spectest

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// imported is a document made of another tool's, and what it could not say.
type imported struct {
	strings.Builder
	file string
	list diag.List
}

func (m *imported) report(level diag.Level, line int, source, format string, args ...any) {
	m.list = append(m.list, diag.Diagnostic{Code: "spectest.syntax", Level: level, Pos: diag.Pos{File: m.file, Line: line, Col: 1}, Message: fmt.Sprintf(format, args...), Source: source})
}

func importCommand() campaign.Command {
	return campaign.Command{
		Use:     "import FORMAT FILE",
		Summary: "Convert cram tests, Hurl files or curl command lines into a document",
		Long: `Import reads tests of another tool and prints a Markdown document. FORMAT is cram
(a .t file, which becomes transcripts), hurl (a .hurl file, whose entries become cases
of type api.http that run one after the other) or curl (command lines, which become
such cases); FILE may be - for standard input. What has no counterpart is
reported with its line: an error if the document would say something else.

Exit codes: 0 all of it was imported, perhaps with warnings, 2 it was refused.`,
		Example: `  thresh spectest import cram tests/list.t > list.md
  thresh spectest import hurl shop.hurl > shop.spec.md
  echo "curl -H 'Accept: text/plain' http://localhost:8080/orders" | thresh spectest import curl - > orders.spec.md`,
		Least: 2, Most: 2,
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			read := map[string]func(*imported, string){"cram": fromCram, "hurl": fromHurl, "curl": fromCurl}[args[0]]
			if read == nil {
				err := diag.Refused("cannot import from %s: the formats are cram, curl and hurl", args[0])
				if hint := diag.DidYouMean(args[0], []string{"cram", "curl", "hurl"}); hint != "" {
					err = diag.WithHint(err, hint)
				}
				return err
			}
			in := io.NopCloser(d.In())
			if args[1] != "-" {
				f, err := d.Open(args[1])
				if err != nil {
					return diag.Refused("%s: %s", args[1], diag.Reason(err))
				}
				in = f
			}
			defer in.Close()
			text, err := io.ReadAll(io.LimitReader(in, campaign.MaxDocument))
			if err != nil {
				return diag.Environment("%s: %s", args[1], diag.Reason(err))
			}
			m := &imported{file: args[1]}
			read(m, strings.ReplaceAll(string(text), "\r\n", "\n"))
			if m.Len() == 0 && !m.list.HasErrors() {
				m.report(diag.Error, 1, "", "there is nothing to import")
			}
			if m.list.HasErrors() {
				return m.list
			}
			d.Warn(m.list)
			_, err = io.WriteString(d.Out(), m.String())
			return err
		},
	}
}
