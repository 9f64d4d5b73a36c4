// The words of the staging buffers are followed, as their proof looks at one of them.
`define FOLLOWED_WORDS
