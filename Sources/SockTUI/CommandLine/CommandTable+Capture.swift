import InspectorCore
import SocketCore

extension CommandTable {
    static let captureCommand = Printer(
        name: "capture", operands: .text("[FILTER]"), help: "live packets of an interface; FILTER as in tcpdump"
    ) { (words, request) throws(UsageError) in
        request.invocation.capture.filter = words.joined(separator: " ")
        request.invocation.opening = [.capture]
        (request.invocation.report.span, request.invocation.host.span) = (request.invocation.host.span, nil)
        return nil
    }

    static let captureOptions: [Option] = [
        Option(
            name: "-i", value: .text("IFACE"), commands: ["capture"], help: "the interface; lo by default, any for all"
        ) {
            (name, request) throws(UsageError) in
            request.invocation.capture.interface = name
        }
    ]
}
