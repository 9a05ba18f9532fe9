import InspectorCore
import SocketKit
import SocketWorkshop

/// A recorded session, the server to replay it to, and how.
package struct ReplayRequest: Equatable {
    package var file = ""
    package var filter = Filter()
    /// As written by the user.
    package var address = ""
    package var endpoint = Endpoint.tcp(host: "", port: 0)
    package var tls: TLSSettings?
    package var pace = ReplayPace.times(1)
    package var match: ReplayMatch?
    package var holes: [HoleRule] = []
    /// The holes as written, for error messages.
    package var holeTexts: [String] = []
    /// How much later than in the recording an expected byte may arrive.
    package var patience = Duration.seconds(10)
    package var isJSON = false
    /// For a sweep: the pause in a cut, the number of parallel connections, and the exchange, counted from 1.
    package var pause = Duration.milliseconds(20)
    package var parallel = 16
    package var exchange = 1

    package init() {}
}
