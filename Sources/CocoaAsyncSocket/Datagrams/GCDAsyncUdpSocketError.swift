import Foundation

/// The domain of errors about the socket itself.
public let GCDAsyncUdpSocketErrorDomain = "GCDAsyncUdpSocketErrorDomain"
/// The name of upstream's exceptions. None is raised here.
public let GCDAsyncUdpSocketException = "GCDAsyncUdpSocketException"
/// The name of upstream's queues.
public let GCDAsyncUdpSocketQueueName = "GCDAsyncUdpSocket"
/// The name of upstream's stream thread, which does not exist here.
public let GCDAsyncUdpSocketThreadName = "GCDAsyncUdpSocket-CFStream"

/// An error of `GCDAsyncUdpSocketErrorDomain` in Swift.
public struct GCDAsyncUdpSocketError: _BridgedStoredNSError {
    /// The error as an `NSError`.
    public let _nsError: NSError

    /// Wraps an error of `GCDAsyncUdpSocketErrorDomain`.
    public init(_nsError error: NSError) { _nsError = error }

    /// `GCDAsyncUdpSocketErrorDomain`.
    public static var _nsErrorDomain: String { GCDAsyncUdpSocketErrorDomain }

    /// The error codes.
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error type of these codes.
        public typealias _ErrorType = GCDAsyncUdpSocketError
        /// Never used.
        case noError = 0
        /// The socket's state does not allow the call.
        case badConfigError
        /// An argument is invalid.
        case badParamError
        /// A send timed out.
        case sendTimeoutError
        /// The socket was closed.
        case closedError
        /// Any other error. The description says what happened.
        case otherError
    }

    /// Never used.
    public static var noError: Code { .noError }
    /// The socket's state does not allow the call.
    public static var badConfigError: Code { .badConfigError }
    /// An argument is invalid.
    public static var badParamError: Code { .badParamError }
    /// A send timed out.
    public static var sendTimeoutError: Code { .sendTimeoutError }
    /// The socket was closed.
    public static var closedError: Code { .closedError }
    /// Any other error. The description says what happened.
    public static var otherError: Code { .otherError }
}

/// Bridging from `NSError`, which is automatic on platforms with Objective-C.
extension GCDAsyncUdpSocketError: _ObjectiveCBridgeable {
    /// The error as an `NSError`.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Wraps an error of `GCDAsyncUdpSocketErrorDomain`.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout GCDAsyncUdpSocketError?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Wraps an error of `GCDAsyncUdpSocketErrorDomain`. Returns `false` for another domain.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout GCDAsyncUdpSocketError?
    ) -> Bool {
        result = source.domain == _nsErrorDomain ? GCDAsyncUdpSocketError(_nsError: source) : nil
        return result != nil
    }

    /// Wraps any error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> GCDAsyncUdpSocketError {
        GCDAsyncUdpSocketError(_nsError: source ?? NSError(domain: _nsErrorDomain, code: Code.otherError.rawValue))
    }
}
