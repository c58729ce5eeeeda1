//go:build go1.26 && !go1.27

#include "textflag.h"

#define SYS_write 1
#define SYS_exit_group 231
#define SYS_prlimit64 302
#define RLIMIT_AS 9

// _rt0_amd64_linux is where a program begins. Before main, Go's run time reserves
// some 600 MB of address space and dies with a trace where there is less: only
// what stands before it can say so. Of two definitions the linker takes the larger
// one if that may be a duplicate. It promises that to nobody, hence the build
// constraint: TestLowAddressSpaceGetsASentence fails with a Go that is not listed.
TEXT _rt0_amd64_linux(SB),NOSPLIT|NOFRAME|DUPOK,$0
	SUBQ	$16, SP
	MOVL	$SYS_prlimit64, AX
	XORL	DI, DI
	MOVL	$RLIMIT_AS, SI
	XORL	DX, DX
	MOVQ	SP, R10
	SYSCALL
	MOVQ	0(SP), CX
	ADDQ	$16, SP
	TESTQ	AX, AX
	JNE	begin
	CMPQ	CX, ·needed(SB)
	JCC	begin
	MOVL	$SYS_write, AX
	MOVL	$2, DI
	MOVQ	·refusal(SB), SI
	MOVQ	·refusal+8(SB), DX
	SYSCALL
	MOVL	$SYS_exit_group, AX
	MOVL	$3, DI // environmentFailed
	SYSCALL
begin:
	JMP	_rt0_amd64(SB)
