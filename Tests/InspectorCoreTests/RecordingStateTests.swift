import InspectorScreen
import InspectorCore
import SocketCore
import Testing

@Suite("The recording of a run, on its screen")
struct RecordingStateTests {
    private static func screen(_ state: RecordingState?, width: Int = 80) -> String {
        var model = World.model(size: Size(width, 24))
        _ = model.update(.recording(state))
        return draw(model, Size(width, 24)).text
    }

    @Test("the header says how much was written, and what was lost", arguments: [40, 60, 80, 120])
    func header(width: Int) {
        #expect(!Self.screen(nil, width: width).contains("REC"))
        #expect(Self.screen(RecordingState(path: "r", written: 12 << 20), width: width).contains("REC 12M"))
        let lossy = RecordingState(path: "r", written: 12 << 20, dropped: 34)
        #expect(Self.screen(lossy, width: width).contains("REC 12M, 34 lost"))
    }

    @Test("what is missing is named")
    func missing() {
        var state = RecordingState(path: "r", written: 12 << 20)
        #expect(state.missing == nil && state.farewell == "recorded 12M to r")
        (state.dropped, state.droppedEvents) = (34, 5)
        #expect(state.chip == "REC 12M, 39 lost")
        #expect(state.farewell == "recorded 12M to r; 34 reads and writes and 5 events are missing from it")
    }

    @Test("a recording that fails says why, once, and is shown no longer")
    func ending() {
        var model = World.model()
        _ = model.update(.recording(RecordingState(path: "r", written: 5)))
        let ended = RecordingState(path: "r", written: 5, problem: "the recording ended: no space")
        _ = model.update(.recording(ended))
        #expect(model.notice?.text == "the recording ended: no space" && model.notice?.isError == true)
        #expect(!draw(model, Size(80, 24)).text.contains("REC "))
        model.press(.character("j"))
        _ = model.update(.recording(ended))
        #expect(model.notice == nil)
    }

    @Test("record takes a file, or off while one is written")
    func command() {
        var model = World.model()
        #expect(model.update(.command("record /tmp/a b.pcapng")) == [.record("/tmp/a b.pcapng")])
        #expect(model.update(.command("record off")) == [.stopRecording])
        #expect(model.update(.command("record -")).isEmpty && model.notice?.isError == true)
        #expect(model.update(.command("record")).isEmpty && model.notice?.isError == true)
    }
}
