import Foundation

/// The domain of errors that are about the socket itself.
public let GCDAsyncSocketErrorDomain = "GCDAsyncSocketErrorDomain"
/// The name of upstream's exceptions; none is raised here.
public let GCDAsyncSocketException = "GCDAsyncSocketException"
/// The name of the engine that sockets without a socket queue share, and of its queue.
public let GCDAsyncSocketQueueName = "GCDAsyncSocket"
/// The name of upstream's stream thread; there is none here.
public let GCDAsyncSocketThreadName = "GCDAsyncSocket-CFStream"
/// The context under which upstream logs; nothing is logged here.
public let GCDAsyncSocketLoggingContext = 65535

/// An error of `GCDAsyncSocketErrorDomain`, as Swift has it: `error as? GCDAsyncSocketError`, and
/// `catch GCDAsyncSocketError.closedError`.
public struct GCDAsyncSocketError: _BridgedStoredNSError {
    /// The error as Foundation has it.
    public let _nsError: NSError

    /// Takes an error of that domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain.
    public static var _nsErrorDomain: String { GCDAsyncSocketErrorDomain }

    /// The codes.
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error that has such a code.
        public typealias _ErrorType = GCDAsyncSocketError
        /// Never used.
        case noError = 0
        /// The socket is not in a state that allows the call, or it lacks a delegate or its queue.
        case badConfigError
        /// An argument is wrong.
        case badParamError
        /// The connect took too long.
        case connectTimeoutError
        /// A read took too long.
        case readTimeoutError
        /// A write took too long.
        case writeTimeoutError
        /// A read reached its `maxLength` without its separator.
        case readMaxedOutError
        /// The peer closed the connection.
        case closedError
        /// What the description says.
        case otherError
    }

    /// Never used.
    public static var noError: Code { .noError }
    /// The socket is not in a state that allows the call, or it lacks a delegate or its queue.
    public static var badConfigError: Code { .badConfigError }
    /// An argument is wrong.
    public static var badParamError: Code { .badParamError }
    /// The connect took too long.
    public static var connectTimeoutError: Code { .connectTimeoutError }
    /// A read took too long.
    public static var readTimeoutError: Code { .readTimeoutError }
    /// A write took too long.
    public static var writeTimeoutError: Code { .writeTimeoutError }
    /// A read reached its `maxLength` without its separator.
    public static var readMaxedOutError: Code { .readMaxedOutError }
    /// The peer closed the connection.
    public static var closedError: Code { .closedError }
    /// What the description says.
    public static var otherError: Code { .otherError }
}

/// How an `NSError` becomes this, as it does by itself where there is Objective-C.
extension GCDAsyncSocketError: _ObjectiveCBridgeable {
    /// The error as Foundation has it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Takes an error of that domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout GCDAsyncSocketError?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Takes an error of that domain; false for one of another.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout GCDAsyncSocketError?
    ) -> Bool {
        result = source.domain == _nsErrorDomain ? GCDAsyncSocketError(_nsError: source) : nil
        return result != nil
    }

    /// Takes an error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> GCDAsyncSocketError {
        GCDAsyncSocketError(_nsError: source ?? NSError(domain: _nsErrorDomain, code: Code.otherError.rawValue))
    }
}
