import InspectorCore
import InspectorScreen
import Testing

@testable import SockTUI

@Suite("Palette")
struct PaletteTests {
    @Test("the depth follows the terminal, and NO_COLOR wins")
    func depth() {
        let depths = [0, -1, 8, 16, 88, 256, 1 << 24].map { Palette(colours: $0, noColour: false).depth }
        #expect(depths == [.none, .none, .eight, .sixteen, .sixteen, .many, .many])
        #expect(Palette(colours: 256, noColour: true).depth == .none)
    }

    @Test("a colour of one's own becomes the nearest that the terminal has, and nothing without colours")
    func changed() throws {
        let wanted = try #require(ColourText.parse("196 underline").colour)
        let looks = [256, 16, 8, 0].map {
            Palette(colours: $0, noColour: false, changed: [.warn: wanted]).look(of: .warn)
        }
        #expect(looks.map(\.foreground) == [196, 9, 1, -1])
        #expect(looks.allSatisfy { $0.emphasis == .underline })
    }

    @Test("without colours what matters still stands out")
    func mono() {
        let palette = Palette(colours: 0, noColour: false)
        for role in Role.allCases { #expect(palette.look(of: role).foreground == -1) }
        for role in [Role.cursor, .lit, .warn, .bad, .chip, .error, .title] {
            #expect(palette.look(of: role) != palette.look(of: .plain), "\(role)")
        }
    }

    @Test("a colour exists at its depth", arguments: [8, 16, 256])
    func range(colours: Int) {
        let palette = Palette(colours: colours, noColour: false)
        for role in Role.allCases { #expect(palette.look(of: role).foreground < colours) }
    }
}
