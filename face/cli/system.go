package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/diag"
)

func (a *application) systemCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "system",
		Short: "Check system files",
		Long: `A system file describes a system and how to reach it: a program, an HTTP service, a
chat endpoint, an MCP server, Python code, a WebAssembly module or a driver.
"thresh run DOCUMENT --system FILE" tests it instead of the one that the document
names. docs/systems.md documents the format.`,
	}
	c.AddCommand(a.systemCheck())
	return c
}

func (a *application) systemCheck() *cobra.Command {
	var try bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Show a system and its operations; with --try, call it",
		Long: `Check reads a system file and reports all that is wrong with it at once. Then it
starts or connects to the system and lists its operations with their arguments.
With --try it also resets the system and calls one operation: the one that takes
the input, else the first that needs no argument.

Exit codes: 0 the system can be used, 1 a call that was tried failed, 2 the file
was refused, 3 the system could not be reached.`,
		Example: `  thresh system check shop.system.yaml
  thresh system check shop.system.yaml --try`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			checked, err := a.app.CheckSystem(c.Context(), args[0], try)
			a.warn(checked.Diagnostics)
			if checked.Plan == nil && err == nil {
				return exitError(diag.ExitRefused)
			}
			if checked.Plan != nil {
				a.showSystem(&checked)
			}
			if err != nil {
				return err
			}
			for _, t := range checked.Tried {
				switch {
				case t.Err != nil:
					return t.Err
				case t.Observation.End == "unreachable":
					return exitError(diag.ExitEnvironment)
				case t.Observation.End.Failed():
					return exitError(diag.ExitFindings)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&try, "try", false, "reset the system and call one operation")
	return c
}

func (a *application) showSystem(s *app.SystemChecked) {
	out := func(format string, args ...any) { fmt.Fprintln(a.io.Out, printable(fmt.Sprintf(format, args...))) }
	p := s.Plan
	out("%s: %s", p.Name, p.Kind)
	if len(p.Command) > 0 {
		out("  started as  %s", app.ShellLine(p.Command))
	}
	if p.URL != "" {
		out("  called at   %s", p.URL)
	}
	if p.Entry != "" {
		out("  loaded from %s", p.Entry)
	}
	reset := string(p.ResetBy())
	if p.Reset.Operation != "" {
		reset = "operation " + p.Reset.Operation
	}
	out("  reset by    %s", reset)
	if !s.Opened {
		return
	}
	if len(s.Operations) == 0 {
		out("  operations  not listed: a driver takes any; operations in the file name them")
	} else {
		out("  operations")
	}
	for _, o := range s.Operations {
		var args []string
		for _, x := range o.Arguments {
			text := x.Name
			if x.Type != "" {
				text += ": " + x.Type
			}
			if !x.Required {
				text += "?"
			}
			args = append(args, text)
		}
		line := fmt.Sprintf("    %s(%s)", o.Name, strings.Join(args, ", "))
		if o.Method != "" {
			line += "  " + o.Method + " " + o.Path
		}
		if o.Description != "" {
			line += "  " + o.Description
		}
		out("%s", line)
	}
	for _, t := range s.Tried {
		line := fmt.Sprintf("  tried %s: ", t.What)
		switch {
		case t.Err != nil:
			line += "error"
		case t.Observation.Why != "":
			line += string(t.Observation.End) + ": " + t.Observation.Why
		default:
			line += string(t.Observation.End)
			if v := string(t.Observation.Value); v != "" {
				line += " " + v[:min(len(v), 200)]
			}
		}
		out("%s", line)
	}
	for _, n := range s.Notes {
		out("  note        %s", n)
	}
}
