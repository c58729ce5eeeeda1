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
	I32Load8U Op = 0x2d
	I32Store  Op = 0x36
	I64Store  Op = 0x37
)

// Comparisons.
const (
	I32Eqz Op = 0x45
	I32Eq  Op = 0x46
	I32Ne  Op = 0x47
	I32LtS Op = 0x48
	I32GtS Op = 0x4a
	I32GtU Op = 0x4b
	I32LeS Op = 0x4c
	I32GeS Op = 0x4e
	I64Eqz Op = 0x50
	I64Eq  Op = 0x51
	I64LtS Op = 0x53
	I64LtU Op = 0x54
	I64GtS Op = 0x55
	I64GtU Op = 0x56
	I64LeU Op = 0x58
	I64GeU Op = 0x5a
	F64Eq  Op = 0x61
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
	I32ShrU Op = 0x76
)

// Arithmetic of i64.
const (
	I64Add Op = 0x7c
	I64Mul Op = 0x7e
	I64Or  Op = 0x84
	I64Xor Op = 0x85
	I64Shl Op = 0x86
)

// Arithmetic of f64, conversions.
const (
	F64Add       Op = 0xa0
	F64Mul       Op = 0xa2
	I32WrapI64   Op = 0xa7
	I64ExtendU32 Op = 0xad
)
