import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

/** As much of the driver's own class as is needed here; its package does not declare it. */
interface DriverConnection {
  socket: EventEmitter;
  /** Called once, however a connection ends; from then on every wait of its commands finds the error. */
  cleanup(error: Error): void;
}
type Driver = { Connection: { prototype: DriverConnection } };

/**
 * Mends the driver (as of 7.8.0), for the whole process. A command that is written to a connection whose socket has
 * just ended waits for that socket to drain, for ever. Neither the end of the connection nor a timeout of the driver
 * ends that wait. A database process that dies under load left one in ten servers with a group commit that waits for
 * ever. Now the end of a connection also ends that wait, and the command fails with the connection's error like all
 * others.
 */
export function failCommandsOfEndedConnections(): void {
  const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as Driver;
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function (this: DriverConnection, error: Error): void {
    cleanup.call(this, error);
    this.socket.emit('drain');
  };
}
