import CocoaAsyncSocket
import Foundation

// Takes files over TCP and TLS, and is found by UDP: a program as it would be written for CocoaAsyncSocket.
//
//     cocoa-drop serve FOLDER [CERTIFICATE.pem]     takes files; the certificate's file holds its key too
//     cocoa-drop put FILE                           finds a server and sends a file, encrypted
//     cocoa-drop put-plain FILE                     the same, in clear
//     cocoa-drop sum FILE                           has the server make a checksum, ending our half of the stream

let discoveryPort = ProcessInfo.processInfo.environment["COCOA_DROP_PORT"].flatMap { UInt16($0) } ?? 7_707
let arguments = Array(CommandLine.arguments.dropFirst())
var kept: [AnyObject] = []

func send(_ file: String, _ job: Client.Job) throws {
    let client = try Client(file: file, job: job)
    let finder = Finder { port in
        DispatchQueue.main.async {
            kept.removeAll { $0 is Finder }
            do { try client.start(port: port) } catch { quit(1, "cannot connect: \(error.localizedDescription)") }
        }
    }
    kept = [client, finder]
    try finder.ask(port: discoveryPort)
}

do {
    switch (arguments.first, arguments.count) {
    case ("serve", 2...3):
        let server = Server(folder: arguments[1], certificate: arguments.count == 3 ? arguments[2] : nil)
        kept = [server]
        try server.start(port: 0, discoveryPort: discoveryPort)
    case ("put", 2): try send(arguments[1], .put(secured: true))
    case ("put-plain", 2): try send(arguments[1], .put(secured: false))
    case ("sum", 2): try send(arguments[1], .sum)
    default: quit(2, "cocoa-drop serve FOLDER [CERTIFICATE.pem] | put FILE | put-plain FILE | sum FILE")
    }
} catch {
    quit(1, "\(arguments.first ?? ""): \(error.localizedDescription)")
}
dispatchMain()
