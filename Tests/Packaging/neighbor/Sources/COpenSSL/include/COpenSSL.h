int neighbor_COpenSSL(void);
