@_exported import Foundation
@_exported import FoundationNetworking

/// The state of an `SRWebSocket`. SocketRocket: `SRReadyState`.
public enum SRReadyState: Int, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The WebSocket has not been opened, or is opening.
    case CONNECTING = 0
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Messages can be sent.
    case OPEN = 1
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// One side has sent a Close.
    case CLOSING = 2
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The WebSocket has closed, or never opened.
    case CLOSED = 3
}

/// Why a WebSocket was closed (RFC 6455, 7.4.1). SocketRocket: `SRStatusCode`.
public enum SRStatusCode: Int, Sendable {
    /// The purpose of the connection is fulfilled.
    case codeNormal = 1000
    /// An endpoint is going away.
    case codeGoingAway = 1001
    /// The peer broke the protocol.
    case codeProtocolError = 1002
    /// An endpoint received a kind of message that it doesn't accept.
    case codeUnhandledType = 1003
    /// A Close without a code was received. Never on the wire.
    case codeNoStatusReceived = 1005
    /// No Close was received. Never on the wire.
    case codeAbnormal = 1006
    /// A text was not valid UTF-8.
    case codeInvalidUTF8 = 1007
    /// A message violated a policy.
    case codePolicyViolated = 1008
    /// A message was too long.
    case codeMessageTooBig = 1009
    /// The server did not agree to an extension.
    case codeMissingExtension = 1010
    /// The server failed.
    case codeInternalError = 1011
    /// The service is restarting.
    case codeServiceRestart = 1012
    /// The service is busy.
    case codeTryAgainLater = 1013
    /// TLS failed. Never on the wire.
    case codeTLSHandshake = 1015

    /// The former name of `codeNoStatusReceived`.
    @available(*, deprecated, renamed: "codeNoStatusReceived")
    public static var noStatusReceived: SRStatusCode { .codeNoStatusReceived }
}

/// The domain of WebSocket errors. The code is 2132 for an HTTP status other than 101, 2133 for an invalid response,
/// 2134 for a message that cannot be sent in the current state, and otherwise the code of a Close.
public let SRWebSocketErrorDomain = "SRWebSocketErrorDomain"

/// The user-info key for the HTTP status that a server answered with, an `Int`.
public let SRHTTPResponseErrorKey = "HTTPResponseStatusCode"
