// OpenSSL 3 for Swift: what its macros hide. No logic.
#pragma once
#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL's headers are missing: apt-get install libssl-dev"
#endif
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static const uint64_t co_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t co_no_ticket = SSL_OP_NO_TICKET;
static const long co_modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS;
static const long co_cache_off = SSL_SESS_CACHE_OFF;
static const long co_cache_client = SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL;
static const long co_cache_server = SSL_SESS_CACHE_SERVER;
static const int co_close_notify_sent = SSL_SENT_SHUTDOWN;
static const int co_close_notify_received = SSL_RECEIVED_SHUTDOWN;
static const unsigned long co_name_form = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

static inline void co_ctx_set_mode(SSL_CTX *c, long mode) { SSL_CTX_set_mode(c, mode); }
static inline int co_ctx_set_min(SSL_CTX *c, int version) { return (int)SSL_CTX_set_min_proto_version(c, version); }
static inline int co_ctx_set_max(SSL_CTX *c, int version) { return (int)SSL_CTX_set_max_proto_version(c, version); }
static inline void co_ctx_set_cache(SSL_CTX *c, long mode) { SSL_CTX_set_session_cache_mode(c, mode); }
static inline void co_ctx_set_servername_callback(SSL_CTX *c, int (*callback)(SSL *, int *, void *)) {
  SSL_CTX_set_tlsext_servername_callback(c, callback);
}
static inline int co_set_sni(SSL *s, const char *name) { return (int)SSL_set_tlsext_host_name(s, name); }
static inline void co_retry_verify(SSL *s) { SSL_set_retry_verify(s); }
static inline const char *co_group(SSL *s) {
  int group = (int)SSL_get_negotiated_group(s);
  return group == 0 ? 0 : SSL_group_to_name(s, group);
}
static inline int co_chain_count(const STACK_OF(X509) *chain) { return chain ? sk_X509_num(chain) : 0; }
static inline X509 *co_chain_at(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }
static inline long co_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void co_would_block(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
}
static inline void co_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
