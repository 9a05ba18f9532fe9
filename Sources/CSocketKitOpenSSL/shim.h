// OpenSSL 3 macros as functions and constants for Swift. No logic.
#pragma once
#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL's headers are missing: apt-get install libssl-dev"
#endif
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
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

// Reads the certificate and then its chain from PEM, as SSL_CTX_use_certificate_chain_file reads them from a file.
static inline int co_ctx_use_pem_chain(SSL_CTX *c, const void *pem, int length) {
  BIO *bio = BIO_new_mem_buf(pem, length);
  X509 *own = bio ? PEM_read_bio_X509_AUX(bio, 0, 0, 0) : 0;
  int done = own && SSL_CTX_use_certificate(c, own) == 1 && SSL_CTX_clear_chain_certs(c);
  X509_free(own);
  while (done) {
    X509 *next = PEM_read_bio_X509(bio, 0, 0, 0);
    if (!next) break;
    if (SSL_CTX_add0_chain_cert(c, next)) continue;
    X509_free(next);
    done = 0;
  }
  // The PEM reader reports the end of the text as an error.
  if (done) ERR_clear_error();
  BIO_free(bio);
  return done;
}
static inline int co_ctx_use_pem_key(SSL_CTX *c, const void *pem, int length, pem_password_cb *password) {
  BIO *bio = BIO_new_mem_buf(pem, length);
  EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, 0, password, 0) : 0;
  int done = key && SSL_CTX_use_PrivateKey(c, key) == 1;
  EVP_PKEY_free(key);
  BIO_free(bio);
  return done;
}
// Copies keys and certificates from the library context that read them into the one that uses them.
static inline EVP_PKEY *co_key_again(const EVP_PKEY *key) {
  unsigned char *der = 0;
  int length = i2d_PrivateKey(key, &der);
  const unsigned char *place = der;
  EVP_PKEY *again = length > 0 ? d2i_AutoPrivateKey(0, &place, length) : 0;
  OPENSSL_clear_free(der, length > 0 ? (size_t)length : 0);
  return again;
}
static inline X509 *co_certificate_again(const X509 *certificate) {
  unsigned char *der = 0;
  int length = i2d_X509(certificate, &der);
  const unsigned char *place = der;
  X509 *again = length > 0 ? d2i_X509(0, &place, length) : 0;
  OPENSSL_free(der);
  return again;
}
// Returns 1 on success, -1 if the bytes are not a container, -2 if it cannot be opened, -3 if the key or certificate is
// missing, or 0 if OpenSSL rejected it. A separate library context provides the ciphers that OpenSSL calls legacy,
// which most containers from Apple's Keychain use.
static inline int co_ctx_use_pkcs12(SSL_CTX *c, const void *bytes, int length, const char *passphrase) {
  OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
  OSSL_PROVIDER *standard = library ? OSSL_PROVIDER_load(library, "default") : 0;
  OSSL_PROVIDER *legacy = library ? OSSL_PROVIDER_load(library, "legacy") : 0;
  BIO *bio = BIO_new_mem_buf(bytes, length);
  PKCS12 *container = standard ? PKCS12_init_ex(NID_pkcs7_data, library, 0) : 0;
  EVP_PKEY *key = 0;
  X509 *own = 0;
  STACK_OF(X509) *chain = 0;
  int done = 0;
  ERR_clear_error();
  if (!bio || !container || !d2i_PKCS12_bio(bio, &container)) {
    // It was freed and is null if its contents were invalid. If no contents could be read, it is still there.
    done = -1;
  } else if (!PKCS12_parse(container, passphrase, &key, &own, &chain)) {
    done = -2;
  } else if (!key || !own) {
    done = -3;
  } else {
    EVP_PKEY *own_key = co_key_again(key);
    X509 *certificate = co_certificate_again(own);
    done = certificate && own_key && SSL_CTX_use_certificate(c, certificate) == 1 &&
           SSL_CTX_use_PrivateKey(c, own_key) == 1 && SSL_CTX_check_private_key(c) == 1;
    for (int i = 0; done && i < co_chain_count(chain); i++) {
      X509 *next = co_certificate_again(sk_X509_value(chain, i));
      done = next && SSL_CTX_add0_chain_cert(c, next);
      if (!done) X509_free(next);
    }
    X509_free(certificate);
    EVP_PKEY_free(own_key);
  }
  sk_X509_pop_free(chain, X509_free);
  X509_free(own);
  EVP_PKEY_free(key);
  PKCS12_free(container);
  BIO_free(bio);
  if (legacy) OSSL_PROVIDER_unload(legacy);
  if (standard) OSSL_PROVIDER_unload(standard);
  OSSL_LIB_CTX_free(library);
  return done;
}
