import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createMessageReader } from '../../server/platform/database/engine/wire.ts';
import { type Command, readCommand, requestIdOf, responseToOf } from './messages.ts';
import { createGate } from './patience.ts';

/** What happens to a message: the driver sees a broken connection, or none of it for a while. */
export type Action =
  /** The database does it, and nobody hears. */
  | { do: 'lose-reply' }
  /** The database never gets it. */
  | { do: 'lose-request' }
  /** The database gets it when it is released; until then the driver meets a broken connection, or silence. */
  | { do: 'hold'; driver: 'broken' | 'silent' }
  /** Milliseconds. */
  | { do: 'delay-reply'; by: number };

export interface Rule {
  matches: (command: Command) => boolean;
  action: Action;
}

/** A rule at work. */
export interface Interference {
  /** Resolves when it has met its message. */
  met: Promise<void>;
  /** Lets a held message go, and resolves when the database has answered it. */
  release(): Promise<void>;
}

/** One connection of the driver and the one behind it, which may outlive it. */
function join(down: Socket, up: Socket, judge: (message: Buffer) => Action | undefined) {
  const lost = new Set<number>();
  const late = new Map<number, number>();
  const answered = new Map<number, () => void>();
  let detached = false;
  const readRequests = createMessageReader();
  const readReplies = createMessageReader();

  function hold(message: Buffer): () => Promise<void> {
    return () =>
      new Promise((resolve) => {
        answered.set(requestIdOf(message), resolve);
        up.once('close', () => resolve());
        if (up.destroyed) resolve();
        else up.write(message);
      });
  }

  function request(message: Buffer): (() => Promise<void>) | undefined {
    const action = judge(message);
    if (action?.do === 'lose-reply') lost.add(requestIdOf(message));
    if (action?.do === 'delay-reply') late.set(requestIdOf(message), action.by);
    if (action?.do === 'lose-request') down.destroy();
    if (action?.do === 'hold') {
      detached = true;
      if (action.driver === 'broken') down.destroy();
      return hold(message);
    }
    if (action?.do !== 'lose-request') up.write(message);
    return undefined;
  }

  function reply(message: Buffer): void {
    const id = responseToOf(message);
    answered.get(id)?.();
    if (detached && down.destroyed) up.destroy();
    if (lost.has(id)) down.destroy();
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

/** A TCP proxy before the database on `target`, which passes everything on unless a rule says otherwise. */
export async function startProxy(target: number) {
  const connections = new Set<Socket>();
  let current: { rule: Rule; left: number; met: () => void } | undefined;
  let held: (() => Promise<void>)[] = [];

  function judge(message: Buffer): Action | undefined {
    if (!current) return undefined;
    const command = readCommand(message);
    if (!command || !current.rule.matches(command)) return undefined;
    current.left -= 1;
    if (current.left > 0) return undefined;
    const { rule, met } = current;
    current = undefined;
    met();
    return rule.action;
  }

  const server = createServer((down) => {
    const up = connect(target, '127.0.0.1').setNoDelay(true);
    for (const socket of [down.setNoDelay(true), up]) {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    }
    const pass = join(down, up, judge);
    down.on('data', (chunk: Buffer) => {
      held.push(...pass(chunk));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    /** Applies `rule` once, to the `hit`-th message that matches it. */
    arm(rule: Rule, hit: number): Interference {
      const { opened, open } = createGate();
      current = { rule, left: hit, met: open };
      held = [];
      return {
        met: opened,
        release: async () => {
          await Promise.all(held.splice(0).map((send) => send()));
        },
      };
    },
    /** No rule any more. */
    disarm(): void {
      current = undefined;
    },
    async close(): Promise<void> {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
