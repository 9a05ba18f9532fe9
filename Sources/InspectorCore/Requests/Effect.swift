import SocketCore

/// An effect that the reducer requests. Only the run loop's effect runner performs effects.
package enum Effect: Equatable, Sendable {
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
