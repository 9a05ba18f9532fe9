import SocketKit

/// A short life of some sockets, to be run once for every call in it that can fail.
package struct TortureScenario: Sendable, CustomStringConvertible {
    package let name: String
    let begin: @Sendable (TortureMachine) -> Void

    package var description: String { name }

    /// All of them.
    package static let all = [
        connect, accept, echo, delimited, framed, drain, halfClose, adopt, replaceSocketFile, readWhenAsked,
        datagrams, refusals,
    ]

    private static let text = Array("first\r\nsecond, which is longer\r\n".utf8)

    /// A name with two addresses, of which the first refuses.
    static let connect = TortureScenario(name: "connect") { machine in
        machine.listen { player, notice in
            if case .connected = notice { player.read(.available(limit: nil)) }
        }
        var configuration = SocketConfiguration()
        configuration.prefersIPv6 = true
        configuration.options.noDelay = true
        let client = machine.makePlayer(configuration) { player, notice in
            if case .connected = notice { player.socket?.disconnect() }
        }
        client.connect(to: "pair.test")
    }

    /// Three connections at once, each closed by the side that took it.
    static let accept = TortureScenario(name: "accept") { machine in
        machine.listen { player, notice in
            if case .connected = notice { player.socket?.disconnect() }
        }
        for _ in 0..<3 {
            machine.makePlayer { player, notice in
                if case .connected = notice { player.read(.length(1)) }
            }.connect()
        }
    }

    /// A request and its answer, longer than what the kernel takes at once.
    static let echo = TortureScenario(name: "echo") { machine in
        machine.listen { player, notice in
            switch notice {
            case .connected: player.read(.length(3_000))
            case .read(let bytes, _): player.write(bytes)
            default: return
            }
        }
        machine.makePlayer { player, notice in
            switch notice {
            case .connected:
                player.write([UInt8](repeating: 7, count: 3_000))
                player.read(.length(3_000))
            case .read: player.socket?.disconnect()
            default: return
            }
        }.connect()
    }

    /// Lines that come together and are read one by one.
    static let delimited = TortureScenario(name: "delimited read") { machine in
        machine.listen { player, notice in
            guard case .connected = notice else { return }
            player.read(.delimiter([13, 10], limit: 100))
            player.read(.delimiter([13, 10], limit: nil))
            player.read(.delimiter([13, 10], limit: nil))
        }
        machine.makePlayer { player, notice in
            guard case .connected = notice else { return }
            player.write(text)
            player.socket?.disconnect(.afterWriting)
        }.connect()
    }

    /// A frame whose header says how long it is, and a second one that is longer than allowed.
    static let framed = TortureScenario(name: "framed read") { machine in
        machine.listen { player, notice in
            guard case .connected = notice else { return }
            for _ in 0..<2 { player.read(.frame(LengthPrefix(.u16, limit: 500))) }
        }
        machine.makePlayer { player, notice in
            guard case .connected = notice else { return }
            player.write([1, 0] + [UInt8](repeating: 5, count: 256))
            player.write([9, 0] + [UInt8](repeating: 5, count: 100))
            player.read(.length(1))
        }.connect()
    }

    /// Disconnect after writing more than anybody takes at once, while the other side speaks too.
    static let drain = TortureScenario(name: "drain") { machine in
        machine.listen { player, notice in
            guard case .connected = notice else { return }
            player.write(text)
            player.read(.available(limit: nil), isStanding: true)
        }
        machine.makePlayer { player, notice in
            guard case .connected = notice else { return }
            for _ in 0..<4 { player.write([UInt8](repeating: 9, count: 2_000)) }
            player.socket?.disconnect(.afterWriting)
        }.connect()
    }

    /// A request that ends by FIN, and an answer after that.
    static let halfClose = TortureScenario(name: "half-close") { machine in
        machine.listen(allowsHalfOpen: true) { player, notice in
            switch notice {
            case .connected: player.read(.available(limit: nil), isStanding: true)
            case .closedReadStream:
                player.write(player.received)
                player.socket?.disconnect(.afterWriting)
            default: return
            }
        }
        machine.makePlayer { player, notice in
            guard case .connected = notice else { return }
            player.write(text)
            player.socket?.halfClose()
            player.read(.length(text.count))
        }.connect()
    }

    /// A descriptor from elsewhere.
    static let adopt = TortureScenario(name: "adopt") { machine in
        let descriptor = machine.connectedDescriptor(sending: text)
        let player = machine.makePlayer { player, notice in
            guard case .connected = notice else { return }
            player.write(text)
            player.read(.delimiter([10], limit: nil))
            player.read(.delimiter([10], limit: nil))
        }
        if !player.adopt(descriptor) { machine.close(descriptor) }
    }

    /// A socket file that a program left behind is replaced.
    static let replaceSocketFile = TortureScenario(name: "replace socket file") { machine in
        machine.leaveSocketFile("left")
        machine.listen(on: .unix(path: "left")) { _, _ in }
    }

    /// Bytes and FIN wait while nobody reads, and reading is paused and goes on.
    static let readWhenAsked = TortureScenario(name: "read when asked") { machine in
        machine.listen { player, notice in
            switch notice {
            case .connected: player.socket?.isReadingPaused = true
            case .peerClosed:
                player.socket?.isReadingPaused = false
                player.read(.length(text.count))
            default: return
            }
        }
        machine.makePlayer { player, notice in
            guard case .connected = notice else { return }
            player.write(text)
            player.socket?.disconnect(.afterWriting)
        }.connect()
    }
}
