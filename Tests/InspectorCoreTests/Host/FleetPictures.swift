import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@testable import InspectorCore

/// The screens of several hosts.
@Suite("Pictures of several hosts")
struct FleetPictures {
    /// A deadlock across two hosts, and a third that is not there; or one of the two was lost.
    static func model(_ size: Size, _ keys: Character..., losing: Bool = false) -> Model {
        var fleet = FleetWorld.deadlock()
        _ = fleet.found()
        if losing, var machine = fleet.judge.look.machines[FleetWorld.ordinal(1)] {
            (machine.isLive, machine.isLost) = (false, true)
            fleet.judge.note(machine, FleetWorld.ordinal(1))
        }
        var rows = HostRows()
        let snapshot = rows.snapshot(
            of: fleet.judge.look, by: fleet.judge, fleet.judge.verdicts().found,
            wallNanoseconds: 1_700_000_000_000_000_000)
        var model = Model(options: Model.Options(ascii: true, version: "0.1"))
        _ = model.update(.resized(size))
        _ = model.update(.programs(ProgramNews(programs: [program(losing: losing)])))
        _ = model.update(.snapshot(snapshot))
        for key in keys { model.press(.character(key)) }
        return model
    }

    private static func program(losing: Bool) -> ProgramInfo {
        func host(_ name: String, _ state: HostStatus.State, _ sockets: Int) -> HostStatus {
            var host = HostStatus(name: name, state: state)
            (host.sockets, host.age, host.bytes, host.version) = (sockets, 1, 84_210, "0.2.0")
            host.distance = .seconds(50_000)
            return host
        }
        let problem = "the connection was lost, or its agent was killed"
        var db = host("db1", losing ? .lost(problem) : .live, 3)
        if losing { (db.losses, db.retry, db.age) = (1, 4, 12) }
        var away = HostStatus(name: "web2", state: .lost("not connected: no route to host"))
        (away.retry, away.said) = (15, "ssh: connect to host web2 port 22: No route to host")
        var info = ProgramInfo(outside: "3 hosts", process: 0, ordinal: 0)
        info.hosts = [host("web1", .live, 3), db, away]
        return info
    }

    static let screens: [Screen] = [
        Screen("hosts-list") { model($0, "1") }, Screen("hosts-lost") { model($0, "1", losing: true) },
        Screen("hosts-detail") { model($0, "3") }, Screen("hosts-page") { model($0, "H", "j", losing: true) },
    ]

    @Test("H lists hosts, Enter the sockets of one, and H or Esc goes back")
    func listsHosts() {
        var model = Self.model(Size(120, 35), "H")
        #expect(model.list.hosts?.cursor == 0 && model.list.rows.count == 6)
        model.press(.character("j"))
        #expect(model.selected?.host?.machine == "db1")
        model.press(.enter)
        #expect(model.list.hosts == nil && model.list.filter.text == "host:db1" && model.list.rows.count == 3)
        model.press(.character("H"), .escape)
        #expect(model.list.hosts == nil)
        // Two programs of two hosts have one number.
        model.press(.escape)
        model.press(.character("p"))
        #expect(model.list.programs?.rows.map(\.title).contains("api.py[156] on db1") == true)
        #expect(model.list.programs?.rows.map(\.title).contains("worker.py[156] on web1") == true)
        model.press(.enter)
        #expect(model.list.rows.count == 1, "\(model.list.filter.text)")
    }

    @Test("rows are sorted and filtered by host, and one host has no such list")
    func filters() {
        var model = Self.model(Size(120, 35), "1")
        _ = model.update(.command("sort host"))
        let machines = model.list.rows.compactMap { model.shown?.socket($0)?.host?.machine }
        #expect(machines == ["db1", "db1", "db1", "web1", "web1", "web1"])
        _ = model.update(.command("filter host:web1"))
        #expect(model.list.rows.count == 3)
        _ = model.update(.command("filter host:web"))
        #expect(model.list.rows.isEmpty, "web is another host")
        var alone = HostPictures.model(Size(120, 35), "H")
        #expect(alone.list.hosts == nil && alone.notice?.text.contains("@NAME") == true)
        alone.press(.character("1"))
    }
}
