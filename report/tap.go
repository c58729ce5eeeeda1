package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

func writeTAP(w io.Writer, rec campaign.Record, opt Options) error {
	var b strings.Builder
	list, err := named(&rec, opt)
	if err != nil {
		return fmt.Errorf("write tap report of run %s: %w", rec.RunID, err)
	}
	n := 0
	for _, s := range list {
		n += len(s.Points)
		if s.Campaign != nil {
			n++
		}
	}
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n# run %s digest %s\n", n, visible(rec.RunID), visible(rec.Digest))
	at := 0
	for _, s := range list {
		if s.Campaign != nil {
			at++
			tapCampaign(&b, at, s)
		}
		for _, p := range s.Points {
			at++
			tapPoint(&b, at, p)
		}
	}
	for _, warning := range rec.Warnings {
		fmt.Fprintf(&b, "# warning: %s\n", visible(warning))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write tap report of run %s: %w", rec.RunID, err)
	}
	return nil
}

// tapCampaign writes a campaign's line: ok unless one of its points is not.
func tapCampaign(b *strings.Builder, at int, s suite) {
	word := "ok"
	for _, p := range s.Points {
		if p.Status == failed || p.Status == errored {
			word = "not ok"
		}
	}
	c := s.Campaign
	fmt.Fprintf(b, "%s %d - %s\n", word, at, tapText("campaign "+c.Contract+" "+c.Name))
	block := tapBlock{b}
	block.open()
	block.value("source", c.Source)
	block.value("cases", c.Cases)
	if c.Score != nil {
		block.value("score", finite(*c.Score))
	}
	block.close()
}

func tapPoint(b *strings.Builder, at int, p point) {
	word, directive := "ok", ""
	switch p.Status {
	case failed, errored:
		word = "not ok"
	case skipped:
		directive = strings.TrimRight(" # SKIP "+tapText(p.Detail), " ")
	}
	fmt.Fprintf(b, "%s %d - %s%s\n", word, at, tapText(p.Name), directive)
	if f := p.Finding; f != nil {
		block := tapBlock{b}
		block.open()
		block.value("message", f.Title)
		block.value("severity", f.Severity.String())
		block.value("kind", f.Kind)
		block.value("fingerprint", f.Fingerprint)
		block.value("cases", f.Cases)
		block.value("flaky", f.Flaky)
		block.value("reproduce", shellQuote(f.Reproduce))
		block.close()
	} else if p.Detail != "" && p.Status != skipped {
		block := tapBlock{b}
		block.open()
		block.value("message", p.Detail)
		block.close()
	}
}

// tapBlock writes a YAML diagnostic block. Its values are JSON on one line, which every YAML reader
// understands in the same way.
type tapBlock struct{ b *strings.Builder }

func (t tapBlock) open()  { t.b.WriteString("  ---\n") }
func (t tapBlock) close() { t.b.WriteString("  ...\n") }

func (t tapBlock) value(key string, v any) {
	if s, ok := v.(string); ok {
		v = join(pieces(s, true))
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("tap: " + err.Error()) // values are only strings, booleans, finite numbers and counts
	}
	fmt.Fprintf(t.b, "  %s: %s\n", key, bytes.TrimSpace(buf.Bytes()))
}

// tapText returns a description on one line, without anything that could be read as a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(visible(s))
}
