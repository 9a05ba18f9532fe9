import InspectorCore
import SocketCore

extension CommandTable {
    static let runCommand = Command(
        name: "run", operands: .program("[--] CMD ARG..."), help: "run CMD and watch what it sends and receives",
        example: "-- curl http://localhost:8080/"
    ) {
        (words, request) throws(EndpointError) in
        var run = request.run
        (run.arguments, run.timeout) = (words, request.timeout)
        return .run(run)
    }

    /// Where the output of the program goes if no screen shows it.
    static let runOutput = "Without a screen, CMD's stdout and stderr both go to stderr"

    static let runOptions: [Option] = [
        Option(
            name: "--proxy", value: .text("PROXY"), commands: ["run"], help: "offer CMD a proxy: http, socks or both"
        ) {
            (text, request) throws(UsageError) in
            guard let via = RunRequest.Via(rawValue: text), via != .connect else {
                throw UsageError("--proxy", "\(text) is not a kind of proxy; write http, socks or both")
            }
            request.run.via = via
        },
        Option(
            name: "--stdin", value: .reads("FILE"), commands: ["run"],
            help: "CMD's stdin; by default ours (-), unless a terminal"
        ) {
            (path, request) throws(UsageError) in request.run.input = path
        },
        Option(name: "--calls", commands: ["run"], help: "show CMD's system calls on sockets; costs CMD time") {
            (_, request) throws(UsageError) in request.run.showsCalls = true
        },
        Option(name: "--tty", commands: ["run"], help: "give CMD its own terminal, in pane 5") {
            (_, request) throws(UsageError) in request.run.hasTerminal = true
        },
    ]
}
