int neighbor_CSystem(void);
