package draft

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Draft is a document and what belongs to it.
type Draft struct {
	Format   string          // the contract's name
	Folder   string          // where the files go; "" if Document stands already
	Document string          // the file, or folder, that is run; relative to Folder
	Files    []campaign.File // relative to Folder
	// Options are flags that the format has no key for.
	Options []Option
	// Next are the words before the document of the command to type next; nil: run.
	Next []string
	// Why are sentences on what was found and decided.
	Why []string
	// Doubt is why a run that finds nothing would say little; "": nothing is known against it.
	Doubt string
	// Questions are what could not be known.
	Questions []Question
}

// Option is a flag of run and check.
type Option struct{ Name, Value string }

// Question is what the user knows better, and where to say it.
type Question struct {
	Ask string
	// Line is a part of the line of the document to edit.
	Line string
	Flag string // that answers it, where the format has no key
	At   string // FILE:LINE of a page that stands already
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

// Place returns where a question is answered: FILE:LINE, or the flag.
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

// Words returns the words that follow a verb to work on the document.
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

// describe is what is known and asked, as one text.
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
