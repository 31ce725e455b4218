# The first sector of a disk, for firmware to start: knows the PC's BIOS alone, and no NVMe. Reads 64 blocks from LBA 1 by
# INT 13h, writes their complement from LBA 1000 on, says over COM1 how that went, and ends QEMU by its isa-debug-exit.
.code16
.globl _start
_start:
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movw $0x7c00, %sp
    movb %dl, drive

    movb $0x42, %ah                 # extended read
    call transfer
    movw $buffer, %di
    movw $(64 * 512 / 4), %cx
complement:
    notl (%di)
    addw $4, %di
    loop complement
    movl $1000, lba
    movb $0x43, %ah                 # extended write
    call transfer

    movw $done, %si
    jmp say

# The BIOS call in AH on the disk that this was started from.
transfer:
    xorb %al, %al
    movb drive, %dl
    movw $packet, %si
    int $0x13
    jc failed
    ret

failed:
    movb %ah, code
    movw $failure, %si
say:
    lodsb
    testb %al, %al
    jz end
    movb %al, %bl
ready:
    movw $0x3fd, %dx                # Line Status: the transmitter is empty
    inb %dx, %al
    testb $0x20, %al
    jz ready
    movw $0x3f8, %dx
    movb %bl, %al
    outb %al, %dx
    jmp say
end:
    movb code, %al
    outb %al, $0xf4
    hlt

.set buffer, 0x8000
drive:
    .byte 0
code:
    .byte 0
packet:
    .byte 16, 0
    .word 64                        # blocks
    .word buffer, 0
lba:
    .quad 1
done:
    .asciz "started from the drive, 64 blocks copied\r\n"
failure:
    .asciz "the firmware could not do it\r\n"

.org 510
    .word 0xaa55
