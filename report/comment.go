package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Limits for each part of a comment. A whole comment has at most 60 lines.
const (
	commentFindings  = 20
	commentFixed     = 5
	commentAlso      = 5
	commentCampaigns = 8
	commentWarnings  = 5
)

// writeMarkdown writes a comment for a merge request or a step summary: new findings first, then by
// severity.
func writeMarkdown(w io.Writer, rec campaign.Record, opt Options) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	verdict := map[string]string{"pass": "✅", "fail": "❌"}[verdictWord(&rec)]
	since := opt.Since
	fs := since.ordered(&rec)
	groups := causes(fs)
	line("## %s Thresh: %s", cmp.Or(verdict, "⚠️"), headline(&rec))
	line("")
	if !rec.Complete {
		line("**This run is %s.** What was not run was not judged.", md(incomplete(&rec)))
		line("")
	}
	if since != nil {
		text := strings.ToUpper(since.Sentence()[:1]) + md(since.Sentence()[1:]) + "."
		if since.Anyway != "" {
			text += " Compare anyway: " + code(since.Anyway)
		}
		line("%s", text)
		line("")
	}
	if len(fs) > 0 {
		line("| | Finding | Where | Reproduce |")
		line("|---|---|---|---|")
	}
	for _, group := range groups[:min(len(groups), commentFindings)] {
		f := group[0]
		mark := f.Severity.String()
		if k := since.accepted(f); k != nil {
			mark += ", " + md(head(k.words(), 160))
		} else if m := since.mark(f); m == "new" {
			mark = "**new** " + mark
		} else if m != "" {
			mark += ", " + m
		}
		if f.Flaky {
			mark += ", flaky"
		}
		where := md(f.Campaign) + ", " + plural(f.Cases, "case")
		if at := frameOf(f); at != nil {
			where += ", " + code(fmt.Sprintf("%s:%d", at.Name, at.Line))
		}
		title := md(head(f.Title, 160))
		if n := len(group); n > 1 {
			title += fmt.Sprintf("; 1 cause, %s: also", plural(n, "finding"))
			for _, x := range group[1:min(n, 1+commentAlso)] {
				title += " " + code(x.ID)
				if m := since.mark(x); m != "" && m != since.mark(f) {
					title += " (" + m + ")"
				}
			}
			if n > 1+commentAlso {
				title += " and others"
			}
		}
		line("| %s | %s | %s | %s |", mark, title, where, code(shellQuote(f.Reproduce)))
	}
	if more := len(slices.Concat(groups[min(len(groups), commentFindings):]...)); more > 0 {
		line("")
		line("And %s.", plural(more, "more finding"))
	}
	if since != nil && len(since.Fixed) > 0 {
		line("")
		line("Fixed:")
		for _, f := range since.Fixed[:min(len(since.Fixed), commentFixed)] {
			line("- %s %s", code(f.ID), md(head(f.Title, 160)))
		}
		if more := len(since.Fixed) - commentFixed; more > 0 {
			line("- and %s more", count(more))
		}
	}
	line("")
	line("| Campaign | Run | Pass | Fail | Skip | Error | Score |")
	line("|---|--:|--:|--:|--:|--:|--:|")
	for i, c := range rec.Campaigns {
		if i == commentCampaigns && len(rec.Campaigns) > commentCampaigns+1 {
			line("| and %s | | | | | | |", plural(len(rec.Campaigns)-i, "more campaign"))
			break
		}
		score := "–"
		if c.Score != nil {
			score = Score(*c.Score)
		}
		n := c.Cases
		line("| %s | %s | %s | %s | %s | %s | %s |", md(c.Name), count(n.Run), count(n.Pass), count(n.Fail), count(n.Skip), count(n.Error), score)
	}
	if len(rec.Warnings) > 0 {
		line("")
		for _, x := range rec.Warnings[:min(len(rec.Warnings), commentWarnings)] {
			line("- ⚠️ %s", md(head(x, 240)))
		}
		if more := len(rec.Warnings) - commentWarnings; more > 0 {
			line("- and %s", plural(more, "more warning"))
		}
	}
	line("")
	from := sourceOf(&rec)
	if from != "" {
		from = ", commit " + md(from)
	}
	if ci := originOf(&rec).CI; strings.HasPrefix(ci, "http") && !strings.ContainsAny(ci, "<> \t\r\n") { // the address cannot break out of a link
		from += ", [CI job](<" + ci + ">)"
	}
	digest := ""
	if rec.Digest != "" { // the run came to its end
		digest = ", digest " + code(short(rec.Digest))
	}
	line("Run %s%s, %s%s.", code(rec.RunID), digest, casesRun(&rec), from)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write markdown report of run %s: %w", rec.RunID, err)
	}
	return nil
}

// mdText escapes untrusted text in a line or a cell of Markdown, so that it makes no markup,
// mentions nobody and contains no link.
var mdText = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "#", "&#35;", "://", "&#58;//", "www.", "www&#46;")

func md(text string) string { return mdText.Replace(brief(text)) }

// code returns untrusted text as code in a cell of Markdown.
func code(text string) string {
	text = brief(text)
	if text == "" {
		return ""
	}
	longest, n := 0, 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		text = " " + text + " "
	}
	return fence + strings.ReplaceAll(text, "|", `\|`) + fence
}
