/* A page that goes on behind the instruction, as a trap entry. */
__asm__(".pushsection .text.proxy, \"ax\"\n.balign 4096\nskip_page: jalr zero, 4(tp)\n.balign 4096\n.popsection");
extern const char skip_page[];
