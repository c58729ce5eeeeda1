package app

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Options checks options of contracts and returns them in the form that contracts take.
func (a *App) Options(given map[string][]string) (map[string][]string, error) {
	known := make(map[string]campaign.Option)
	var names []string
	for _, c := range a.Contracts {
		for _, o := range c.Options() {
			known[o.Name] = o
			names = append(names, o.Name)
		}
	}
	checked := make(map[string][]string, len(given))
	for name, values := range given {
		o, ok := known[name]
		if !ok {
			err := diag.Refused("there is no option %q", name)
			if hint := diag.DidYouMean(name, names); hint != "" {
				err = diag.WithHint(err, hint)
			}
			return nil, err
		}
		for _, v := range values {
			v, err := OptionValue(o, v)
			if err != nil {
				return nil, err
			}
			if !o.Many {
				checked[name] = nil // the last one counts
			}
			checked[name] = append(checked[name], v)
		}
	}
	return checked, nil
}

// OptionValue checks a value of an option and returns it in the form that contracts take.
func OptionValue(o campaign.Option, v string) (string, error) {
	if o.Bool {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return "", diag.Refused("--%s must be true or false, got %q", o.Name, v)
		}
		return strconv.FormatBool(b), nil
	}
	if len(o.Values) > 0 && !slices.Contains(o.Values, v) {
		err := diag.Refused("--%s must be one of %s, got %q", o.Name, strings.Join(o.Values, ", "), v)
		if h := diag.DidYouMean(v, o.Values); h != "" {
			return "", diag.WithHint(err, h)
		}
		return "", err
	}
	if o.Program && v != o.NoPath && !strings.HasPrefix(v, campaign.Self) {
		return filepath.Abs(v)
	}
	return v, nil
}

// recursive is the option that searches named folders and the folders below them for documents.
const recursive = "recursive"

// idle warns of options that no document uses. Two options never count as unused, because they
// select documents of any format: the share of cases, and the search of folders (thresh promote
// says "run -r" whatever it wrote).
func idle(docs []Document, given map[string][]string) diag.List {
	var list diag.List
	if len(docs) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		used := slices.ContainsFunc(docs, func(d Document) bool {
			return slices.ContainsFunc(d.Contract.Options(), func(o campaign.Option) bool { return o.Name == name })
		})
		if !used && name != ShardOption && name != recursive {
			list = append(list, diag.Diagnostic{
				Code: "input.idle-option", Level: diag.Warning, Pos: diag.Pos{File: docs[0].Path},
				Message: "--" + name + " has no effect on documents of these formats",
				Hint:    "thresh run --help names the format behind each option",
			})
		}
	}
	return list
}
