// beast.cpp - an echo server by Boost.Beast, asynchronous, on one thread: what SocketKit's is compared with.
//   g++ -O2 -std=c++17 -o beast beast.cpp -lpthread
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cstdio>
#include <memory>
namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

struct Session : std::enable_shared_from_this<Session> {
  beast::websocket::stream<beast::tcp_stream> ws;
  beast::flat_buffer buffer;
  explicit Session(tcp::socket socket) : ws(std::move(socket)) {}
  void run() {
    beast::get_lowest_layer(ws).socket().set_option(tcp::no_delay(true));
    ws.read_message_max(1 << 30);
    // A message that came as one frame goes back as one, as from the others.
    ws.auto_fragment(false);
    ws.async_accept([self = shared_from_this()](beast::error_code e) { if (!e) self->read(); });
  }
  void read() {
    ws.async_read(buffer, [self = shared_from_this()](beast::error_code e, std::size_t) {
      if (e) return;
      self->ws.binary(self->ws.got_binary());
      self->ws.async_write(self->buffer.data(), [self](beast::error_code e, std::size_t) {
        if (e) return;
        self->buffer.consume(self->buffer.size());
        self->read();
      });
    });
  }
};
static void accept(tcp::acceptor &acceptor) {
  acceptor.async_accept([&acceptor](beast::error_code e, tcp::socket socket) {
    if (!e) std::make_shared<Session>(std::move(socket))->run();
    accept(acceptor);
  });
}
int main() {
  asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  std::printf("ready %d\n", acceptor.local_endpoint().port());
  std::fflush(nullptr);
  accept(acceptor);
  context.run();
}
