package draft

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Draft is a document with its other files.
type Draft struct {
	Format   string          // the contract's name
	Folder   string          // destination of the files; "" if Document already exists
	Document string          // file or folder to run; relative to Folder
	Files    []campaign.File // relative to Folder
	// Options are flags for which the format has no key.
	Options []Option
	// Next are the words before the document in the command to type next; nil: run.
	Next []string
	// Why lists sentences about findings and decisions.
	Why []string
	// Doubt is why a run that finds nothing would mean little; "": no reason is known.
	Doubt string
	// Questions ask for what could not be determined.
	Questions []Question
}

// Option is a flag of run and check.
type Option struct{ Name, Value string }

// Question asks for what the user knows better, with the place to answer.
type Question struct {
	Ask string
	// Line is a part of the line of the document to edit.
	Line string
	Flag string // flag that answers it, if the format has no key
	At   string // FILE:LINE of an existing page
}

func (d *Draft) option(name, value string) { d.Options = append(d.Options, Option{name, value}) }

func (d *Draft) why(format string, args ...any) { d.Why = append(d.Why, fmt.Sprintf(format, args...)) }

func (d *Draft) askFlag(flag, format string, args ...any) {
	d.Questions = append(d.Questions, Question{Ask: fmt.Sprintf(format, args...), Flag: flag})
}

func (d *Draft) ask(line, format string, args ...any) {
	d.Questions = append(d.Questions, Question{Ask: fmt.Sprintf(format, args...), Line: line})
}

// Path returns the document's path.
func (d *Draft) Path() string { return filepath.Join(d.Folder, d.Document) }

// Place returns the place to answer a question: FILE:LINE, or the flag.
func (d *Draft) Place(q Question) string {
	if q.At != "" {
		return q.At
	}
	if q.Flag != "" {
		return "--" + q.Flag
	}
	for _, f := range d.Files {
		if at := bytes.Index(f.Data, []byte(q.Line)); at >= 0 {
			return fmt.Sprintf("%s:%d", filepath.Join(d.Folder, f.Name), 1+bytes.Count(f.Data[:at], []byte("\n")))
		}
	}
	return d.Path()
}

// Words returns the words after a verb that works on the document.
func (d *Draft) Words(document string) []string {
	words := []string{document}
	for _, o := range d.Options {
		switch {
		case o.Value == "":
			words = append(words, "--"+o.Name)
		default:
			words = append(words, "--"+o.Name, o.Value)
		}
	}
	return words
}

// describe joins reasons and questions to one text.
func (d *Draft) describe() string {
	var b strings.Builder
	for _, w := range d.Why {
		b.WriteString(w + " ")
	}
	for _, q := range d.Questions {
		b.WriteString("QUESTION: " + q.Ask + " ")
	}
	return strings.TrimSpace(b.String())
}
