import InspectorCore
import SocketCore

/// Draws the whole screen: a value for every cell, and the position of the text cursor.
package func draw(_ model: Model, _ size: Size) -> Canvas {
    var canvas = Canvas(size)
    let layout = model.layout(canvas.size, model.tab)
    guard !layout.isTooSmall else {
        drawTooSmall(model, on: &canvas)
        return canvas
    }
    switch model.tab {
    case .start: StartView.draw(model, layout, on: &canvas)
    case .list, .traffic, .detail, .events, .output: drawPanes(model, layout, on: &canvas)
    }
    Footer.draw(model, layout, on: &canvas)
    PaletteView.draw(model, layout, on: &canvas)
    if let dialog = model.dialogs.open { DialogView.draw(dialog, model, on: &canvas) }
    if let help = model.help { HelpView.draw(model, help, on: &canvas) }
    return canvas
}

private func drawPanes(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
    Header.draw(model, layout, on: &canvas)
    if layout.list.height > 0 { ListView.draw(model, layout.list, on: &canvas) }
    PreviewView.draw(model, layout.preview, on: &canvas)
    WarningsView.draw(model, layout.warnings, on: &canvas)
    if layout.trafficPane.height > 0 {
        TrafficView.draw(model, layout.trafficLayout, on: &canvas)
        ComposerView.draw(model, layout.trafficLayout.composer, on: &canvas)
    }
    if layout.detail.height > 0 { DetailView.draw(model, layout.detail, on: &canvas) }
    if model.tab == .events { EventsView.draw(model, layout.body, on: &canvas) }
    if model.tab == .output { OutputView.draw(model, layout.body, on: &canvas) }
    guard layout.isComposite else { return }
    var title = Line()
    if let socket = model.selected {
        title.append("\(socket.id) ", Style(.heading))
        title.append(Shorten.address(socket.peerText, to: max(8, layout.divider.width - 30), Style(.heading), model))
    }
    if layout.divider.height > 0 { canvas.rule(row: 0, in: layout.divider, title: title, model.glyphs) }
    for y in layout.detail.y..<layout.detail.y + layout.detail.height {
        canvas[layout.detail.x - 1, y] = Cell(model.glyphs.vertical, style: Style(.dim))
    }
}

private func drawTooSmall(_ model: Model, on canvas: inout Canvas) {
    let least = ScreenLayout.least
    let size = canvas.size
    let whole = Rect(size)
    let text = ["too small", "have \(size.width)x\(size.height)", "need \(least.width)x\(least.height)"]
    if case .menu(let menu) = model.dialogs.open {
        let items = menu.items.map { "\($0.key.map(String.init) ?? "") \($0.label)" }.joined(separator: "  ")
        var (title, choices) = (Line(), Line())
        model.sanitizer.append(menu.title, Style(.warn), to: &title)
        model.sanitizer.append(items, to: &choices)
        canvas.draw(title, row: 0, in: whole, model.glyphs)
        canvas.draw(choices, row: 1, in: whole, model.glyphs)
        return
    }
    if whole.width >= 42 {
        canvas.draw(Line(" " + text.joined(separator: ", "), Style(.warn)), row: 0, in: whole, model.glyphs)
    } else {
        for (row, part) in text.enumerated() {
            canvas.draw(Line(part, Style(.warn)), row: row, in: whole, model.glyphs)
        }
    }
    canvas.draw(
        Line(model.naming(" {quit} quit", in: .list), Style(.dim)), row: max(3, size.height - 1), in: whole,
        model.glyphs)
}
