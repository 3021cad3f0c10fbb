// For `node --import`: lets a program of the documentation run in a test as it is written. A server gets a free port,
// which is printed, and a handler that prints the id of its event waits for the test: HANDLERS is called with the id.
import { Server } from 'node:net';

const { log } = console;
const { listen } = Server.prototype;

Server.prototype.listen = function listenOnFreePort() {
  this.once('listening', () => log(`port ${this.address().port}`));
  return listen.call(this, 0, '127.0.0.1');
};

console.log = (first, ...rest) =>
  String(first).startsWith('evt_') ? fetch(`${process.env.HANDLERS}/${first}`) : log(first, ...rest);

process.once('SIGTERM', () => log('SIGTERM'));
