# Packet 0 never ends; the others return their packetIdx.

    .text
    .globl  kernel
    .type   kernel, @function
kernel:
    beqz    a0, kernel
    ret
