// An echo server by node's ws, without compression: what SocketKit's is compared with.
const { WebSocketServer } = require('ws');
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 1 << 30, perMessageDeflate: false, backlog: 4096 });
server.on('connection', ws => ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary })));
server.on('listening', () => console.log('ready', server.address().port));
