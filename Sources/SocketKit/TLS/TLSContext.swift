import CSocketKitOpenSSL
import Glibc
import SocketCore

/// Validated settings with their files loaded, shared by the sessions of all connections with these settings. It is
/// created on the thread that requests TLS, since reading the system's authorities takes milliseconds.
final class TLSContext: Sendable {
    /// OpenSSL's context, and the sessions that clients can resume.
    private struct State: ~Copyable {
        let context: OpaquePointer
        var sessions: [String: OpaquePointer] = [:]

        init(_ context: OpaquePointer) {
            self.context = context
        }

        deinit {
            for session in sessions.values { SSL_SESSION_free(session) }
            SSL_CTX_free(context)
        }
    }

    /// The most peers whose sessions are kept.
    private static let sessionLimit = 64

    let settings: TLSSettings
    let keyLog: KeyLogFile?
    private let state: Lock<State>

    /// Throws `badParameter` if a setting is invalid, with a sentence that names it.
    init(_ settings: TLSSettings) throws(SocketError) {
        if let fault = settings.fault { throw Self.refused(fault) }
        self.settings = settings
        keyLog = try settings.keyLogFile.map { path throws(SocketError) in try KeyLogFile(path) }
        let made = try Self.make(settings, withKeyLog: keyLog != nil)
        guard let context = made.pointer else { throw Self.refused("OpenSSL: out of memory") }
        state = Lock(State(context))
    }

    /// Returns a new session over `exchange`, which must outlive it, or `nil` if memory runs out.
    func makeSSL(_ exchange: TLSExchange) -> LibraryPointer? {
        let made = state.withLock { LibraryPointer(SSL_new($0.context)) }
        guard let ssl = made.pointer else { return nil }
        SSL_set_ex_data(ssl, 0, CallbackObject.lend(exchange))
        let bio = TLSWire.bio(exchange)
        SSL_set_bio(ssl, bio, bio)
        switch settings.role {
        case .client: setUpClient(ssl, exchange)
        case .server: SSL_set_accept_state(ssl)
        }
        return made
    }

    private func setUpClient(_ ssl: OpaquePointer, _ exchange: TLSExchange) {
        SSL_set_connect_state(ssl)
        if let name = exchange.askedName, !TLSNames.isAddress(name) { co_set_sni(ssl, name) }
        if let name = exchange.expectedName {
            if TLSNames.isAddress(name) {
                X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), TLSNames.withoutScope(name))
            } else {
                // The subject's common name doesn't identify a server (RFC 9525, 2).
                let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
                SSL_set_hostflags(ssl, UInt32(flags))
                SSL_set1_host(ssl, name)
            }
        }
        guard let key = exchange.sessionKey else { return }
        let ssl = LibraryPointer(ssl)
        state.withLock { state in
            guard let session = state.sessions[key] else { return }
            SSL_set_session(ssl.pointer, session)
            // A TLS 1.3 ticket is used once, so that two connections can't be linked by it (RFC 8446, appendix C.4),
            // and the server issues new ones. Before TLS 1.3 it issues none with a resumed session, so the session is
            // kept.
            guard SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION else { return }
            state.sessions[key] = nil
            SSL_SESSION_free(session)
        }
    }

    /// Keeps a session for the next connection to that peer, and becomes its owner.
    func keep(_ session: LibraryPointer, for key: String) {
        state.withLock { state in
            guard let session = session.pointer else { return }
            if state.sessions.count >= Self.sessionLimit, let other = state.sessions.keys.first(where: { $0 != key }) {
                SSL_SESSION_free(state.sessions.removeValue(forKey: other))
            }
            SSL_SESSION_free(state.sessions.updateValue(session, forKey: key) ?? nil)
        }
    }

    static func refused(_ detail: String) -> SocketError {
        SocketError(.badParameter, operation: "startTLS", detail: detail)
    }
}

// MARK: - From settings to OpenSSL

