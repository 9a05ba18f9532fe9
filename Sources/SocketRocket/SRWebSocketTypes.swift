@_exported import Foundation
@_exported import FoundationNetworking

/// How far an `SRWebSocket` is. SocketRocket: `SRReadyState`.
public enum SRReadyState: Int, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// It is to be opened, or about to be.
    case CONNECTING = 0
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Messages can be sent.
    case OPEN = 1
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// One side has said Close.
    case CLOSING = 2
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// It is over, or never came about.
    case CLOSED = 3
}

/// Why a WebSocket was closed (RFC 6455, 7.4.1). SocketRocket: `SRStatusCode`.
public enum SRStatusCode: Int, Sendable {
    /// Done.
    case codeNormal = 1000
    /// An end goes away.
    case codeGoingAway = 1001
    /// The peer broke the protocol.
    case codeProtocolError = 1002
    /// A message of a kind that is not taken.
    case codeUnhandledType = 1003
    /// A Close without a code came; never on the wire.
    case codeNoStatusReceived = 1005
    /// No Close came; never on the wire.
    case codeAbnormal = 1006
    /// A text that is not UTF-8.
    case codeInvalidUTF8 = 1007
    /// Against a policy.
    case codePolicyViolated = 1008
    /// A message that is too long.
    case codeMessageTooBig = 1009
    /// The server did not agree to an extension.
    case codeMissingExtension = 1010
    /// The server failed.
    case codeInternalError = 1011
    /// The service restarts.
    case codeServiceRestart = 1012
    /// The service is busy.
    case codeTryAgainLater = 1013
    /// TLS failed; never on the wire.
    case codeTLSHandshake = 1015

    /// The former name of `codeNoStatusReceived`.
    @available(*, deprecated, renamed: "codeNoStatusReceived")
    public static var noStatusReceived: SRStatusCode { .codeNoStatusReceived }
}

/// The domain of errors of WebSockets: 2132 for an HTTP status other than 101, 2133 for an answer that breaks a rule, 2134
/// for what cannot be sent in this state, a code of a Close otherwise.
public let SRWebSocketErrorDomain = "SRWebSocketErrorDomain"

/// The key in an error's user info of the HTTP status that a server answered with, an `Int`.
public let SRHTTPResponseErrorKey = "HTTPResponseStatusCode"
