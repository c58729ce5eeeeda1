package spectest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// readExpression parses an expression: a JSON list, or infix notation where $ is the subject.
func readExpression(text string) (f speclang.Form, infix bool, err error) {
	doc, err := jsontree.Parse([]byte(text), jsontree.Python())
	if err == nil {
		return speclang.FormOfJSON(&doc.Root, doc.Position), false, nil
	}
	f, _, ierr := speclang.Infix{Root: "."}.Parse(text)
	if ierr != nil && strings.HasPrefix(strings.TrimSpace(text), "[") {
		return f, false, err
	}
	return f, true, ierr
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*speclang.InfixError](err); ok && e.Hint != "" {
		return e.Hint
	}
	return `an expression is JSON, such as '["contains", "word"]', or len($.list) == 3`
}

// evalSession evaluates expressions one after another.
type evalSession struct {
	budget   Budget
	subject  speclang.Value
	history  []string
	out, err io.Writer
}

const evalHelp = `EXPRESSION           len($.items) == 2, or ["eq", ["len", ["get", ["subject"], "items"]], 2]
:subject JSON        the subject, which $ stands for; without JSON it is shown
:text TEXT           the subject is a text
:functions           the functions of the language
:history, !N, !!     what was evaluated; the Nth of it again, the last again
:quit                the end`

func (s *evalSession) run(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, campaign.MaxDocument)
	for {
		fmt.Fprint(s.err, "> ")
		if !lines.Scan() {
			fmt.Fprintln(s.err)
			return lines.Err()
		}
		line := strings.TrimSpace(lines.Text())
		word, rest, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "!") && !strings.HasPrefix(line, "!=") {
			n, err := strconv.Atoi(line[1:])
			if line == "!!" {
				n, err = len(s.history), nil
			}
			if err == nil && n >= 1 && n <= len(s.history) {
				line, word = s.history[n-1], ""
				fmt.Fprintln(s.err, line)
			}
		}
		switch {
		case line == "":
		case word == ":quit" || word == ":q":
			return nil
		case word == ":help":
			fmt.Fprintln(s.err, evalHelp)
		case word == ":functions":
			fmt.Fprintln(s.out, oneOf(speclang.Symbols()))
		case word == ":history":
			for i, h := range s.history {
				fmt.Fprintf(s.out, "%3d  %s\n", i+1, h)
			}
		case word == ":text":
			s.subject = speclang.StringValue(rest)
		case word == ":subject" && rest == "":
			fmt.Fprintln(s.out, s.subject.JSON())
		case word == ":subject":
			v, err := speclang.ParseJSON(rest)
			if err != nil {
				fmt.Fprintf(s.err, "the subject is not JSON: %v\n", err)
				continue
			}
			s.subject = v
		case strings.HasPrefix(line, ":"):
			hint := cmp.Or(diag.DidYouMean(word, []string{":subject", ":text", ":functions", ":history", ":quit", ":help"}), ":help lists them")
			fmt.Fprintf(s.err, "there is no %s: %s\n", word, hint)
		default:
			s.history = append(s.history, line)
			form, infix, err := readExpression(line)
			if err != nil {
				fmt.Fprintf(s.err, "%v: %s\n", err, hintOf(err))
				continue
			}
			if infix {
				fmt.Fprintf(s.out, "  %s\n", form.String())
			}
			fmt.Fprintf(s.out, "%s\n", Evaluate(form, s.subject, s.budget).JSON)
		}
	}
}
