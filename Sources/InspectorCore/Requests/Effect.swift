import SocketCore

/// An effect that the reducer requests. The shell's effect runner performs it, and the run loop those on the screen.
///
/// To add one, add its case and what it claims here, and what performs it to the effect runner.
package enum Effect: Equatable, Sendable {
    case screen(ScreenEffect)
    case send(SocketCommand)
    case connect(OpenRequest)
    case listen(OpenRequest)
    /// Start TLS on an open connection.
    case startTLS(SocketID, TLSSettings)
    case relay(RelayRequest)
    /// Start a program whose connections go through its own relay.
    case run(RunRequest)
    /// Send a signal to that program and its children.
    case signalChild(Int32)
    /// Type bytes into that program's terminal.
    case typeToChild([UInt8])
    /// Give that program's terminal this size.
    case resizeChild(columns: Int, rows: Int)
    case startDemo
    /// Attach to a program that allows inspection, by its process, its name or the path of its socket.
    case attach(String)
    /// Show the sockets of every program on this host.
    case showHost
    /// Show the contents of a capture file, or of `standardInput`.
    case openFile(String)
    /// Show the traffic of an interface, which the command line names.
    case capture
    /// Record this run to a new file.
    case record(String)
    /// Stop the recording.
    case stopRecording
    /// Keep the last part of this run for rewinding, or nothing if it is `nil`.
    case keepHistory(Duration?)
    /// Send what takes more than one write, or needs data that the reducer does not have.
    case transmit(Transmission)
    /// Stop a transmission.
    case stopTransmission(SocketID)
    /// Find out the size of the file at a path.
    case examine(String)
    /// Find the paths that start with the typed text.
    case completePath(String)
    /// Save what was copied to a file, because the terminal has no clipboard.
    case saveCopy([UInt8])
    /// Save to a new file. `missing` bytes and `droppedItems` whole items were not kept.
    case save(String, [UInt8], missing: UInt64, droppedItems: UInt64)
    /// Save the kept traffic of these connections to a folder, two files for each.
    case saveTraffic([SocketID], folder: String)
    /// Search the payloads of many connections in the background. A new search replaces the previous one.
    case find(FindRequest)
    case stopFind
    /// Dissect traffic with another program.
    case dissect(DissectionRequest)
    /// Set the auto-reply rules from now on.
    case setReplies(SocketID, [ReplyRule])
    /// Keep a line for later runs, under the peer that it was sent to.
    case remember(String, SentLine)
    /// Add, list or remove faults and breakpoints, or release what breakpoints hold.
    case fault(FaultCommand)
    /// Fetch the held bytes of a connection, for editing.
    case fetchHeld(SocketID)

    /// What `openFile` has instead of a path for standard input, which is no file that the user names.
    package static let standardInput = "-"
}

/// An effect on the terminal itself.
package enum ScreenEffect: Equatable, Sendable {
    /// Turn mouse reporting on or off. The terminal's own selection works only while it is off.
    case mouse(Bool)
    /// Copy to the terminal's clipboard, or to a file if it has none.
    case copy([UInt8])
    /// Open bytes in the user's editor.
    case edit(EditSubject, [UInt8])
    /// Ring the terminal's bell.
    case bell
    /// Redraw the screen from scratch (^L).
    case repaint
    /// Stop the program as ^Z does, and redraw when it continues.
    case suspend
    case quit
}

extension Effect {
    /// What an effect needs, so that it can be refused before it is performed.
    package struct Claims: Equatable, Sendable {
        /// The socket that it affects, or `nil` if it affects none in particular.
        package var socket: SocketID?
        /// The abilities that the program of that socket must have.
        package var needs: SourceAbilities = []
        /// A path that it reads, writes or connects to, or `nil` if there is none, or if what performs it refuses it
        /// and has its own place for the answer. Under sudo and with `--secure` it is refused.
        package var file: String?
    }

    package var claims: Claims {
        switch self {
        case .send(let command): Claims(socket: command.socket, needs: .commands, file: command.file)
        case .startTLS(let id, let settings): Claims(socket: id, needs: .sending, file: settings.file)
        case .setReplies(let id, _): Claims(socket: id, needs: .sending)
        case .transmit(let transmission): Claims(socket: transmission.socket, needs: .sending)
        case .connect(let request), .listen(let request):
            Claims(file: request.target.endpoint.path ?? request.tls?.file)
        case .relay(let request): Claims(file: request.file)
        case .run(let request): Claims(file: request.arguments.first)
        case .openFile(let path): Claims(file: path == Self.standardInput ? nil : path)
        case .record(let path): Claims(file: path)
        case .attach, .examine, .completePath, .saveCopy, .save, .saveTraffic, .dissect, .remember: Claims()
        case .screen, .signalChild, .typeToChild, .resizeChild, .startDemo, .showHost, .capture, .stopRecording,
            .keepHistory, .stopTransmission, .find, .stopFind, .fault, .fetchHeld:
            Claims()
        }
    }
}
