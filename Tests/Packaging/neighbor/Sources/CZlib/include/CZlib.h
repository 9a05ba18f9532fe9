int neighbor_CZlib(void);
