import CNcurses
import COpenSSL
import CSystem
import CTerminal
import CZlib

/// How many of the C modules answered.
public func answers() -> Int32 {
    neighbor_CNcurses() + neighbor_COpenSSL() + neighbor_CSystem() + neighbor_CTerminal() + neighbor_CZlib()
}
