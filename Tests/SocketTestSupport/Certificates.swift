import Glibc
import SocketKit

/// Certificates for tests, made once for the process by the openssl program, and removed when it ends.
package enum Certificates {
    /// Why there are none; nil: there are.
    package static var problem: String? {
        switch made {
        case .success: nil
        case .failure(let failure): failure.description
        }
    }

    /// The path of a file. Authorities: `ca.crt`, `other.crt`. Of leaves, `.pem` holds certificate and key: `server`
    /// (localhost, *.wild.example, 127.0.0.1, ::1), `elsewhere` (elsewhere.example), `expired`, `foreign` (by `other`),
    /// `client`, `self` (by itself).
    package static func path(_ name: String) -> String {
        guard case .success(let folder) = made else { return "/nonexistent/\(name)" }
        return folder + "/" + name
    }

    /// A leaf as an identity.
    package static func identity(_ name: String) -> TLSSettings.Identity {
        TLSSettings.Identity(certificateFile: path(name + ".pem"))
    }

    private static let made: Result<String, ChildProcess.Failure> = {
        do {
            var template = Array("/tmp/socktui-certificates-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw ChildProcess.Failure(description: "mkdtemp failed") }
            let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            atexit { Certificates.remove() }
            let outcome = try ChildProcess.run(["bash", "-c", script, "certificates", folder])
            guard outcome.status == 0 else { throw ChildProcess.Failure(description: outcome.errors) }
            return .success(folder)
        } catch let failure as ChildProcess.Failure {
            return .failure(failure)
        } catch {
            return .failure(ChildProcess.Failure(description: "\(error)"))
        }
    }()

    private static func remove() {
        if case .success(let folder) = made { TemporaryFolder.remove(folder) }
    }

    private static let script = """
        set -e
        cd "$1"
        key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
        authority() {
          key "$1"
          openssl req -x509 -new -key "$1.key" -subj "/CN=$2" -days 3650 -addext basicConstraints=critical,CA:TRUE \\
            -addext keyUsage=critical,keyCertSign,cRLSign -out "$1.crt"
        }
        leaf() {
          key "$1"
          openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
          printf 'subjectAltName=%s\\nbasicConstraints=CA:FALSE\\n' "$2" > "$1.ext"
          openssl x509 -req -in "$1.csr" -CA "$3.crt" -CAkey "$3.key" -set_serial "$RANDOM$RANDOM" -days "$4" \\
            -extfile "$1.ext" -out "$1.crt"
          cat "$1.crt" "$1.key" > "$1.pem"
        }
        authority ca "Test Authority"
        authority other "Other Authority"
        leaf server "DNS:localhost,DNS:*.wild.example,IP:127.0.0.1,IP:::1" ca 365
        leaf elsewhere DNS:elsewhere.example ca 365
        leaf expired DNS:localhost,IP:127.0.0.1 ca -1
        leaf foreign DNS:localhost,IP:127.0.0.1 other 365
        leaf client DNS:client.example ca 365
        key self
        openssl req -x509 -new -key self.key -subj /CN=self -days 365 \\
          -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -out self.crt
        cat self.crt self.key > self.pem
        openssl pkey -in server.key -aes128 -passout pass:secret -out encrypted.key
        """
}

extension TLSSettings {
    /// A client of tests: it trusts the tests' authority, and expects `localhost` unless told otherwise.
    package static func testClient(_ name: String? = "localhost", trust: Trust? = nil) -> TLSSettings {
        var settings = TLSSettings.client(serverName: name)
        settings.trust = trust ?? .file(Certificates.path("ca.crt"))
        return settings
    }

    /// A server of tests.
    package static func testServer(_ name: String = "server") -> TLSSettings {
        .server(Certificates.identity(name))
    }

    /// The same with a change.
    package func with(_ change: (inout TLSSettings) -> Void) -> TLSSettings {
        var settings = self
        change(&settings)
        return settings
    }
}
