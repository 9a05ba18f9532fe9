import SocketCore
import SocketRecords

/// Viewers' requests to the program. Each is accounted for until it is answered.
extension InspectionServer {
    /// Lets the program carry out a request line, if it takes requests.
    func carryOut(_ line: String, for viewer: InspectionViewer) {
        let name = "\(hello.program)[\(hello.process)]"
        func refuse(_ sentence: String) {
            viewer.send(InspectionFrame.answer(InspectionAnswer(sentence, isRefused: true)).bytes)
        }
        guard rights >= .control else {
            return refuse("\(name) grants viewers only \(rights.rawValue); nothing was done")
        }
        guard let handler = engine?.requestHandler else { return refuse("\(name) accepts no requests") }
        // Each answer costs memory, whatever its request did.
        let (account, cost) = (viewer.account, viewer.frameLength + 4_096)
        account.owe(cost)
        handler(line) { @Sendable [self] answer in
            account.settle(cost, answer)
            ring()
        }
    }

    func carryOut(_ command: SocketCommand, for viewer: InspectionViewer) {
        guard rights >= .control else {
            let sentence = "\(hello.program)[\(hello.process)] grants viewers only \(rights.rawValue); nothing was done"
            return viewer.send(InspectionFrame.notice(sentence).bytes)
        }
        let (account, cost) = (viewer.account, viewer.frameLength)
        account.owe(cost)
        engine?.post(
            .viewer(command) { @Sendable [self] refusal in
                if account.settle(cost, refusal) { ring() }
            })
    }
}
