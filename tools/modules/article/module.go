// Package article writes the module of the article example: the component that
// the model in article.json describes, and versions of it with one fault each.
//
// An article is written, revised while it is a draft, submitted, and accepted
// or sent back; a live one may be withdrawn. The module keeps its articles in
// memory, state and number of revisions apart, and hands out numbers from 1.
package article

import (
	e "github.com/thresh-dev/thresh/examples/wasmemit"
)

// Fault is the fault of a version of the module.
type Fault string

// The faults. None is the correct component.
const (
	None             Fault = ""
	NeverLive        Fault = "publishing leaves the article where it is"
	StaysLive        Fault = "a withdrawn article stays live"
	BackIsLive       Fault = "sending an article back puts it live"
	SubmitIsLive     Fault = "a submitted article is live at once"
	CountsTwice      Fault = "a revision counts twice"
	LosesThird       Fault = "the third revision is lost"
	WrongArticle     Fault = "a revision counts for the article before"
	SubmitForgets    Fault = "submitting forgets the revisions"
	SecondPublish    Fault = "publishing fails once something was withdrawn"
	EndlessWithdraw  Fault = "withdrawing never ends"
	SameNumber       Fault = "the third article gets the number of the second"
	RevisesPublished Fault = "returning counts as a revision"
)

// Faults returns all faulty versions.
func Faults() []Fault {
	return []Fault{NeverLive, StaysLive, BackIsLive, SubmitIsLive, CountsTwice, LosesThird, WrongArticle, SubmitForgets, SecondPublish, EndlessWithdraw, SameNumber, RevisesPublished}
}

const (
	states    = 1024 // address of the states, 4 bytes per article
	revisions = 8192
	draft     = 0
	review    = 1
	live      = 2
	withdrawn = 3
)

// Module returns the module with a fault.
func Module(fault Fault) []byte {
	m := e.New()
	m.Memory(1, 1)
	count := m.Global(e.I32, true, 0)
	one, two, result := e.Params(e.I32), e.Params(e.I32, e.I32), e.Results(e.I32)

	write := m.Func("write_article", one, result)
	write.GlobalGet(count).I32(1).Op(e.I32Add).GlobalSet(count)
	if fault == SameNumber {
		write.GlobalGet(count).I32(3).Op(e.I32Eq).If(e.Empty, func() { write.I32(2).GlobalSet(count) }, nil)
	}
	put(write, states, func() { write.GlobalGet(count) }, func() { write.I32(draft) })
	put(write, revisions, func() { write.GlobalGet(count) }, func() { write.I32(0) })
	write.GlobalGet(count)

	move := func(name string, to int32) *e.Func {
		f := m.Func(name, two, nil)
		put(f, states, func() { f.Get(1) }, func() { f.I32(to) })
		return f
	}
	revised := func(f *e.Func, by int32) {
		at := func() { f.Get(1) }
		if fault == WrongArticle {
			at = func() { f.Get(1).I32(1).Op(e.I32Sub) }
		}
		put(f, revisions, at, func() { get(f, revisions, at).I32(by).Op(e.I32Add) })
	}
	revise := m.Func("revise", two, nil)
	switch fault {
	case CountsTwice:
		revised(revise, 2)
	case LosesThird:
		get(revise, revisions, func() { revise.Get(1) }).I32(2).Op(e.I32Ne).If(e.Empty, func() { revised(revise, 1) }, nil)
	default:
		revised(revise, 1)
	}
	to := map[Fault]int32{SubmitIsLive: live}[fault]
	submit := move("submit", max(to, review))
	if fault == SubmitForgets {
		put(submit, revisions, func() { submit.Get(1) }, func() { submit.I32(0) })
	}
	gone := m.Global(e.I32, true, 0)
	publishTo := int32(live)
	if fault == NeverLive {
		publishTo = review
	}
	publish := move("publish", publishTo)
	if fault == SecondPublish {
		publish.GlobalGet(gone).If(e.Empty, func() { publish.Op(e.Unreachable) }, nil)
	}
	back := int32(draft)
	if fault == BackIsLive {
		back = live
	}
	sendBack := move("send_back", back)
	if fault == RevisesPublished {
		revised(sendBack, 1)
	}
	end := int32(withdrawn)
	if fault == StaysLive {
		end = live
	}
	withdraw := move("withdraw", end)
	withdraw.I32(1).GlobalSet(gone)
	if fault == EndlessWithdraw {
		withdraw.Loop(e.Empty, func() { withdraw.Br(0) })
	}
	read := m.Func("read", two, result)
	get(read, states, func() { read.Get(1) })
	isLive := m.Func("is_live", one, result)
	get(isLive, states, func() { isLive.Get(0) }).I32(live).Op(e.I32Eq)
	counted := m.Func("revisions", one, result)
	get(counted, revisions, func() { counted.Get(0) })
	return m.Bytes()
}

// put stores a value in a table at an article's index.
func put(f *e.Func, table uint32, article, value func()) {
	article()
	f.I32(4).Op(e.I32Mul)
	value()
	f.Memory(e.I32Store, table)
}

// get loads what put stored.
func get(f *e.Func, table uint32, article func()) *e.Func {
	article()
	return f.I32(4).Op(e.I32Mul).Memory(e.I32Load, table)
}
