// Package bank writes the module of the bank example: the component that the
// model in bank.json describes, and versions of it with one fault each.
//
// An account has a balance and may be frozen. deposit, withdraw and transfer
// answer the new balance of the account that they are called for, or -1 if they
// are refused: more than the balance, or a frozen account.
package bank

import (
	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/tools/modules/record"
)

// Fault is the fault of a version of the module.
type Fault string

// The faults. None is the correct component.
const (
	None           Fault = ""
	Vanishes       Fault = "a transfer does not arrive"
	Doubles        Fault = "a transfer arrives twice"
	Overdraft      Fault = "more than the balance can be withdrawn"
	NotAll         Fault = "the whole balance cannot be withdrawn"
	LargeIsCut     Fault = "a deposit of 64 or more is cut"
	Fee            Fault = "the third transfer costs a fee"
	WrongWay       Fault = "a transfer to a richer account goes the other way"
	OldBalance     Fault = "a deposit answers the balance before it"
	FrozenReceives Fault = "a frozen account can be paid into"
	FreezeToggles  Fault = "freezing twice thaws"
	AuditCounts    Fault = "an audit changes what the next one answers"
	RefusalCosts   Fault = "a refused withdrawal costs 1"
	EndlessAtLimit Fault = "a balance of exactly 120 is never found"
)

// Faults returns all faulty versions.
func Faults() []Fault {
	return []Fault{Vanishes, Doubles, Overdraft, NotAll, LargeIsCut, Fee, WrongWay, OldBalance, FrozenReceives, FreezeToggles, AuditCounts, RefusalCosts, EndlessAtLimit}
}

// Fields of an account.
const (
	balance = 0
	frozen  = 1
)

// Module returns the module with a fault.
func Module(fault Fault) []byte {
	m := record.New()
	m.Open("account_open")
	deposit(m, fault)
	withdraw(m, fault)
	transfer(m, fault)

	freeze := m.On("freeze", 0)
	if fault == FreezeToggles {
		freeze.Store(0, frozen, freeze.Of(e.I32Xor, freeze.Field(0, frozen), freeze.Const(1)))
	} else {
		freeze.Store(0, frozen, freeze.Const(1))
	}
	freeze.Last(freeze.Const(0))
	thaw := m.On("thaw", 0)
	thaw.Store(0, frozen, thaw.Const(0))
	thaw.Last(thaw.Const(0))

	audits := m.Global(e.I32, true, 0)
	audit := m.On("audit", 0)
	result := audit.Of(e.I32Mul, audit.Field(0, balance), audit.Const(7))
	if fault == AuditCounts {
		audit.GlobalGet(audits).I32(1).Op(e.I32Add).GlobalSet(audits)
		result = audit.Of(e.I32Add, result, func() { audit.GlobalGet(audits) })
	}
	audit.Last(result)

	of := m.On("balance", 0)
	if fault == EndlessAtLimit {
		of.When(of.Of(e.I32Eq, of.Field(0, balance), of.Const(120)), func() { of.Loop(e.Empty, func() { of.Br(0) }) })
	}
	of.Last(of.Field(0, balance))
	is := m.On("is_frozen", 0)
	is.Last(is.Field(0, frozen))
	return m.Bytes()
}

func add(f record.Func, of e.Index, v record.Value) {
	f.Store(of, balance, f.Of(e.I32Add, f.Field(of, balance), v))
}

func sub(f record.Func, of e.Index, v record.Value) {
	f.Store(of, balance, f.Of(e.I32Sub, f.Field(of, balance), v))
}

// refuse ends a function with -1 if a value is not 0.
func refuse(f record.Func, cond record.Value) {
	f.When(cond, func() { f.Answer(f.Const(-1)) })
}

func deposit(m *record.Module, fault Fault) {
	f := m.On("deposit", 1)
	if fault != FrozenReceives {
		refuse(f, f.Field(0, frozen))
	}
	amount := f.Local(1)
	if fault == LargeIsCut {
		amount = f.Of(e.I32And, amount, f.Const(63))
	}
	was := f.Func.Local(e.I32)
	f.Field(0, balance)()
	f.Set(was)
	add(f, 0, amount)
	if fault == OldBalance {
		f.Answer(f.Local(was))
	}
	f.Last(f.Field(0, balance))
}

func withdraw(m *record.Module, fault Fault) {
	f := m.On("withdraw", 1)
	refuse(f, f.Field(0, frozen))
	op := e.I32GtS
	if fault == NotAll {
		op = e.I32GeS
	}
	if fault != Overdraft {
		f.When(f.Of(op, f.Local(1), f.Field(0, balance)), func() {
			if fault == RefusalCosts {
				f.When(f.Field(0, balance), func() { sub(f, 0, f.Const(1)) })
			}
			f.Answer(f.Const(-1))
		})
	}
	sub(f, 0, f.Local(1))
	f.Last(f.Field(0, balance))
}

func transfer(m *record.Module, fault Fault) {
	done := m.Global(e.I32, true, 0)
	f := m.On("transfer", 2)
	refuse(f, f.Of(e.I32Or, f.Field(0, frozen), f.Field(1, frozen)))
	refuse(f, f.Of(e.I32GtS, f.Local(2), f.Field(0, balance)))
	if fault == WrongWay {
		f.When(f.Of(e.I32GtS, f.Field(1, balance), f.Field(0, balance)), func() {
			add(f, 0, f.Local(2))
			sub(f, 1, f.Local(2))
			f.Answer(f.Field(0, balance))
		})
	}
	f.GlobalGet(done).I32(1).Op(e.I32Add).GlobalSet(done)
	sub(f, 0, f.Local(2))
	if fault == Fee {
		f.When(func() { f.GlobalGet(done).I32(3).Op(e.I32Eq) }, func() { sub(f, 0, f.Const(1)) })
	}
	if fault != Vanishes {
		add(f, 1, f.Local(2))
	}
	if fault == Doubles {
		add(f, 1, f.Local(2))
	}
	f.Last(f.Field(0, balance))
}
