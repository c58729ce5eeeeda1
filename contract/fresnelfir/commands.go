package fresnelfir

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/tools"
	"github.com/thresh-dev/thresh/diag"
)

// Commands implements [campaign.Commander].
func (k *Contract) Commands() []campaign.Command {
	return []campaign.Command{{
		Use:     "fresnelfir",
		Summary: "FresnelFir IR: coverage, diagrams and explanations of models",
		Long: `Commands for FresnelFir IR. thresh run explores a model and its
module; thresh check checks a model.`,
		Commands: []campaign.Command{coverageCommand(), k.graphCommand("graph"), k.graphCommand("diagram"), explainCommand(), compileCommand(), formatCommand(), statesCommand(), conformCommand(), traceCommand()},
	}}
}

// Tools implements [campaign.Toolmaker].
func (k *Contract) Tools(d campaign.ToolDesk) campaign.Toolbox { return tools.New(k.Name(), d) }

func explainCommand() campaign.Command {
	return translation(campaign.Command{
		Use:     "explain MODEL",
		Summary: "Describe a model in sentences",
		Long: `Explain prints a model as Markdown that people read: what there is, what happens in
which order, what actions do, what must hold, and what is claimed of the module.

Exit codes: 0 explained, 2 the model was refused.`,
		Example: `  thresh fresnelfir explain model.json
  thresh fresnelfir explain shop.model.star -o shop.md`,
	}, func(_ campaign.Desk, path string, text []byte) (string, diag.List) { return explain(path, text) })
}

func coverageCommand() campaign.Command {
	return campaign.Command{
		Use:     "coverage [RUN]",
		Summary: "Show what a run covered",
		Long: `Coverage prints, of every FresnelFir campaign of a run, which calls, branches and
inputs were reached, how often each property was put to the test, and what nothing
can reach, with the reason.

RUN is a run id, a unique beginning of one, "latest" (the default) or "latest~1".`,
		Example: `  thresh fresnelfir coverage
  thresh fresnelfir coverage latest~1`,
		Most: 1, Store: true,
		Run: func(_ context.Context, d campaign.Desk, args []string) error {
			list, err := exploredIn(d, latest(args))
			if err != nil {
				return err
			}
			for _, c := range list {
				for _, e := range c.Exhibits {
					switch {
					case e.Matrix != nil:
						printTable(d.Out(), c.Name+": "+e.Title, pairTable(e.Matrix))
					case e.Table != nil && e.Title != "Directives":
						printTable(d.Out(), c.Name+": "+e.Title, e.Table)
					}
				}
			}
			return nil
		},
	}
}

// latest returns the run that is named, or "latest".
func latest(args []string) string {
	return append(args, "latest")[0]
}

// pairTable lists the pairs in a matrix that are to be covered.
func pairTable(m *campaign.Matrix) *campaign.Table {
	t := &campaign.Table{Columns: []string{"inputs", "status", "why"}}
	for i, row := range m.Cells {
		for k, cell := range row {
			status := "pending"
			switch {
			case cell.Note != "":
				status = "unreachable"
			case cell.Total == 0: // not requested
				continue
			case cell.Hits > 0:
				status = "hit"
			}
			t.Rows = append(t.Rows, []string{m.Rows[i] + ", " + m.Columns[k], status, cell.Note})
		}
	}
	return t
}

// exploredIn returns the campaigns of the contract in a stored run.
func exploredIn(d campaign.Desk, run string) ([]campaign.CampaignRecord, error) {
	rec, err := d.Record(run)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(slices.Clone(rec.Campaigns), func(c campaign.CampaignRecord) bool { return c.Contract != "fresnelfir" })
	if len(list) == 0 {
		return nil, diag.Refused("run %s has no FresnelFir campaign", rec.RunID)
	}
	return list, nil
}

// printTable prints a table with aligned columns.
func printTable(w io.Writer, title string, t *campaign.Table) {
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	fmt.Fprintf(w, "%s\n", diag.Printable(title))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString("  " + diag.Printable(cell) + strings.Repeat(" ", widths[i]-len([]rune(cell))))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintln(w)
}

// graphCommand returns the verb graph; diagram is an alias.
func (k *Contract) graphCommand(name string) campaign.Command {
	var format, out string
	return campaign.Command{
		Use:     name + " [RUN|MODEL]",
		Summary: "Draw the protocols, with hit counts",
		Long: `It draws the protocols of a run as they were walked, with how often each call was
reached and each branch taken; of a model it draws them as they stand.

The drawing is of the first campaign of the format. Formats: svg, dot (Graphviz).`,
		Example: "  thresh fresnelfir " + name + ` -o protocols.svg
  thresh fresnelfir ` + name + ` model.json --format dot | dot -Tpdf > protocols.pdf`,
		Most: 1, Store: true,
		Flags: func(fs campaign.Flags) {
			fs.StringVar(&format, "format", "svg", "svg or dot")
			fs.StringVarP(&out, "output", "o", "-", "`FILE` to write, - for standard output")
		},
		Values: map[string][]string{"format": {"svg", "dot"}},
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			if format != "svg" && format != "dot" {
				return diag.Refused("--format must be svg or dot, got %q", format)
			}
			e, err := k.protocolGraph(ctx, d, latest(args))
			if err != nil {
				return err
			}
			return d.Write(out, func(w io.Writer) error {
				if format == "dot" {
					return writeDot(w, e.Graph)
				}
				return d.Draw(w, e)
			})
		},
	}
}

// protocolGraph returns the graph of a run, or of a document if what names a file.
func (k *Contract) protocolGraph(ctx context.Context, d campaign.Desk, what string) (*campaign.Exhibit, error) {
	var list []campaign.Exhibit
	if text, err := d.Settings().Read(what); err == nil {
		compiled, diags := k.Compile(ctx, campaign.Spec{Path: what, Data: text}, campaign.Settings{})
		if diags.HasErrors() {
			return nil, diags
		}
		s, _ := campaign.As[campaign.Summarizer[any]](compiled[0])
		list = s.Summarize(compiled[0].Start(campaign.Facts{})).Exhibits
	} else {
		runs, err := exploredIn(d, what)
		if err != nil {
			return nil, err
		}
		list = runs[0].Exhibits
	}
	for i := range list {
		if list[i].Graph != nil {
			return &list[i], nil
		}
	}
	return nil, diag.Refused("%s holds no graph", what)
}

// writeDot writes a graph in Graphviz's language.
func writeDot(w io.Writer, g *campaign.Graph) error {
	var b strings.Builder
	b.WriteString("digraph protocols {\n  node [shape=box, style=rounded];\n")
	for _, n := range g.Nodes {
		style := ""
		if n.Hits == 0 {
			style = ", style=\"rounded,dashed\""
		}
		fmt.Fprintf(&b, "  %q [label=%q%s];\n", n.ID, fmt.Sprintf("%s\n%d", n.Label, n.Hits), style)
	}
	for _, e := range g.Edges {
		label := e.Label
		if label != "" {
			label = fmt.Sprintf("%s\n%d", e.Label, e.Hits)
		}
		fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", e.From, e.To, label)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
