import SocketCore

/// A user's request to open something.
package struct OpenRequest: Hashable, Sendable {
    package var target: OpenTarget
    /// For a connect, the time limit, or `nil` for none.
    package var timeout: Duration?
    /// Whether a standing read of kind "any" is queued at once, on each accepted connection too.
    package var standingRead: Bool
    /// Whether the connection stays open for writing after the peer's FIN.
    package var allowsHalfOpen: Bool
    /// For a listener, whether connections wait in the kernel until the user accepts or refuses each one.
    package var holdsConnections: Bool
    /// TLS from the first byte, or `nil` for none.
    package var tls: TLSSettings?
    /// For a connect, the bytes to write at once. Empty for none.
    package var greeting: [UInt8] = []
    /// The auto-reply rules of this connection, or of those that a listener accepts.
    package var replies: [ReplyRule] = []
    /// For a WebSocket, the options in addition to its address.
    package var webSocket = WebSocketChoices()

    /// The target as typed: `tls://localhost:8443`.
    package var address: String { target.description }

    package init(
        _ target: OpenTarget, timeout: Duration? = nil, standingRead: Bool = true, allowsHalfOpen: Bool = false,
        holdsConnections: Bool = false
    ) {
        self.target = target
        self.timeout = timeout
        self.standingRead = standingRead
        self.allowsHalfOpen = allowsHalfOpen
        self.holdsConnections = holdsConnections
    }

    package init(
        _ endpoint: Endpoint, timeout: Duration? = nil, standingRead: Bool = true, allowsHalfOpen: Bool = false,
        holdsConnections: Bool = false
    ) {
        self.init(
            .stream(endpoint), timeout: timeout, standingRead: standingRead, allowsHalfOpen: allowsHalfOpen,
            holdsConnections: holdsConnections)
    }
}

/// An effect that the reducer requests. Only the run loop's effect runner performs effects.
package enum Effect: Hashable, Sendable {
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
    case startDemo
    /// Attach to a program that allows inspection, by its process, its name or the path of its socket.
    case attach(String)
    /// Show the sockets of every program on this host.
    case showHost
    /// Show the contents of a capture file.
    case openFile(String)
    /// Show the traffic of an interface, which the command line names.
    case capture
    /// Record this run to a new file.
    case record(String)
    /// Stop the recording.
    case stopRecording
    /// Keep the last part of this run for rewinding, or nothing if it is `nil`.
    case keepHistory(Duration?)
    /// Turn mouse reporting on or off. The terminal's own selection works only while it is off.
    case mouse(Bool)
    /// Send what takes more than one write, or needs data that the reducer does not have.
    case transmit(Transmission)
    /// Stop a transmission.
    case stopTransmission(SocketID)
    /// Set how a composer's lines are sent from now on. A form requests it, and the reducer performs it itself.
    case setPace(SocketID, Pace)
    /// Set the destination of a composer's datagrams from now on. The reducer performs this itself too.
    case setDestination(SocketID, Endpoint)
    /// Find out the size of the file at a path.
    case examine(String)
    /// Find the paths that start with the typed text.
    case completePath(String)
    /// Copy to the terminal's clipboard, or to a file if it has none.
    case copy([UInt8])
    /// Save to a new file. `missing` bytes and `droppedItems` whole items were not kept.
    case save(String, [UInt8], missing: UInt64, droppedItems: UInt64)
    /// Save the kept traffic of these connections to a folder, two files for each.
    case saveTraffic([SocketID], folder: String)
    /// Search the payloads of many connections in the background. A new search replaces the previous one.
    case find(FindRequest)
    case stopFind
    /// Dissect traffic with another program.
    case dissect(DissectionRequest)
    /// Open bytes in the user's editor.
    case edit(EditSubject, [UInt8])
    /// Set the auto-reply rules from now on.
    case setReplies(SocketID, [ReplyRule])
    /// Keep a line for later runs, under the peer that it was sent to.
    case remember(String, SentLine)
    /// Add, list or remove faults and breakpoints, or release what breakpoints hold.
    case fault(FaultCommand)
    /// Fetch the held bytes of a connection, for editing.
    case fetchHeld(SocketID)
    /// Ring the terminal's bell.
    case bell
    /// Redraw the screen from scratch (^L).
    case repaint
    /// Stop the program as ^Z does, and redraw when it continues.
    case suspend
    case quit
}

