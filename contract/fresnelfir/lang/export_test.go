package lang

import (
	"maps"
	"slices"
)

// Words are the words of the language.
func Words() []string {
	list := slices.Concat(builtins, collections, options, slices.Sorted(maps.Keys(constructors)), []string{"any", "new", "require", "weight", "call"})
	for _, m := range methods {
		list = append(list, m...)
	}
	return slices.DeleteFunc(list, func(w string) bool { return w == "function" })
}

// Keys are the arguments that words have by name.
var Keys = keys
