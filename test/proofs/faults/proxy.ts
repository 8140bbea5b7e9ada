import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createMessageReader } from '../../../embedded-database/engine/wire.ts';
import { type Command, readCommand, requestIdOf, responseToOf } from './messages.ts';
import { createGate } from './retry.ts';

/** What the proxy does with a message. */
export type Action =
  /** The database runs the message's command, and the connection of the driver breaks before the reply. */
  | { do: 'lose-reply' }
  /** The database never gets the message, and the connection of the driver breaks. */
  | { do: 'lose-request' }
  /** The database gets the message at the release. The connection of the driver breaks immediately. */
  | { do: 'hold' }
  /** The database gets the message at the release, and the driver waits until then. */
  | { do: 'pause' }
  /** The database gets the message again after this many milliseconds. The driver gets one reply. */
  | { do: 'double'; after: number }
  /** The message, or its reply, is late by this many milliseconds. */
  | { do: 'delay-request'; by: number }
  | { do: 'delay-reply'; by: number }
  /** `kill` ends a process: before the database gets the message, which is lost, or after its answer. */
  | { do: 'kill'; side: 'before' | 'after'; kill: () => void };

export function actionTitle(action: Action): string {
  switch (action.do) {
    case 'double':
      return `double, ${action.after} ms apart`;
    case 'delay-request':
    case 'delay-reply':
      return `${action.do} by ${action.by} ms`;
    case 'hold':
    case 'pause':
    case 'kill':
    case 'lose-reply':
    case 'lose-request':
      return action.do;
  }
}

export interface Rule {
  matches: (command: Command) => boolean;
  action: Action;
  /** Applies to every match until a message matches `until`. Without `until`, it applies to one match. */
  until?: (command: Command) => boolean;
}

/** The active rules. They apply one after another. */
export interface Interference {
  /** Resolves when the last rule has matched. */
  met: Promise<void>;
  /** Releases held messages. Resolves when the database has answered them. */
  release(): Promise<void>;
}

/** Joins a connection of the driver with one to the database. The connection to the database may stay open longer. */
function join(down: Socket, up: Socket, actionOn: (message: Buffer) => Action | undefined) {
  const lost = new Set<number>();
  const late = new Map<number, number>();
  const deadly = new Map<number, () => void>();
  /** The requests whose second reply the driver must not get, because it answers a copy. */
  const surplus = new Map<number, number>();
  const repliedTo = new Set<number>();
  const answered = new Map<number, () => void>();
  let detached = false;
  const readRequests = createMessageReader();
  const readReplies = createMessageReader();

  const forward = (message: Buffer) => up.destroyed || up.write(message);

  /** @returns the release; it resolves when the database has answered */
  function keep(message: Buffer): () => Promise<void> {
    return () =>
      new Promise((resolve) => {
        const done = () => {
          up.off('close', done);
          resolve();
        };
        answered.set(requestIdOf(message), done);
        up.once('close', done);
        if (up.destroyed) done();
        else up.write(message);
      });
  }

  function hold(message: Buffer): () => Promise<void> {
    detached = true;
    down.destroy();
    return keep(message);
  }

  function copy(message: Buffer, after: number): void {
    const id = requestIdOf(message);
    setTimeout(() => {
      surplus.set(id, (surplus.get(id) ?? 0) + 1);
      forward(message);
    }, after);
  }

  function request(message: Buffer): (() => Promise<void>) | undefined {
    const action = actionOn(message);
    switch (action?.do) {
      case undefined:
        break;
      case 'hold':
        return hold(message);
      case 'pause':
        return keep(message);
      case 'lose-request':
        down.destroy();
        return undefined;
      case 'delay-request':
        // The database gets it even if the driver has closed its connection.
        detached = true;
        setTimeout(() => forward(message), action.by);
        return undefined;
      case 'lose-reply':
        lost.add(requestIdOf(message));
        break;
      case 'delay-reply':
        late.set(requestIdOf(message), action.by);
        break;
      case 'kill':
        if (action.side === 'before') {
          action.kill();
          down.destroy();
          return undefined;
        }
        deadly.set(requestIdOf(message), action.kill);
        break;
      case 'double':
        detached = true;
        copy(message, action.after);
        break;
    }
    forward(message);
    return undefined;
  }

  /** Returns whether a reply answers a copy of a message. The driver gets only the first reply. */
  function isSurplus(id: number): boolean {
    const left = surplus.get(id) ?? 0;
    if (left === 0 || !repliedTo.has(id)) return false;
    surplus.set(id, left - 1);
    return true;
  }

  function reply(message: Buffer): void {
    const id = responseToOf(message);
    answered.get(id)?.();
    deadly.get(id)?.();
    if (isSurplus(id)) return;
    repliedTo.add(id);
    if (detached && down.destroyed) up.end();
    else if (lost.has(id)) down.destroy();
    else if (late.has(id)) setTimeout(() => down.destroyed || down.write(message), late.get(id));
    else if (!down.destroyed) down.write(message);
  }

  up.on('data', (chunk: Buffer) => readReplies(chunk).forEach(reply));
  up.on('close', () => down.destroy());
  up.on('error', () => undefined);
  down.on('error', () => undefined);
  down.on('close', () => detached || up.destroy());
  return (chunk: Buffer) => readRequests(chunk).flatMap((message) => request(message) ?? []);
}

/** Starts a TCP proxy before the database at port `target`. It forwards every message unless a rule applies. */
export async function startProxy(target: number) {
  const connections = new Set<Socket>();
  let rules: Rule[] = [];
  let left = 0;
  let met: () => void = () => undefined;
  let held: (() => Promise<void>)[] = [];

  function endRule(): void {
    rules = rules.slice(1);
    left = 1;
    if (rules.length === 0) met();
  }

  function actionOn(message: Buffer): Action | undefined {
    const command = rules.length > 0 ? readCommand(message) : undefined;
    if (!command) return undefined;
    if (rules[0]?.until?.(command)) endRule();
    const [rule] = rules;
    if (!rule?.matches(command)) return undefined;
    left -= 1;
    if (left > 0) return undefined;
    if (!rule.until) endRule();
    return rule.action;
  }

  const server = createServer((down) => {
    const up = connect(target, '127.0.0.1').setNoDelay(true);
    for (const socket of [down.setNoDelay(true), up]) {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    }
    const pass = join(down, up, actionOn);
    down.on('data', (chunk: Buffer) => {
      held.push(...pass(chunk));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    /** Applies the rules in order. The first applies to the `hit`-th matching message. */
    arm(next: readonly Rule[], hit: number): Interference {
      const { opened, open } = createGate();
      rules = [...next];
      left = hit;
      met = open;
      held = [];
      return {
        met: opened,
        release: async () => {
          await Promise.all(held.splice(0).map((send) => send()));
        },
      };
    },
    disarm(): void {
      rules = [];
    },
    async close(): Promise<void> {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
