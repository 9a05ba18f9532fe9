// zlib for Swift: what its macros hide. No logic.
#pragma once
#if !__has_include(<zlib.h>)
#error "zlib's headers are missing: apt-get install zlib1g-dev"
#endif
#include <zlib.h>

// Raw DEFLATE, without zlib's own header and checksum: negative window bits.
static inline int cz_deflate_init(z_stream *stream, int level, int window_bits) {
  return deflateInit2(stream, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY);
}
static inline int cz_inflate_init(z_stream *stream, int window_bits) { return inflateInit2(stream, -window_bits); }
