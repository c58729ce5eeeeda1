#include "textflag.h"
#include "go_asm.h"

#define SYS_rt_sigprocmask 14
#define SYS_exit_group 231
#define SYS_clone3 435
#define SIG_SETMASK 2
#define CLONE_ARGS_SIZE 88

// The child shares our memory and even our stack pointer, so from clone3 to
// execve it must not touch the stack, call anything or take a signal. It keeps
// all it needs in registers that system calls preserve: R12 is the launchpad,
// R13 the current step.

// func launch(p *launchpad) (pid, errno uintptr)
TEXT ·launch(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ p+0(FP), R12

	MOVQ $SYS_rt_sigprocmask, AX
	MOVQ $SIG_SETMASK, DI
	LEAQ launchpad_block(R12), SI
	LEAQ launchpad_saved(R12), DX
	MOVQ $8, R10
	SYSCALL

	MOVQ $SYS_clone3, AX
	LEAQ launchpad_clone(R12), DI
	MOVQ $CLONE_ARGS_SIZE, SI
	SYSCALL
	TESTQ AX, AX
	JZ   child
	MOVQ AX, R13

	MOVQ $SYS_rt_sigprocmask, AX
	MOVQ $SIG_SETMASK, DI
	LEAQ launchpad_saved(R12), SI
	XORL DX, DX
	MOVQ $8, R10
	SYSCALL

	CMPQ R13, $0xfffffffffffff001
	JLS  started
	NEGQ R13
	MOVQ $0, pid+8(FP)
	MOVQ R13, errno+16(FP)
	RET

started:
	MOVQ R13, pid+8(FP)
	MOVQ $0, errno+16(FP)
	RET

child:
	MOVQ launchpad_first(R12), R13

next:
	MOVQ (step_args+0)(R13), DI
	MOVQ (step_args+8)(R13), SI
	MOVQ (step_args+16)(R13), DX
	MOVQ (step_args+24)(R13), R10
	MOVQ (step_args+32)(R13), R8
	XORL R9, R9
	MOVQ step_nr(R13), AX
	SYSCALL
	CMPQ AX, $0xfffffffffffff001
	JCC  refused

done:
	ADDQ $step__size, R13
	JMP  next

refused:
	CMPQ step_mayFail(R13), $0
	JNE  done
	NEGQ AX
	MOVQ R13, launchpad_failed(R12)
	MOVQ AX, launchpad_errno(R12)

exit:
	MOVQ $SYS_exit_group, AX
	MOVQ $127, DI
	SYSCALL
	JMP  exit
