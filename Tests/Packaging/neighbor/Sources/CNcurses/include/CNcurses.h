int neighbor_CNcurses(void);
