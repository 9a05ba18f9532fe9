import Foundation

/// The domain of errors that are about the socket itself.
public let GCDAsyncUdpSocketErrorDomain = "GCDAsyncUdpSocketErrorDomain"
/// The name of upstream's exceptions; none is raised here.
public let GCDAsyncUdpSocketException = "GCDAsyncUdpSocketException"
/// The name of upstream's queues.
public let GCDAsyncUdpSocketQueueName = "GCDAsyncUdpSocket"
/// The name of upstream's stream thread; there is none here.
public let GCDAsyncUdpSocketThreadName = "GCDAsyncUdpSocket-CFStream"

/// An error of `GCDAsyncUdpSocketErrorDomain`, as Swift has it.
public struct GCDAsyncUdpSocketError: _BridgedStoredNSError {
    /// The error as Foundation has it.
    public let _nsError: NSError

    /// Takes an error of that domain.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain.
    public static var _nsErrorDomain: String { GCDAsyncUdpSocketErrorDomain }

    /// The codes.
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error that has such a code.
        public typealias _ErrorType = GCDAsyncUdpSocketError
        /// Never used.
        case noError = 0
        /// The socket is not in a state that allows the call.
        case badConfigError
        /// An argument is wrong.
        case badParamError
        /// A send took too long.
        case sendTimeoutError
        /// The socket was closed.
        case closedError
        /// What the description says.
        case otherError
    }

    /// Never used.
    public static var noError: Code { .noError }
    /// The socket is not in a state that allows the call.
    public static var badConfigError: Code { .badConfigError }
    /// An argument is wrong.
    public static var badParamError: Code { .badParamError }
    /// A send took too long.
    public static var sendTimeoutError: Code { .sendTimeoutError }
    /// The socket was closed.
    public static var closedError: Code { .closedError }
    /// What the description says.
    public static var otherError: Code { .otherError }
}

/// How an `NSError` becomes this, as it does by itself where there is Objective-C.
extension GCDAsyncUdpSocketError: _ObjectiveCBridgeable {
    /// The error as Foundation has it.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Takes an error of that domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout GCDAsyncUdpSocketError?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    /// Takes an error of that domain; false for one of another.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout GCDAsyncUdpSocketError?
    ) -> Bool {
        result = source.domain == _nsErrorDomain ? GCDAsyncUdpSocketError(_nsError: source) : nil
        return result != nil
    }

    /// Takes an error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> GCDAsyncUdpSocketError {
        GCDAsyncUdpSocketError(_nsError: source ?? NSError(domain: _nsErrorDomain, code: Code.otherError.rawValue))
    }
}
