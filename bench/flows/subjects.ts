import { randomBytes } from 'node:crypto';
import {
  type Contender,
  type Credentials,
  codeChallenge,
  redirectUri,
  scope,
} from '../contenders/contender.ts';
import { startOurs } from '../contenders/ours.ts';
import { startOidcProviders } from '../contenders/peer.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import { peerClients } from '../peers/clients.ts';
import type { Flow } from './client.ts';

/** Whether the users of a flow are known to the server. */
export type Users = 'new' | 'returning';

/** An authorization server with pages for users. */
export interface FlowSubject extends Pick<Contender, 'name' | 'origins' | 'pids'> {
  tokenPath: string;
  userinfoPath: string;
  flows(count: number, users: Users): Flow[];
  /** Frees the memory of earlier rounds, if nothing else does. */
  forget(): Promise<void>;
}

const people = ['adult', 'young-adult', 'abroad', 'unknown-country', 'biometric'];
/** Partners whose users take part. */
export const partnersOf = (smoke: boolean): number => (smoke ? 2 : 20);
/** The number of flows in which every returning user appears once. */
export const returningUsersOf = (smoke: boolean): number => partnersOf(smoke) * people.length;

const startAt = (path: string, { clientId }: Credentials) =>
  `${path}?${new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: randomBytes(16).toString('hex'),
    scope,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  })}`;

const nth = <Value>(values: readonly Value[], n: number): Value => {
  const value = values[n % values.length];
  if (value === undefined) throw new Error('there is nothing to take turns');
  return value;
};

export const ourFlows =
  (owners: readonly Credentials[], exchanged = false) =>
  (count: number, users: Users): Flow[] =>
    Array.from({ length: count }, (_, n) => {
      const owner = nth(owners, n);
      const person = users === 'new' ? 'new-adult' : nth(people, Math.floor(n / owners.length));
      return {
        start: startAt('/verify/start', owner),
        answers: ['decision=accept', `person=${person}`],
        exchangedBy: exchanged ? owner : undefined,
      };
    });

const peerFlows =
  (smoke: boolean) =>
  (count: number, users: Users): Flow[] =>
    Array.from({ length: count }, (_, n) => {
      const name = users === 'new' ? randomBytes(16).toString('hex') : `user-${n % returningUsersOf(smoke)}`;
      const client = nth(peerClients.slice(0, partnersOf(smoke)), n);
      return { start: startAt('/auth', client), answers: [`login=${name}`, 'decision=accept'] };
    });

/** One process of ours, and oidc-provider on MongoDB and in memory. */
export async function startSubjects({
  database,
  load,
  smoke,
  beside,
}: {
  database: DatabaseServer;
  load: Load;
  smoke: boolean;
  beside: string | undefined;
}) {
  const common = { database, load, processes: [1], partnerCount: partnersOf(smoke) };
  const ours = [
    await startOurs({ ...common, name: 'flows' }),
    ...(beside === undefined ? [] : [await startOurs({ ...common, name: 'flows_beside', beside })]),
  ];
  const peers = await Promise.all(startOidcProviders(database, 'oidc_flows'));
  const subjects: FlowSubject[] = [
    ...ours.flatMap(({ contenders, owners }) =>
      contenders.map(({ name, origins, pids }) => ({
        ...{ name, origins, pids },
        tokenPath: '/api/oauth/token',
        userinfoPath: '/api/oauth/userinfo',
        flows: ourFlows(owners),
        forget: async () => undefined,
      })),
    ),
    ...peers.map((peer) => ({ ...peer, userinfoPath: peer.userinfoPath ?? '', flows: peerFlows(smoke) })),
  ];
  return {
    subjects,
    async stop() {
      await Promise.all([...ours, ...peers].map((each) => each.stop()));
    },
  };
}
