import Glibc
import SocketKit
import SocketTestSupport

/// The TLS settings of a run. The key is RSA's, with which every message of a handshake has the same length each time,
/// so that a seed replays.
enum SimulatedIdentity {
    /// The settings of a server; `nil` without the openssl program.
    static let server: TLSSettings? = made.map { folder in
        settings(.server(TLSSettings.Identity(certificateFile: folder + "/c.pem", keyFile: folder + "/k.pem")))
    }

    /// The settings of a client of that server.
    static let client: TLSSettings = {
        var client = settings(.client(serverName: "simulation"))
        client.trust = .anything
        client.checksName = false
        return client
    }()

    /// No tickets: their length depends on a random number.
    private static func settings(_ settings: TLSSettings) -> TLSSettings {
        var settings = settings
        settings.resumesSessions = false
        return settings
    }

    private static let made: String? = {
        var template = Array("/tmp/socktui-simulation-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        atexit { SimulatedIdentity.remove() }
        let outcome = try? ChildProcess.run(["bash", "-c", script, "identity", folder])
        return outcome?.status == 0 ? folder : nil
    }()

    private static func remove() {
        if let made { TemporaryFolder.remove(made) }
    }

    private static let script = """
        cd "$1" && openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 3650 -subj /CN=simulation \\
          -set_serial 1
        """
}
