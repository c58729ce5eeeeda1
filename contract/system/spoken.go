package system

import (
	"slices"
	"time"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// internal is how runtimes speak, in answers that say that a call was refused.
var internal = lazy.Pattern(`Traceback \(most recent call last\)|\b(KeyError|TypeError|AttributeError|IndexError|NameError|ZeroDivisionError|UnboundLocalError|` +
	`RecursionError|AssertionError|UnicodeDecodeError|UnicodeEncodeError|ReferenceError|RangeError|URIError|NullPointerException|SegmentationFault)\b|` +
	`unsupported operand type|object is not (subscriptable|iterable|callable)|'NoneType'|index out of range|division by zero|` +
	`Cannot read propert(y|ies) of|is not a function|nil pointer dereference|has no attribute|maximum recursion depth|must be str, not|` +
	`can only concatenate|not supported between instances|invalid literal for int|Error executing tool [^:]+: '[^' ]*'$|` +
	`math domain error|cannot convert float (NaN|infinity) to integer|int too large to convert|values to unpack|pop from an? empty|x not in list|` +
	`dictionary changed size|is not JSON serializable|codec can't (de|en)code|Out of range float values|Maximum call stack size|Invalid time value|URI malformed|` +
	`Invalid (array|string) length|Cannot convert undefined or null|is not iterable|SQLSTATE\[|\bORA-\d{5}:|no such (table|column): |You have an error in your SQL syntax|(psycopg2?|sqlite3|sqlalchemy|pymysql|java|javax|System)(\.\w+)+(Error|Exception)|slice bounds out of range|integer divide by zero|on a .None. value`)

// reported is where an answer is a report of an error; aboutErrors are operations that may
// give such reports out, and softly what is said of a thing that was only marked as deleted.
var (
	reported    = lazy.Pattern(`(?im)(?:^|")\s*(?:[a-z,]+ ){0,5}[\w.]*(?:(?:error|exception|failed|failure)\b(?: occurred)? ?[:(]|traceback \()[^"\n]*`)
	aboutErrors = lazy.Pattern(`(?i)log|error|trace|issue|exception|crash|incident|debug|explain`)
	softly      = lazy.Pattern(`(?i)delet|remov|archiv|cancel|trash|inactive|gone`)
	given       = lazy.Pattern(`got \w+, `) // of which type a value is does not make another cause
)

// ofPatterns is how runtimes refuse a regular expression, and aboutPatterns an operation that
// may expect one.
var (
	ofPatterns    = lazy.Pattern(`Invalid regular expression: /|unterminated (character set|subpattern)|nothing to repeat at position|bad escape \(end of pattern\)|error parsing regexp`)
	aboutPatterns = lazy.Pattern(`(?i)reg(ular|ex)|pattern|expression`)
)

// ofDates is how runtimes speak of days that do not exist, and date of dates in a call.
var (
	ofDates = lazy.Pattern(`day is out of range for month|year -?\d+ is out of range|date value out of range|month must be in 1\.\.12`)
	date    = lazy.Pattern(`\d{4}-\d\d-\d\d`)
)

// runtimeError is what a runtime says in the answer to a call, "" if nothing. What it says
// of dates may be a refusal where the call has one that does not exist, or none, and what it
// says of a regular expression where the operation takes one.
func runtimeError(op *sut.Operation, answer string, args []byte) string {
	if phrase := internal().FindString(answer); phrase != "" {
		return phrase
	}
	if phrase := ofPatterns().FindString(answer); phrase != "" && !aboutPatterns().MatchString(op.Name+op.Description) && !aboutPatterns().Match(op.Schema) {
		return phrase
	}
	dates := date().FindAllString(string(args), -1)
	if len(dates) == 0 || slices.ContainsFunc(dates, func(d string) bool { _, err := time.Parse(time.DateOnly, d); return err != nil }) {
		return ""
	}
	return ofDates().FindString(answer)
}
