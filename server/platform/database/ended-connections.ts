import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

/** The members of the driver's class that are used here. The driver's package does not declare the class. */
interface DriverConnection {
  socket: EventEmitter;
  /** Called once when a connection ends, for any reason. It makes the waiting commands fail with the error. */
  cleanup(error: Error): void;
}
type Driver = { Connection: { prototype: DriverConnection } };

/**
 * Corrects a fault of the driver (as of 7.8.0) for the whole process. A command that is written to a socket that has just
 * ended waits for its `drain` event for ever. No timeout of the driver ends this wait. When a database process died under
 * load, one in ten servers kept a group commit that never ended. This function emits the event when a connection ends,
 * so that the command fails with the connection's error.
 */
export function failCommandsOfEndedConnections(): void {
  const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as Driver;
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function (this: DriverConnection, error: Error): void {
    cleanup.call(this, error);
    this.socket.emit('drain');
  };
}
