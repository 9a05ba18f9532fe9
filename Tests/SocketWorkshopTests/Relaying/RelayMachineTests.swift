import Testing

@testable import SocketCore
@testable import SocketWorkshop

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
        #expect(machine.ended(.client) == [.shutWrite(.target, isCut: false)])
        #expect(machine.ended(.target) == [.shutWrite(.client, isCut: false)])
        #expect(
            machine.lost(.client, .finished, pending: 0, lost: 0)
                == [.hold(.target, false), .shutWrite(.target, isCut: false)])
        #expect(machine.lost(.target, .finished, pending: 0, lost: 0) == [.finished])
    }

    @Test("a FIN that comes before the target is connected is passed on when it is")
    func earlyEnd() {
        var machine = RelayMachine()
        #expect(machine.ended(.client) == [])
        #expect(machine.targetConnected() == [.begin, .shutWrite(.target, isCut: false)])
    }

    @Test("a stream that was cut off is passed on as such")
    func cutOff() {
        var machine = RelayMachine(secure: [.client, .target])
        #expect(machine.targetConnected() == [.begin])
        #expect(machine.ended(.target, isCut: true) == [.shutWrite(.client, isCut: true)])
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
        #expect(machine.lost(.target, .reset, pending: 0, lost: 0) == [.reset(.client)])
        #expect(machine.lost(.client, .closed, pending: 0, lost: 0) == [.finished])
    }

    @Test("a reset overtakes what is queued", arguments: [0, 7], [0, 9])
    func reset(pending: Int, lost: Int) {
        var machine = connected()
        #expect(machine.becameWritable(.target, false) == [.hold(.client, true)])
        #expect(machine.lost(.client, .reset, pending: pending, lost: lost) == [.reset(.target)])
        #expect(machine.lost(.target, .closed, pending: 0, lost: pending) == [.finished])
    }

    @Test("a failure of TLS comes behind what came before it")
    func lateFailure() {
        var machine = connected()
        #expect(machine.lost(.target, .cut, pending: 7, lost: 0) == [.hold(.client, false)])
        #expect(machine.isDoomed(.client))
        #expect(machine.ended(.client) == [])
        #expect(machine.becameWritable(.client, true) == [])
        #expect(machine.drained(.client) == [.reset(.client)])
        #expect(machine.lost(.client, .closed, pending: 0, lost: 0) == [.finished])
    }

    @Test("a failure of TLS is FIN without close_notify for a leg with TLS, a reset where bytes for it were lost")
    func failures() {
        for (lost, action) in [(0, RelayMachine.Action.shutWrite(.client, isCut: true)), (1, .reset(.client))] {
            var machine = RelayMachine(secure: [.client, .target])
            #expect(machine.targetConnected() == [.begin])
            #expect(machine.lost(.target, .cut, pending: 7, lost: lost).last == action)
        }
    }

    @Test("bytes for a leg that is gone are answered by a reset")
    func nobodyThere() {
        for loss in [RelayMachine.Loss.finished, .closed, .cut] {
            var machine = connected()
            #expect(!machine.isAlone(.target))
            _ = machine.lost(.client, loss, pending: 1, lost: 0)
            #expect(machine.isAlone(.target))
            #expect(machine.receivedForNobody(.target) == [.reset(.target)])
        }
    }

    @Test("a client that goes while its target is connected to leaves nothing behind")
    func goneEarly() {
        var machine = RelayMachine()
        #expect(machine.lost(.client, .reset, pending: 0, lost: 0) == [.reset(.target)])
        #expect(machine.targetConnected() == [.begin])
        #expect(machine.lost(.target, .closed, pending: 0, lost: 0) == [.finished])
    }
}
