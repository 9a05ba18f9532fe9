import CSocketKitOpenSSL
import SocketCore

/// The functions that OpenSSL calls during its own calls. They capture nothing and find the exchange through the
/// session.
enum TLSCallbacks {
    private static func exchange(_ ssl: OpaquePointer?) -> TLSExchange? {
        guard let ssl, let data = SSL_get_ex_data(ssl, 0) else { return nil }
        return CallbackObject<TLSExchange>.object(data)
    }

    /// Supplies no password, since a prompt would block the program and write on its screen.
    static let password:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 =
            { _, _, _, _ in -1 }

    static let keyLog: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
        guard let line, let exchange = exchange(ssl) else { return }
        exchange.secrets.append(String(cString: line))
        exchange.context.keyLog?.add(String(cString: line))
    }

    /// Records alerts.
    static let information: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, kind, value in
        guard kind & SSL_CB_ALERT != 0 else { return }
        exchange(ssl)?.alerts.append((UInt8(truncatingIfNeeded: value), kind & SSL_CB_WRITE != 0))
    }

    /// Keeps a session that the server offered, for the next connection to it. A session with a certificate that the
    /// user accepted is not kept, since a resumed one would skip the question.
    static let newSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let exchange = exchange(ssl), let key = exchange.sessionKey, SSL_SESSION_is_resumable(session) == 1,
            exchange.isAcceptedByHand == nil
        else { return 0 }
        exchange.context.keep(LibraryPointer(session), for: key)
        return 1
    }

    /// Accepts the name that a client requests, if any. OpenSSL keeps only an accepted name with the session, so that
    /// the name is known when the session is resumed.
    static let serverName:
        @convention(c) (OpaquePointer?, UnsafeMutablePointer<CInt>?, UnsafeMutableRawPointer?) -> CInt = { ssl, _, _ in
            let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)
            return name == nil ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_OK
        }

    typealias Selection =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32

    /// Selects the first local protocol that the client also offers. If there is none, the handshake fails (RFC 7301
    /// section 3.2).
    static let selectProtocol: Selection = { ssl, chosen, length, offered, count, _ in
        guard let exchange = exchange(ssl), let offered, let chosen, let length else {
            return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        let ours = exchange.context.settings.applicationProtocols
        let theirs = UnsafeBufferPointer(start: offered, count: Int(count))
        for name in ours {
            guard let start = position(of: Array(name.utf8), in: theirs) else { continue }
            chosen.pointee = offered + start
            length.pointee = UInt8(clamping: name.utf8.count)
            return SSL_TLSEXT_ERR_OK
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    private static func position(of name: [UInt8], in list: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        while index < list.count {
            let (start, end) = (index + 1, index + 1 + Int(list[index]))
            guard end <= list.count else { return nil }
            if list[start..<end].elementsEqual(name) { return start }
            index = end
        }
        return nil
    }

    // MARK: The peer's certificate

    /// Verifies the peer's certificate. Returns 1 if the handshake continues or waits for a verdict.
    static let verify: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
        guard let exchange = exchange(ssl) else { return 0 }
        _ = X509_verify_cert(store)
        return exchange.judge(store, ssl)
    }
}

extension TLSExchange {
    /// Decides according to OpenSSL's verification result, which is in `store`.
    fileprivate func judge(_ store: OpaquePointer?, _ ssl: OpaquePointer?) -> Int32 {
        let found = finding(store)
        let isRefusal = if case .failed = found.verification { true } else { false }
        switch context.settings.trustEvaluator {
        case .delegate: return ask(store, ssl, found)
        case .delegateIfRefused where isRefusal: return ask(store, ssl, found)
        case .delegateIfRefused, .library:
            verification = found.verification
            return isRefusal ? refused(store, found.code) : 1
        }
    }

    private struct Finding {
        var verification: TLSVerification
        var code: Int
        /// The verification problem, or `nil` if it passed.
        var problem: String?
    }

    private func finding(_ store: OpaquePointer?) -> Finding {
        let code = Int(X509_STORE_CTX_get_error(store))
        let text = X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        switch context.settings.trust {
        case .pinned(let pins):
            if let own = X509_STORE_CTX_get0_cert(store), pins.contains(where: { $0.matches(own) }) {
                X509_STORE_CTX_set_error(store, X509_V_OK)
                return Finding(verification: .pinned, code: 0, problem: nil)
            }
            let problem = "not the pinned certificate"
            let rejected = Int(X509_V_ERR_CERT_REJECTED)
            return Finding(verification: .failed(code: rejected, text: problem), code: rejected, problem: problem)
        case .system, .file, .folder, .anything:
            if code == 0 { return Finding(verification: .passed, code: 0, problem: nil) }
            let isFree = context.settings.trust == .anything
            return Finding(
                verification: isFree ? .notRequired(code: code, text: text) : .failed(code: code, text: text),
                code: code,
                problem: text)
        }
    }

    /// Asks for a verdict. A client stops in the middle of the handshake until there is one. OpenSSL doesn't allow that
    /// for a server, so a server's handshake continues, and its session waits afterwards.
    private func ask(_ store: OpaquePointer?, _ ssl: OpaquePointer?, _ found: Finding) -> Int32 {
        switch isAcceptedByHand {
        case nil:
            question = TLSTrust(
                question: OperationID(0), chain: TLSCertificates.chain(of: store), expectedName: expectedName,
                code: found.code, problem: found.problem)
            question?.encodedChain = TLSCertificates.encodedChain(of: store)
            if context.settings.role == .client { co_retry_verify(ssl) }
            return 1
        case true?:
            verification = .acceptedByHand(found.problem)
            X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        case false?:
            verification = .failed(code: found.code, text: found.problem ?? "refused")
            return refused(store, Int(X509_V_ERR_CERT_REJECTED))
        }
    }

    /// Rejects the certificate. The code determines the alert that the peer receives.
    private func refused(_ store: OpaquePointer?, _ code: Int) -> Int32 {
        X509_STORE_CTX_set_error(store, Int32(clamping: code))
        return 0
    }
}

extension TLSPin {
    fileprivate func matches(_ certificate: OpaquePointer) -> Bool {
        switch self {
        case .certificate(let digest): TLSCertificates.fingerprint(certificate) == digest
        case .publicKey(let digest): TLSCertificates.publicKeyDigest(certificate) == digest
        }
    }
}
