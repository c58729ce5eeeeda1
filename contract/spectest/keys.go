package spectest

import (
	"slices"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// harnessKey is a key of harness and the types of cases that read it.
type harnessKey struct {
	name  string
	types []string
}

// harnessTable is all keys of harness, sorted. always, isolate, system, repeatable and
// timeout_seconds are additions to the contract.
func harnessTable() []harnessKey {
	command := []string{typeCLI}
	sent := []string{typeHTTP, typeCLI, typeSystem}
	return []harnessKey{
		{"always", caseTypes()}, {"block_imports", command}, {"entrypoint", command}, {"env", command}, {"hook_after", command},
		{"hook_before", command}, {"hook_kwargs", command}, {"isolate", command}, {"repeatable", sent},
		{"setup_files", command}, {"spec_lang", caseTypes()}, {"stdin_isatty", command}, {"stdin_text", command},
		{"stub_modules", command}, {"system", []string{typeSystem}}, {"timeout_seconds", sent},
	}
}

// harnessKeys are the keys that harness of a case of a type may have.
func harnessKeys(kind string) []string {
	var list []string
	for _, k := range harnessTable() {
		if slices.Contains(k.types, kind) {
			list = append(list, k.name)
		}
	}
	return list
}

// readBy are the types of cases that read a key of harness.
func readBy(key string) []string {
	for _, k := range harnessTable() {
		if k.name == key {
			return k.types
		}
	}
	return nil
}

// otherHarness looks for keys of harness that a case of type text.file or
// api.http does not read: those of another type fail it, as they would have no
// effect; those that no type knows are ignored, and it is said that they are.
func (d *decoder) otherHarness(harness *doctree.Node) {
	if harness == nil {
		return
	}
	own := harnessKeys(d.c.Type)
	for i := range harness.Members {
		key := &harness.Members[i].Key
		name := textOf(key)
		if types := readBy(name); slices.Contains(types, d.c.Type) {
			continue
		} else if types != nil {
			d.fail(Schema, key.Pos, "unknown-key", "harness."+name, "harness of "+d.c.Type+" has no key "+name+": it is read by "+oneOf(types), "")
			continue
		}
		hint := diag.DidYouMean(name, own)
		if hint == "" {
			hint = d.c.Type + " reads " + oneOf(own)
		}
		d.warn(key, "unknown-key", "harness."+name, "harness of "+d.c.Type+" has no key "+name+"; it is ignored", hint)
	}
}

// flag reads a key that is true or false.
func (d *decoder) flag(harness *doctree.Node, key string, to *bool) {
	n := harness.Get(key)
	switch {
	case n.IsNull():
	case n.Kind != doctree.Bool:
		d.schema(n, "flag", "harness."+key, "harness.%s must be true or false, not %s", key, n.Kind)
	default:
		*to = n.Bool
	}
}

// repeatable reads whether a case may be run again only to confirm its failure.
func (d *decoder) repeatable(harness *doctree.Node, otherwise bool) {
	repeat := otherwise
	d.flag(harness, "repeatable", &repeat)
	switch {
	case repeat:
	case harness.Get("repeatable").IsNull():
		d.c.unrepeatable = d.c.http.method + " may change what it reaches; harness.repeatable: true says that it can be sent again"
	default:
		d.c.unrepeatable = "the case says that it is not repeatable"
	}
}
