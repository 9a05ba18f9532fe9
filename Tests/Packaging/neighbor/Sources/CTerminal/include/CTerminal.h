int neighbor_CTerminal(void);
