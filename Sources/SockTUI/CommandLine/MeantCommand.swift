import InspectorCore
import SocketWorkshop

/// What somebody meant who wrote something else in place of a command.
enum MeantCommand {
    /// A program that listens on a well-known port, by its names and the schemes of its addresses.
    private struct Service {
        var names: [String]
        var schemes: [String]
        var port: Int
        var isSecure = false
    }

    private static let services = [
        Service(names: ["http"], schemes: ["http"], port: 80),
        Service(names: ["https"], schemes: ["https"], port: 443, isSecure: true),
        Service(names: ["redis-server", "redis", "redis-cli", "valkey"], schemes: ["redis"], port: 6_379),
        Service(names: [], schemes: ["rediss"], port: 6_379, isSecure: true),
        Service(names: ["postgres", "postgresql", "psql"], schemes: ["postgres", "postgresql"], port: 5_432),
        Service(names: ["mysqld", "mysql", "mariadb"], schemes: ["mysql"], port: 3_306),
        Service(names: ["mongod", "mongodb", "mongo"], schemes: ["mongodb"], port: 27_017),
        Service(names: ["memcached"], schemes: ["memcached"], port: 11_211),
        Service(names: ["nginx", "apache2"], schemes: [], port: 80),
        Service(names: ["haproxy", "node", "java", "gunicorn"], schemes: [], port: 8_080),
        Service(names: ["mosquitto", "mqtt"], schemes: ["mqtt"], port: 1_883),
        Service(names: ["rabbitmq", "amqp"], schemes: ["amqp"], port: 5_672),
        Service(names: ["sshd", "ssh"], schemes: ["ssh"], port: 22),
    ]

    /// Returns the end of the sentence about the first of these words, which is not a command.
    static func sentence(for words: [String]) -> String {
        let word = words[0]
        let what = meant(word, Array(words.dropFirst()))
        return what.map { "no such command; write \($0)" }
            ?? "no such command" + ArgumentParser.suggestion(for: word, among: CommandTable.words.map(\.name))
    }

    /// Returns the command line that was meant, or `nil` if it cannot be told.
    private static func meant(_ word: String, _ more: [String]) -> String? {
        let run = "socktui run -- \(word) ... to run a program"
        if let address = address(ofURL: word) {
            let isWeb = word.lowercased().hasPrefix("http")
            return "socktui connect \(address)" + (isWeb ? ", or to watch a client: socktui run -- curl \(word)" : "")
        }
        if word.hasSuffix(".pcap") || word.hasSuffix(".pcapng") { return "socktui open \(word)" }
        if let number = Int32(word), number > 0 {
            let process = "socktui why \(word) for a process"
            return number > UInt16.max ? process : process + ", or socktui why :\(word) for a port"
        }
        if (try? OpenTarget.parse(word)) != nil {
            let isOnHost = (try? HostTarget.parse(word)) != nil
            return "socktui connect \(word)" + (isOnHost ? ", or to see who uses it: socktui why \(word)" : "")
        }
        guard more.isEmpty else { return isNear(word) && address(ofURL: more[0]) == nil ? nil : run }
        guard let service = services.first(where: { $0.names.contains(word) }) else { return nil }
        // No program is called like a protocol of many.
        let what = service.schemes.contains(service.names[0]) ? ":\(service.port)" : service.names[0]
        return "socktui connect localhost:\(service.port), or to see why it hangs: socktui why \(what)"
    }

    /// Returns the address that a URL connects to, or `nil` if it is not a URL with a known scheme.
    private static func address(ofURL text: String) -> String? {
        guard let colon = text.firstRange(of: "://"),
            let service = services.first(where: { $0.schemes.contains(text[..<colon.lowerBound].lowercased()) })
        else { return nil }
        let authority = text[colon.upperBound...].prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard !host.isEmpty else { return nil }
        let hasPort = host.drop { $0 != "]" }.isEmpty ? host.contains(":") : host.contains("]:")
        let address = (service.isSecure ? "tls://" : "") + host + (hasPort ? "" : ":\(service.port)")
        return (try? OpenTarget.parse(address)) == nil ? nil : address
    }

    private static func isNear(_ word: String) -> Bool {
        !Spelling.suggestion(for: word, among: CommandTable.words.map(\.name)).isEmpty
    }
}
