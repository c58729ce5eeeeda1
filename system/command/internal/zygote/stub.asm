# What runs inside the started program, in place of the program, until a copy
# of it is wanted. Position independent; the block of data behind the code is
# filled in by stub_linux_amd64.go. It uses no stack: the interrupted function
# may keep values below its stack pointer. It touches no vector registers.
#
# The first label must stay first; the data block must stay last.

        .intel_syntax noprefix
        .globl _start

# Perform the system calls of a list of records {number, 4 arguments}; a
# negative number ends it. Clobbers rbx besides what system calls clobber.
        .macro perform list
        mov     rbx, [rip + \list]
1:      mov     rax, [rbx]
        test    rax, rax
        js      2f
        mov     rdi, [rbx + 8]
        mov     rsi, [rbx + 16]
        mov     rdx, [rbx + 24]
        mov     r10, [rbx + 32]
        syscall
        add     rbx, 40
        jmp     1b
2:
        .endm

# Write the word in eax to the status pipe.
        .macro report
        mov     rsi, [rip + mailbox]
        mov     [rsi], eax
        mov     eax, 1                  # write
        mov     edi, [rip + status]
        mov     edx, 4
        syscall
        .endm

_start:
serve:  xor     eax, eax                # read
        mov     edi, [rip + control]
        mov     rsi, [rip + mailbox]
        mov     edx, 4
        syscall
        cmp     rax, -4                 # EINTR
        je      serve
        cmp     rax, 4
        jne     leave                   # the client has gone

        perform before                  # put file offsets back

        mov     eax, 56                 # clone
        mov     rdi, [rip + flags]
        xor     esi, esi                # the copy keeps its stack pointer
        xor     edx, edx
        mov     r10, [rip + tid]        # where the C library keeps its thread id
        xor     r8d, r8d
        syscall
        test    rax, rax
        jz      child
        jns     serve                   # the copy reports for itself
        report                          # -errno
        jmp     serve

leave:  mov     eax, 231                # exit_group
        xor     edi, edi
        syscall

child:  mov     eax, 112                # setsid; returns the process id
        syscall
        report
        perform after                   # close the pipes, lay limits, ...
        mov     rax, [rip + saved_rax]
        mov     rbx, [rip + saved_rbx]
        mov     rcx, [rip + saved_rcx]
        mov     rdx, [rip + saved_rdx]
        mov     rsi, [rip + saved_rsi]
        mov     rdi, [rip + saved_rdi]
        mov     r8,  [rip + saved_r8]
        mov     r9,  [rip + saved_r9]
        mov     r10, [rip + saved_r10]
        mov     r11, [rip + saved_r11]
        jmp     [rip + saved_rip]

        .balign 8
control:        .quad 0
status:         .quad 0
mailbox:        .quad 0
flags:          .quad 0
tid:            .quad 0
before:         .quad 0
after:          .quad 0
saved_rax:      .quad 0
saved_rbx:      .quad 0
saved_rcx:      .quad 0
saved_rdx:      .quad 0
saved_rsi:      .quad 0
saved_rdi:      .quad 0
saved_r8:       .quad 0
saved_r9:       .quad 0
saved_r10:      .quad 0
saved_r11:      .quad 0
saved_rip:      .quad 0
