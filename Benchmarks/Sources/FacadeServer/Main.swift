import CocoaAsyncSocket
import Foundation

/// Speaks two of the yardstick's protocols as a program written for GCDAsyncSocket does, until it is killed, so that what the
/// façade costs shows beside `SocketKitServer -w queue`: `FacadeServer -m echo|heard|sink`
/// `heard` is `echo` by a delegate that also hears of what was written.
@main
struct Main {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let server: Server
        switch arguments {
        case ["-m", "echo"]: server = Server { EchoConnection() }
        case ["-m", "heard"]: server = Server { HeardEchoConnection() }
        case ["-m", "sink"]: server = Server { SinkConnection() }
        default:
            FileHandle.standardError.write(Data("FacadeServer: needs -m echo, heard or sink\n".utf8))
            exit(2)
        }
        print("ready \(try server.start())")
        fflush(nil)
        withExtendedLifetime(server) { while true { pause() } }
    }
}
