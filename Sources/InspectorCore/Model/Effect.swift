import SocketCore

/// What a person asked to open.
package struct OpenRequest: Hashable, Sendable {
    package var target: OpenTarget
    /// Of a connect: how long it may take; nil: for ever.
    package var timeout: Duration?
    /// Whether a standing read of kind "any" is queued at once, on each accepted connection too.
    package var standingRead: Bool
    /// Whether the connection stays open for writing after the peer's FIN.
    package var allowsHalfOpen: Bool
    /// Of a listener: whether connections wait in the kernel until a person takes or refuses each.
    package var holdsConnections: Bool
    /// TLS from the first byte on; nil: none.
    package var tls: TLSSettings?
    /// Of a connect: what is written at once; empty: nothing.
    package var greeting: [UInt8] = []
    /// The auto-reply rules of this connection, or of those that a listener accepts.
    package var replies: [ReplyRule] = []
    /// Of a WebSocket: what is said beside its address.
    package var webSocket = WebSocketChoices()

    /// What is opened, as it would be typed: `tls://localhost:8443`.
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

/// What the reducer wants done; the run loop's effect runner is the only one that does it.
package enum Effect: Hashable, Sendable {
    case send(SocketCommand)
    case connect(OpenRequest)
    case listen(OpenRequest)
    /// Ask for TLS on a connection that stands.
    case startTLS(SocketID, TLSSettings)
    case relay(RelayRequest)
    /// Start a program whose connections go through a relay of its own.
    case run(RunRequest)
    /// Send a signal to that program and its children.
    case signalChild(Int32)
    case startDemo
    /// Look at a program that lets itself be inspected: by its process, its name or the path of its socket.
    case attach(String)
    /// Look at the sockets of every program of this host.
    case showHost
    /// Shows what a capture file tells.
    case openFile(String)
    /// Show what passes on an interface, which the command line names.
    case capture
    /// Record this run in a file that is not there yet.
    case record(String)
    /// End the recording.
    case stopRecording
    /// Keep the last so much of this run, so that the user can go back in it; `nil`: nothing.
    case keepHistory(Duration?)
    /// Let the terminal report the mouse, or not; its own selection works only while it does not.
    case mouse(Bool)
    /// Send what takes more than one write, or more than the reducer knows.
    case transmit(Transmission)
    /// Stop sending it.
    case stopTransmission(SocketID)
    /// How the lines of a composer go out from now on; a form asks for it, and the reducer does it itself.
    case setPace(SocketID, Pace)
    /// Where a composer's datagrams go from now on; the reducer does this itself too.
    case setDestination(SocketID, Endpoint)
    /// Find out how large the file at a path is.
    case examine(String)
    /// Find the paths that begin with what is typed.
    case completePath(String)
    /// To the terminal's clipboard, or to a file where it has none.
    case copy([UInt8])
    /// To a file that is not there yet. `missing` bytes were not kept, and so were `droppedItems` whole items.
    case save(String, [UInt8], missing: UInt64, droppedItems: UInt64)
    /// Save what was kept of these connections' traffic to a folder, two files for each.
    case saveTraffic([SocketID], folder: String)
    /// Search the payloads of many connections in the background; another search takes its place.
    case find(FindRequest)
    case stopFind
    /// Let another program dissect traffic.
    case dissect(DissectionRequest)
    /// Open bytes in the person's editor.
    case edit(EditSubject, [UInt8])
    /// From now on reply by these rules.
    case setReplies(SocketID, [ReplyRule])
    /// Keep a line for other runs, under the peer that it was sent to.
    case remember(String, SentLine)
    /// Add, list, remove faults and breakpoints, release what these hold.
    case fault(FaultCommand)
    /// Fetch what is held of a connection, to be edited.
    case fetchHeld(SocketID)
    /// Ring the terminal's bell.
    case bell
    /// Redraw the screen from scratch (^L).
    case repaint
    /// Stop the program as ^Z does, and redraw when it continues.
    case suspend
    case quit
}

/// What the reducer is told.
package enum Message: Sendable {
    case key(Key)
    /// Text that came as a bracketed paste; never read as keys.
    case paste(String)
    case resized(Size)
    case snapshot(EngineSnapshot)
    /// The time by this program's clock, told while the past is played.
    case time(MonotonicTime)
    /// A socket that this person asked for exists now.
    case opened(SocketID, OpenRequest)
    /// A relay that this person asked for listens now.
    case relays(SocketID)
    /// What this person asked for was refused at the call; a sentence that names the input.
    case refused(String)
    /// What the start screen offers.
    case start(StartOffers)
    /// How far a long transmission is.
    case transmission(TransmissionProgress)
    case transmissionEnded(TransmissionProgress, TransmissionEnding)
    /// Lines sent in other runs, by peer.
    case sentLines([String: [SentLine]])
    /// A socket replies by these rules now.
    case replies(SocketID, [ReplyRule])
    /// The user's templates, the file that they are read from, and what is wrong with it.
    case templates([Template], from: String? = nil, problem: String? = nil)
    /// Something was done; a sentence for the person.
    case told(String)
    /// What is held of a connection.
    case held(SocketID, [UInt8])
    /// The editor is closed.
    case edited(EditSubject, [UInt8], wasChanged: Bool)
    /// What was found at a path.
    case examined(FileFacts)
    /// How far a search through payloads is, and what it has found since the last time.
    case found(FindProgress)
    /// The paths that a typed one can become.
    case paths(PathMatches)
    /// What is new of the program that runs through the relay.
    case child(ChildNews)
    /// What is new of the programs that are looked at.
    case programs(ProgramNews)
    /// The other ends of the connections in sight, those that are on this host.
    case peers([SocketID: PeerEnd])
    /// A line as it is typed after `:`.
    case command(String)
    /// What a program has not read.
    case unread(UnreadLook)
    /// Something about the program itself, for its log, and when it was said.
    case note(String, at: MonotonicTime)
    case mouse(MouseEvent)
    /// What the program that dissects traffic said.
    case dissection(DissectionNews)
    /// How the recording is doing; `nil`: nothing is recorded.
    case recording(RecordingState?)
    /// The terminal has said whether its background is light; what is shown has other colors now.
    case background(isLight: Bool)
}

/// What the mouse did, where it was asked for.
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

/// What the start screen offers beside its prompt.
package struct StartOffers: Hashable, Sendable {
    package struct Recent: Hashable, Sendable {
        /// What was typed: `imap.example:993`, `listen 127.0.0.1:8080`.
        package var text: String
        /// When, in words: `2 days ago`.
        package var age: String
        package init(text: String, age: String) {
            self.text = text
            self.age = age
        }
    }

    package struct Listening: Hashable, Sendable {
        /// What to connect to: `127.0.0.1:6379`.
        package var address: String
        /// `redis-server[812]`; empty when the kernel does not say.
        package var program: String
        package init(address: String, program: String) {
            self.address = address
            self.program = program
        }
    }

    package struct Program: Hashable, Sendable {
        /// `chatd[4242]`
        package var title: String
        /// For how long it has let itself be inspected, in words: `up 2:04:10`.
        package var age: String
        /// Where it is attached to.
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
