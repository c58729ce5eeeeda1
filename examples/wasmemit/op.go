package wasmemit

// Op is an instruction without operands, or a load or store.
type Op byte

// Control, parametric.
const (
	Unreachable Op = 0x00
	Nop         Op = 0x01
	Return      Op = 0x0f
	Drop        Op = 0x1a
	Select      Op = 0x1b
)

// Loads and stores, for [Func.Memory].
const (
	I32Load   Op = 0x28
	I64Load   Op = 0x29
	F64Load   Op = 0x2b
	I32Load8U Op = 0x2d
	I32Store  Op = 0x36
	I64Store  Op = 0x37
	F32Store  Op = 0x38
	F64Store  Op = 0x39
	I32Store8 Op = 0x3a
)

// Comparisons.
const (
	I32Eqz Op = 0x45 + iota
	I32Eq
	I32Ne
	I32LtS
	I32LtU
	I32GtS
	I32GtU
	I32LeS
	I32LeU
	I32GeS
	I32GeU
	I64Eqz
	I64Eq
	I64Ne
	I64LtS
	I64LtU
	I64GtS
	I64GtU
	I64LeS
	I64LeU
	I64GeS
	I64GeU
	F32Eq
	F32Ne
	F32Lt
	F32Gt
	F32Le
	F32Ge
	F64Eq
	F64Ne
	F64Lt
	F64Gt
	F64Le
	F64Ge
)

// Arithmetic of i32.
const (
	I32Add  Op = 0x6a
	I32Sub  Op = 0x6b
	I32Mul  Op = 0x6c
	I32DivS Op = 0x6d
	I32DivU Op = 0x6e
	I32RemS Op = 0x6f
	I32RemU Op = 0x70
	I32And  Op = 0x71
	I32Or   Op = 0x72
	I32Xor  Op = 0x73
	I32Shl  Op = 0x74
	I32ShrS Op = 0x75
	I32ShrU Op = 0x76
)

// Arithmetic of i64.
const (
	I64Add  Op = 0x7c
	I64Sub  Op = 0x7d
	I64Mul  Op = 0x7e
	I64DivS Op = 0x7f
	I64DivU Op = 0x80
	I64RemS Op = 0x81
	I64RemU Op = 0x82
	I64And  Op = 0x83
	I64Or   Op = 0x84
	I64Xor  Op = 0x85
	I64Shl  Op = 0x86
	I64ShrS Op = 0x87
	I64ShrU Op = 0x88
)

// Arithmetic of f64, conversions.
const (
	F64Add       Op = 0xa0
	F64Sub       Op = 0xa1
	F64Mul       Op = 0xa2
	F64Div       Op = 0xa3
	I32WrapI64   Op = 0xa7
	I32TruncF64S Op = 0xaa
	I64ExtendI32 Op = 0xac // signed
	I64ExtendU32 Op = 0xad
	F64FromI32   Op = 0xb7 // signed
	F64FromI64   Op = 0xb9 // signed
)
