package system

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// references returns the calls that create or list what arguments outside the path name: order_id
// names one of /orders, and sku one of /products/{sku}.
func references(all []usage, u *usage, before []earlier) ([]earlier, []take) {
	if len(u.valid[0]) == 0 || u.op.Method == "" {
		return before, nil
	}
	var takes []take
	args, _ := arguments(u.valid[0][len(u.valid[0])-1].Args) // written by this package
	for _, a := range args {
		if inPath(u.op, a.Name) || !single(a.Value) {
			continue
		}
		noun := strings.ToLower(ending().ReplaceAllString(a.Name, ""))
		for i := range all {
			path, name, item := strings.Cut(strings.TrimSuffix(all[i].op.Path, "}"), "/{")
			things := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
			if strings.ContainsAny(name, "{}/") || path == u.op.Path || !(item && name == a.Name && !commonName().MatchString(name)) && (noun == "" || noun == strings.ToLower(a.Name) || !plural(noun, strings.NewReplacer("_", "", "-", "").Replace(things))) {
				continue
			}
			maker := makerAt(all, path)
			if maker == nil {
				continue
			}
			step := slices.IndexFunc(before, func(e earlier) bool { return e.Operation == maker.op.Name })
			if step < 0 && len(before) < 6 {
				step, before = len(before), append(slices.Clip(before), maker.after(nil))
			}
			if step >= 0 {
				takes = append(takes, take{a.Name, step, a.Name})
			}
			break
		}
	}
	return before, takes
}

// inPath reports whether an argument is part of the path.
func inPath(o *sut.Operation, name string) bool { return slices.Contains(placesOf(o), name) }

// commonName matches names that anything may have.
var commonName = lazy.Pattern(`(?i)^(id|key|name|no|number|ref|type|kind|version|lang|language)$`)

// plural reports whether a word of a path is the plural of a noun.
func plural(noun, things string) bool {
	noun = strings.NewReplacer("_", "", "-", "").Replace(noun)
	return things == noun || things == noun+"s" || things == noun+"es" || things == strings.TrimSuffix(noun, "y")+"ies"
}
