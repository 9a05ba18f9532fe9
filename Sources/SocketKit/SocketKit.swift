@_exported import SocketCore
