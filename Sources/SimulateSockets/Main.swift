import SocketSimulation

@main
enum Main {
    static func main() {
        let watched = CommandLine.arguments.count > 1 ? UInt64(CommandLine.arguments[1]) : nil
        for seed in UInt64(0)..<50 {
            var tell: (@Sendable (String) -> Void)?
            if seed == watched { tell = { print($0) } }
            let o = Simulation.run(seed: seed, tell: tell)
            print(seed, o.events, o.steps, o.operations, o.sessions, o.findings.prefix(3))
        }
    }
}
