import Foundation
import SocketKit

extension NSError {
    /// Converts an engine's error to the one that GCDAsyncSocket reports.
    static func stream(_ error: SocketError) -> NSError {
        NSError(domain: error.domain, code: error.code, userInfo: userInfo(error))
    }

    /// Converts an engine's error to the one that GCDAsyncUdpSocket reports.
    static func datagram(_ error: SocketError) -> NSError {
        guard let code = datagramCode(error.reason) else { return stream(error) }
        return NSError(domain: GCDAsyncUdpSocketErrorDomain, code: code.rawValue, userInfo: userInfo(error))
    }

    private static func datagramCode(_ reason: SocketError.Reason) -> GCDAsyncUdpSocketError.Code? {
        switch reason {
        case .badConfiguration: .badConfigError
        case .badParameter: .badParamError
        case .sendTimeout: .sendTimeoutError
        case .disconnected, .closedByPeer, .notConnected, .cancelled: .closedError
        case .system, .resolver: nil
        case .connectTimeout, .readTimeout, .writeTimeout, .idleTimeout, .readMaxedOut, .tls, .webSocket, .other:
            .otherError
        }
    }

    private static func userInfo(_ error: SocketError) -> [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: error.detail]
        if case .system(let number) = error.reason {
            info[NSLocalizedDescriptionKey] = String(cString: strerror(number))
            info[NSLocalizedFailureReasonErrorKey] = "Error in \(error.operation)() function: \(error.detail)"
        }
        return info
    }

    /// Creates the error for a configuration that does not allow the call.
    static func badConfiguration(_ detail: String) -> NSError {
        stream(SocketError(.badConfiguration, operation: "", detail: detail))
    }

    /// Creates the error for an invalid argument.
    static func badParameter(_ detail: String) -> NSError {
        stream(SocketError(.badParameter, operation: "", detail: detail))
    }
}

/// Calls the engine, and throws its errors as `NSError`.
func rethrowing<R>(_ convert: (SocketError) -> NSError, _ body: () throws(SocketError) -> R) throws -> R {
    do throws(SocketError) {
        return try body()
    } catch {
        throw convert(error)
    }
}
