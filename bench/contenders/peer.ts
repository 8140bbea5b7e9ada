import type { DatabaseServer } from '../database.ts';
import { peerClient } from '../peers/clients.ts';
import { startProgram } from '../remote.ts';
import { names } from '../subject-names.ts';
import { type Contender, type PartnerSet, tokenRequest, userinfoRequest } from './contender.ts';

/** A peer program's answer to `start`. */
export interface PeerAddress {
  origin: string;
}

interface Peer {
  name: string;
  /** Program below bench/, with its arguments. */
  program: readonly [path: string, ...args: string[]];
  tokenPath: string;
  userinfoPath?: string;
}

/** Another authorization server in a separate process, which makes its own codes. */
async function startPeer({ name, program: [path, ...args], tokenPath, userinfoPath }: Peer) {
  const program = startProgram(path, args);
  const { origin } = await program.call<PeerAddress>('start');

  return {
    name,
    origins: [origin],
    pids: [program.pid],
    tokenPath,
    userinfoPath,
    async prepareExchanges(count: number, partnerSet: PartnerSet) {
      const codes = await program.call<string[]>('makeCodes', { count, partnerSet });
      return codes.map((code, n) => tokenRequest(peerClient(n, partnerSet), code));
    },
    async prepareUserinfo(count: number) {
      const tokens = await program.call<string[]>('makeTokens', { count });
      return tokens.map(userinfoRequest);
    },
    settle: async () => undefined,
    forget: () => program.call<void>('forget'),
    stop: () => program.stop(),
  } satisfies Contender & Record<'stop' | 'forget', () => Promise<void>>;
}

/** oidc-provider on MongoDB with this database name, and in memory. */
export function startOidcProviders(database: DatabaseServer, name: string) {
  const oidc = { tokenPath: '/token', userinfoPath: '/me' };
  const program = './peers/oidc-provider.ts';
  return [
    startPeer({ ...oidc, name: names.oidcMongo, program: [program, database.uri(name)] }),
    startPeer({ ...oidc, name: names.oidcMemory, program: [program] }),
  ];
}

/** Everyone whom we are compared with. */
export function startPeers(database: DatabaseServer) {
  return Promise.all([
    ...startOidcProviders(database, 'oidc'),
    startPeer({
      name: names.oauth2,
      program: ['./peers/oauth2-server.ts', database.uri('oauth2')],
      tokenPath: '/token',
    }),
  ]);
}
