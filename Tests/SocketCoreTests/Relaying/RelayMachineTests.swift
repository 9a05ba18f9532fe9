import Testing

@testable import SocketCore

@Suite("The relay's decisions")
struct RelayMachineTests {
    private func connected() -> RelayMachine {
        var machine = RelayMachine()
        #expect(machine.targetConnected() == [.begin])
        return machine
    }

    @Test("each direction ends by itself, and the relay when both legs are over")
    func halfCloses() {
        var machine = connected()
        #expect(machine.ended(.client) == [.shutWrite(.target)])
        #expect(machine.ended(.target) == [.shutWrite(.client)])
        #expect(machine.lost(.client, failed: false, pending: 0) == [.close(.target)])
        #expect(machine.lost(.target, failed: false, pending: 0) == [.finished])
    }

    @Test("a FIN that comes before the target is connected is passed on when it is")
    func earlyEnd() {
        var machine = RelayMachine()
        #expect(machine.ended(.client) == [])
        #expect(machine.targetConnected() == [.begin, .shutWrite(.target)])
    }

    @Test("the slower leg holds back the other one")
    func backPressure() {
        var machine = connected()
        #expect(machine.becameWritable(.target, false) == [.hold(.client, true)])
        #expect(machine.becameWritable(.client, false) == [.hold(.target, true)])
        #expect(machine.becameWritable(.target, true) == [.hold(.client, false)])
    }

    @Test("a refused target is a reset for the client")
    func refused() {
        var machine = RelayMachine()
        #expect(machine.lost(.target, failed: true, pending: 0) == [.reset(.client)])
        #expect(machine.lost(.client, failed: false, pending: 0) == [.finished])
    }

    @Test("a reset comes behind what came before it")
    func lateReset() {
        var machine = connected()
        #expect(machine.lost(.target, failed: true, pending: 7) == [.hold(.client, true)])
        #expect(machine.isDoomed(.client))
        #expect(machine.ended(.client) == [])
        #expect(machine.becameWritable(.client, true) == [])
        #expect(machine.drained(.client) == [.reset(.client)])
        #expect(machine.lost(.client, failed: false, pending: 0) == [.finished])
    }

    @Test("a client that goes while its target is connected to leaves nothing behind")
    func goneEarly() {
        var machine = RelayMachine()
        #expect(machine.lost(.client, failed: true, pending: 0) == [.reset(.target)])
        #expect(machine.targetConnected() == [.begin])
        #expect(machine.lost(.target, failed: false, pending: 0) == [.finished])
    }
}
