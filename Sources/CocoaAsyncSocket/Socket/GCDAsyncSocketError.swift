import Foundation

/// The domain of errors about the socket itself.
public let GCDAsyncSocketErrorDomain = "GCDAsyncSocketErrorDomain"
/// The name of upstream's exceptions. None is raised here.
public let GCDAsyncSocketException = "GCDAsyncSocketException"
/// The name of the engine that sockets without a socket queue share, and of its queue.
public let GCDAsyncSocketQueueName = "GCDAsyncSocket"
/// The name of upstream's stream thread, which does not exist here.
public let GCDAsyncSocketThreadName = "GCDAsyncSocket-CFStream"
/// The context of upstream's log messages. Nothing is logged here.
public let GCDAsyncSocketLoggingContext = 65535

/// An error of `GCDAsyncSocketErrorDomain` in Swift: `error as? GCDAsyncSocketError`, and
/// `catch GCDAsyncSocketError.closedError`.
public struct GCDAsyncSocketError: _BridgedStoredNSError {
    /// The error as an `NSError`.
    public let _nsError: NSError

    /// Wraps an error of `GCDAsyncSocketErrorDomain`.
    public init(_nsError error: NSError) { _nsError = error }

    /// `GCDAsyncSocketErrorDomain`.
    public static var _nsErrorDomain: String { GCDAsyncSocketErrorDomain }

    /// The error codes.
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error type of these codes.
        public typealias _ErrorType = GCDAsyncSocketError
        /// Never used.
        case noError = 0
        /// The socket's state does not allow the call, or it lacks a delegate or delegate queue.
        case badConfigError
        /// An argument is invalid.
        case badParamError
        /// The connect timed out.
        case connectTimeoutError
        /// A read timed out.
        case readTimeoutError
        /// A write timed out.
        case writeTimeoutError
        /// A read reached its `maxLength` without its separator.
        case readMaxedOutError
        /// The peer closed the connection.
        case closedError
        /// Any other error. The description says what happened.
        case otherError
    }

    /// Never used.
    public static var noError: Code { .noError }
    /// The socket's state does not allow the call, or it lacks a delegate or delegate queue.
    public static var badConfigError: Code { .badConfigError }
    /// An argument is invalid.
    public static var badParamError: Code { .badParamError }
    /// The connect timed out.
    public static var connectTimeoutError: Code { .connectTimeoutError }
    /// A read timed out.
    public static var readTimeoutError: Code { .readTimeoutError }
    /// A write timed out.
    public static var writeTimeoutError: Code { .writeTimeoutError }
    /// A read reached its `maxLength` without its separator.
    public static var readMaxedOutError: Code { .readMaxedOutError }
    /// The peer closed the connection.
    public static var closedError: Code { .closedError }
    /// Any other error. The description says what happened.
    public static var otherError: Code { .otherError }
}

/// Bridging from `NSError`, which is automatic on platforms with Objective-C.
extension GCDAsyncSocketError: _ObjectiveCBridgeable {
    /// The error as an `NSError`.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Wraps an error of `GCDAsyncSocketErrorDomain`.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout GCDAsyncSocketError?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Wraps an error of `GCDAsyncSocketErrorDomain`. Returns `false` for another domain.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout GCDAsyncSocketError?
    ) -> Bool {
        result = source.domain == _nsErrorDomain ? GCDAsyncSocketError(_nsError: source) : nil
        return result != nil
    }

    /// Wraps any error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> GCDAsyncSocketError {
        GCDAsyncSocketError(_nsError: source ?? NSError(domain: _nsErrorDomain, code: Code.otherError.rawValue))
    }
}
