package system

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// internal matches messages of runtimes in answers that report a refusal: names of exceptions, and
// phrases of Python, JavaScript, the virtual machines, Go and Rust, PHP and Ruby, and databases.
var internal = lazy.Pattern(`Traceback \(most recent call last\)|\b(KeyError|TypeError|AttributeError|IndexError|NameError|ZeroDivisionError|UnboundLocalError|` +
	`RecursionError|AssertionError|UnicodeDecodeError|UnicodeEncodeError|ReferenceError|RangeError|URIError|NullPointerException|SegmentationFault)\b|` +

	`unsupported operand type|bad operand type for|object is not (subscriptable|iterable|callable|an iterator)|'NoneType'|index out of range|(division|modulo) by zero|` +
	`has no attribute|has no len\(\)|does not support item assignment|maximum recursion depth|must be str, not|expected str instance|a bytes-like object is required|` +
	`can only concatenate|can't multiply sequence by non-int|not supported between instances|unhashable type|indices must be integers|` +
	`missing \d+ required (positional|keyword-only) argument|got an unexpected keyword argument|takes \d+ positional arguments? but|` +
	`invalid literal for int|could not convert string to float|Exceeds the limit \(\d+ digits\)|Error executing tool [^:]+: '[^' ]*'$|` +
	`math (domain|range) error|cannot convert float (NaN|infinity) to integer|int too large to convert|values to unpack|cannot unpack non-iterable|` +
	`pop from an? empty|x not in list|empty sequence|iterable argument is empty|requires at least (one|two) data points?|embedded null (byte|character)|` +
	`arg not in range\(0x110000\)|negative shift count|referenced before assignment|cannot access local variable|No module named '|` +
	`dictionary changed size|is not JSON serializable|codec can't (de|en)code|Out of range float values|` +

	`Cannot (read|set) propert(y|ies) of|Cannot destructure property|is not a function|is not a constructor|is not iterable|Cannot convert undefined or null|` +
	`Reduce of empty array|Maximum call stack size|Invalid time value|URI malformed|Invalid (array|string) length|Invalid count value: |Invalid code point |` +
	`digits argument must be between|Cannot mix BigInt|to a BigInt|Do not know how to serialize a BigInt|circular structure to JSON|` +
	`Assignment to constant variable|' before initialization|The "[\w.]+" (argument|property) must be |` +

	`nil pointer dereference|slice bounds out of range|integer divide by zero|makeslice: |negative Repeat count|called .(Option|Result)::unwrap|on a .None. value|` +
	`attempt to (add|subtract|multiply|negate|divide) (with overflow|by zero)|out of bounds for length|Cannot invoke "|: / by zero|` +
	`Object reference not set|Index was outside the bounds|Sequence contains no elements|Undefined (array key|index|variable|offset)|` +
	`Call to a member function|Attempt to read property|undefined method .\w+[!?]?' for |` +

	`SQLSTATE\[|\bORA-\d{5}:|no such (table|column): |You have an error in your SQL syntax|` +
	`(psycopg2?|sqlite3|sqlalchemy|pymysql|java|javax|System)(\.\w+)+(Error|Exception)`)

// stack matches frames of stack traces of JavaScript, Java, .NET, Go or PHP, in text or in JSON.
var stack = lazy.Pattern(`(?:\n|\\n)(?:\s|\\t)*at [^\n\\]*(?:[A-Za-z>]:\d+:\d+|\.(?:java|kt|scala):\d+\)|:line \d+)|goroutine \d+ \[running\]|Stack trace:(?:\n|\\n)#0 `)

// reported matches reports of errors in an answer. aboutErrors matches operations whose answers may
// contain such reports, and softly matches descriptions of things that were only marked as deleted.
var (
	reported    = lazy.Pattern(`(?im)(?:^|")\s*(?:[a-z,]+ ){0,5}[\w.]*(?:(?:error|exception|failed|failure)\b(?: occurred)? ?[:(]|traceback \()[^"\n]*`)
	aboutErrors = lazy.Pattern(`(?i)log|error|trace|issue|exception|crash|incident|debug|explain`)
	softly      = lazy.Pattern(`(?i)delet|remov|archiv|cancel|trash|inactive|gone`)
	given       = lazy.Pattern(`got \w+, `) // the type of a value does not make another cause
)

// ofPatterns matches how runtimes refuse a regular expression, and aboutPatterns operations that
// may expect one.
var (
	ofPatterns    = lazy.Pattern(`Invalid regular expression: /|unterminated (character set|subpattern)|nothing to repeat at position|bad escape \(end of pattern\)|error parsing regexp`)
	aboutPatterns = lazy.Pattern(`(?i)reg(ular|ex)|pattern|expression`)
)

// ofDates matches how runtimes report dates that do not exist, and date the dates in a call.
var (
	ofDates = lazy.Pattern(`day is out of range for month|year -?\d+ is out of range|date value out of range|month must be in 1\.\.12`)
	date    = lazy.Pattern(`\d{4}-\d\d-\d\d`)
)

const aStack = "a stack trace"

// runtimeError returns a runtime's message in the answer to a call; "" if there is none. A message
// about dates counts only if the call contains dates and all of them exist. A message about a
// regular expression does not count if the operation takes one.
func runtimeError(op *sut.Operation, answer string, args []byte) string {
	if phrase := internal().FindString(answer); phrase != "" {
		return phrase
	}
	if stack().MatchString(answer) {
		return aStack
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

// apart returns a message up to where it quotes the text that an input is about. What a message
// adds about each text does not make another cause, nor does what is wrong with it as a regular
// expression.
func apart(said string, in *input) string {
	if ofPatterns().MatchString(said) {
		return "a regular expression"
	}
	var text string
	args, _ := arguments(in.Args) // written by this package
	for _, a := range args {
		if a.Name != subject(in) || json.Unmarshal(a.Value, &text) != nil || len(text) < 4 && plain().MatchString(text) {
			continue
		}
		for _, form := range []string{text, strings.Trim(string(a.Value), `"`)} {
			if before, _, quotes := strings.Cut(said, form[:min(len(form), 40)]); quotes && form != "" && len(strings.Fields(before)) > 1 {
				return before
			}
		}
	}
	return said
}

// plain matches texts that a message may contain by chance.
var plain = lazy.Pattern(`^\w*$`)
