// Package markup fills in HTML templates and escapes each value for its place:
// in text, in a quoted attribute, in an address.
//
// The language is that of html/template, parsed by the same parser, without
// pipes, methods and unquoted values, which are errors when the template is
// parsed. html/template itself finds methods by name at run time, for which the
// linker must keep every exported method of the whole program; RATIONALE.md has
// the figures.
//
// It imports neither contracts nor anything that reaches a system.
package markup