/// A message to the reducer.
package enum Message: Sendable {
    case key(Key)
    /// Text from a bracketed paste. Never read as keys.
    case paste(String)
    case resized(Size)
    case snapshot(EngineSnapshot)
    /// The time by this program's clock, sent while the past is played.
    case time(MonotonicTime)
    /// A socket that the user requested now exists.
    case opened(SocketID, OpenRequest)
    /// A relay that the user requested is now listening.
    case relays(SocketID)
    /// The user's request was rejected at the call. The value is a sentence that names the input.
    case refused(String)
    /// The offers of the start screen.
    case start(StartOffers)
    /// The progress of a long transmission.
    case transmission(TransmissionProgress)
    case transmissionEnded(TransmissionProgress, TransmissionEnding)
    /// Lines sent in earlier runs, by peer.
    case sentLines([String: [SentLine]])
    /// The auto-reply rules of a socket have changed.
    case replies(SocketID, [ReplyRule])
    /// The user's templates, the file that they are read from, and the problem with it, if any.
    case templates([Template], from: String? = nil, problem: String? = nil)
    /// Something was done. The value is a sentence for the user.
    case told(String)
    /// The held bytes of a connection.
    case held(SocketID, [UInt8])
    /// The editor was closed.
    case edited(EditSubject, [UInt8], wasChanged: Bool)
    /// The facts about the file at a path.
    case examined(FileFacts)
    /// The progress of a payload search, and the matches since the last message.
    case found(FindProgress)
    /// The completions of a typed path.
    case paths(PathMatches)
    /// News of the program that runs through the relay.
    case child(ChildNews)
    /// News of the attached programs.
    case programs(ProgramNews)
    /// The other ends of the visible connections that are on this host.
    case peers([SocketID: PeerEnd])
    /// A line as typed after `:`.
    case command(String)
    /// The unread bytes of a program.
    case unread(UnreadLook)
    /// A message about the program itself, for its log, and its time.
    case note(String, at: MonotonicTime)
    case mouse(MouseEvent)
    /// The output of the program that dissects traffic.
    case dissection(DissectionNews)
    /// The state of the recording, or `nil` if nothing is recorded.
    case recording(RecordingState?)
    /// The terminal has reported whether its background is light, and the colors have changed.
    case background(isLight: Bool)
}

/// A mouse event. Sent only while the mouse is on.
package struct MouseEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case press, release, wheelUp, wheelDown }
    package var kind: Kind
    package var x: Int
    package var y: Int

    package init(_ kind: Kind, x: Int, y: Int) {
        self.kind = kind
        self.x = x
        self.y = y
    }
}

/// What the start screen offers below its prompt.
package struct StartOffers: Hashable, Sendable {
    package struct Recent: Hashable, Sendable {
        /// The text as typed: `imap.example:993`, `listen 127.0.0.1:8080`.
        package var text: String
        /// The age in words: `2 days ago`.
        package var age: String
        package init(text: String, age: String) {
            self.text = text
            self.age = age
        }
    }

    package struct Listening: Hashable, Sendable {
        /// The address to connect to: `127.0.0.1:6379`.
        package var address: String
        /// `redis-server[812]`, or empty if the kernel does not reveal it.
        package var program: String
        package init(address: String, program: String) {
            self.address = address
            self.program = program
        }
    }

    package struct Program: Hashable, Sendable {
        /// `chatd[4242]`
        package var title: String
        /// How long it has allowed inspection, in words: `up 2:04:10`.
        package var age: String
        /// The path of its inspection socket.
        package var path: String
        package init(title: String, age: String, path: String) {
            self.title = title
            self.age = age
            self.path = path
        }
    }

    package var recent: [Recent]
    package var listening: [Listening]
    package var programs: [Program]

    package init(recent: [Recent] = [], listening: [Listening] = [], programs: [Program] = []) {
        self.recent = recent
        self.listening = listening
        self.programs = programs
    }
}
