import SocketCore
import Testing

@Suite("Network namespaces")
struct HostNamespaceTests {
    @Test("equal cookies of two namespaces are two sockets, and the kernel's cookie is told of each")
    func identity() {
        let own = HostSocket(id: 4_711, .tcp, .established, time: .zero, inode: 1)
        let other = own.placed(in: 3), third = own.placed(in: 4)
        #expect(Set([own.id, other.id, third.id]).count == 3)
        #expect(own.id == 4_711 && own.placed(in: 0) == own && other.placed(in: 0) == own)
        #expect(other.cookie == 4_711 && other.namespace == 3 && other.placed(in: 4) == third)
        #expect(HostSocket.cookie(of: other.id) == 4_711 && HostSocket.cookie(of: own.id) == 4_711)
        var row = HostSnapshot(other)
        row.namespace = HostNamespace(ordinal: 3, inode: 1)
        #expect(row.cookie == 4_711 && row.key == other.id && HostSnapshot(own).key == own.id)
    }

    @Test("a namespace is meant by its name, by the first digits of its inode, and `own`")
    func words() {
        let blue = HostNamespace(ordinal: 2, inode: 4_026_532_201, name: "Blue")
        #expect(blue.label == "Blue" && blue.matches("blue") && blue.matches("4026532201") && blue.matches("40265322"))
        #expect(!blue.matches("blu") && !blue.matches("own") && !blue.matches("") && !blue.matches("532201"))
        let own = HostNamespace(ordinal: 0, inode: 4_026_531_840)
        #expect(own.label == "own" && own.matches("own") && own.matches("4026531840") && !own.matches("4026532"))
        #expect(HostNamespace(ordinal: 1, inode: 4_026_532_201).label == "4026532201")
    }

    @Test("the link of a namespace")
    func link() {
        let inode = { NetworkText.namespaceInode(Array(($0 as String).utf8)) }
        #expect(inode("net:[4026531840]") == 4_026_531_840)
        for text in ["", "net:[]", "net:[-1]", "mnt:[4026531840]", "net:[4026531840", "net:4026531840]"] {
            #expect(inode(text) == nil, "\(text)")
        }
    }

    @Test("a table is passed over only where the kernel says that it is empty")
    func counts() {
        func empty(_ text: String, _ text6: String) -> Set<SocketTable> {
            let counts = SocketCounts(Array(text.utf8), Array(text6.utf8))
            return Set(SocketTable.allCases.filter { counts.isEmpty($0) && !$0.isMultipath })
        }
        let none = "sockets: used 2\nTCP: inuse 0 orphan 0 tw 0 alloc 0 mem 0\nUDP: inuse 0 mem 0\nUDPLITE: inuse 0\n"
        let none6 = "TCP6: inuse 0\nUDP6: inuse 0\nUDPLITE6: inuse 0\n"
        #expect(empty(none, none6) == [.tcp4, .tcp6, .udp4, .udp6])
        #expect(empty(none.replacing("tw 0", with: "tw 1"), none6) == [.udp4, .udp6])
        #expect(empty(none.replacing("TCP: inuse 0", with: "TCP: inuse 1"), none6) == [.tcp6, .udp4, .udp6])
        #expect(empty(none, "TCP6: inuse 3\nUDP6: inuse 1\n") == [.tcp4, .udp4])
        #expect(empty(none, "") == [.tcp4, .udp4] && empty("", none6) == [.udp6] && empty("", "").isEmpty)
        let noSubflow = SocketCounts(Array(none.utf8), Array("TCP6: inuse 1\n".utf8))
        #expect(noSubflow.isEmpty(.multipath4) && !noSubflow.isEmpty(.multipath6))
        #expect(empty("TCP: inuse x tw\nUDP: inuse\n:\nTCP\n", "TCP6:\nUDP6: inuse -1\n").isEmpty)
    }

    @Test("ports are those of the namespace")
    func ports() {
        var look = HostLook(time: .zero, sockets: [])
        look.localPorts = 1...2
        look.namespaces = [0: HostNamespace(ordinal: 0, inode: 1), 7: HostNamespace(ordinal: 7, inode: 2)]
        look.namespaces[7]?.localPorts = 3...4
        #expect(look.localPorts(in: 0) == 1...2 && look.localPorts(in: 7) == 3...4 && look.localPorts(in: 8) == nil)
    }
}