extension TLSContext {
    /// Returns a new context, which the caller owns.
    private static func make(_ settings: TLSSettings, withKeyLog: Bool) throws(SocketError) -> LibraryPointer {
        guard OpenSSL.isReady else { return LibraryPointer(nil) }
        ERR_clear_error()
        guard let context = SSL_CTX_new(settings.role == .client ? TLS_client_method() : TLS_server_method()) else {
            return LibraryPointer(nil)
        }
        do throws(SocketError) {
            try setUp(context, settings)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        if withKeyLog { SSL_CTX_set_keylog_callback(context, TLSCallbacks.keyLog) }
        return LibraryPointer(context)
    }

    private static func setUp(_ context: OpaquePointer, _ settings: TLSSettings) throws(SocketError) {
        co_ctx_set_mode(context, co_modes)
        SSL_CTX_set_options(context, co_no_renegotiation)
        SSL_CTX_set_default_passwd_cb(context, TLSCallbacks.password)
        SSL_CTX_set_info_callback(context, TLSCallbacks.information)
        SSL_CTX_set_cert_verify_callback(context, TLSCallbacks.verify, nil)
        try setVersions(context, settings)
        try setTrust(context, settings)
        try setIdentity(context, settings)
        setSessions(context, settings)
        if settings.role == .server { co_ctx_set_servername_callback(context, TLSCallbacks.serverName) }
        guard !settings.applicationProtocols.isEmpty else { return }
        if settings.role == .server {
            SSL_CTX_set_alpn_select_cb(context, TLSCallbacks.selectProtocol, nil)
        } else {
            let list = TLSNames.wireForm(settings.applicationProtocols)
            SSL_CTX_set_alpn_protos(context, list, UInt32(list.count))
        }
    }

    private static func setVersions(_ context: OpaquePointer, _ settings: TLSSettings) throws(SocketError) {
        co_ctx_set_min(context, settings.minimumVersion.number)
        co_ctx_set_max(context, settings.maximumVersion.number)
        if let list = settings.cipherList, SSL_CTX_set_cipher_list(context, list) != 1 {
            throw refused("cipherList \(list): no cipher of that name; `openssl ciphers` lists them")
        }
        if let suites = settings.cipherSuites, SSL_CTX_set_ciphersuites(context, suites) != 1 {
            throw refused("cipherSuites \(suites): no TLS 1.3 suite of that name, such as TLS_AES_128_GCM_SHA256")
        }
        ERR_clear_error()
    }

    private static func setTrust(_ context: OpaquePointer, _ settings: TLSSettings) throws(SocketError) {
        let isClient = settings.role == .client
        switch settings.trust {
        case .system:
            SSL_CTX_set_default_verify_paths(context)
        case .file(let path):
            if let problem = TLSFiles.problem(path) { throw refused("trust file \(path): \(problem)") }
            guard path.withNative({ SSL_CTX_load_verify_file(context, $0) }) == 1 else {
                throw refused("trust file \(path): \(TLSReasons.file(path, holding: "certificate"))")
            }
            // A server tells its clients which authorities it accepts.
            if !isClient { SSL_CTX_set_client_CA_list(context, path.withNative { SSL_load_client_CA_file($0) }) }
        case .folder(let path):
            var status = stat()
            guard path.withNative({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR,
                path.withNative({ SSL_CTX_load_verify_dir(context, $0) }) == 1
            else { throw refused("trust folder \(path): no such folder") }
        case .pinned, .anything:
            SSL_CTX_set_default_verify_paths(context)
        }
        let mode: Int32
        switch settings.clientCertificate {
        case .none: mode = isClient ? SSL_VERIFY_PEER : SSL_VERIFY_NONE
        case .requested: mode = SSL_VERIFY_PEER
        case .required: mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
        }
        SSL_CTX_set_verify(context, mode, nil)
        ERR_clear_error()
    }

    private static func setSessions(_ context: OpaquePointer, _ settings: TLSSettings) {
        // A resumed session would repeat the user's acceptance of a certificate.
        guard settings.resumesSessions, settings.role == .client || settings.trustEvaluator == .library else {
            co_ctx_set_cache(context, co_cache_off)
            SSL_CTX_set_options(context, co_no_ticket)
            SSL_CTX_set_num_tickets(context, 0)
            return
        }
        if settings.role == .client {
            co_ctx_set_cache(context, co_cache_client)
            SSL_CTX_sess_set_new_cb(context, TLSCallbacks.newSession)
        } else {
            co_ctx_set_cache(context, co_cache_server)
            // Without its own session identifier context, a server that requests certificates resumes nothing.
            SSL_CTX_set_session_id_context(context, Array("SocketKit".utf8), 9)
        }
    }
}

extension TLSSettings.Version {
    fileprivate var number: Int32 {
        switch self {
        case .tls10: TLS1_VERSION
        case .tls11: TLS1_1_VERSION
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}
