import { createTRPCClient, httpLink } from '@trpc/client';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { svcadmin } from '../../journey/svcadmin.ts';
import { startBalancer } from './balancer.ts';
import { startCounter, startLoad } from './load.ts';
import { type Member, startDatabase, startMember, until } from './members.ts';
import { buildPrevious } from './previous.ts';

/**
 * Upgrades from the previous release to this one, and back, under load. Two processes with one database are replaced
 * one after another. Then checks the answers, the ledgers, and the events that a receiver has counted.
 */

const say = (text: string) => process.stdout.write(`${text}\n`);
const token = 'svc_admin_0123456789012345678901234567890123456789012';
/** The least number of exchanges in each phase. */
const leastExchangesPerPhase = 10;
const faults: string[] = [];
const expectThat = (holds: boolean, fault: string) => {
  if (!holds) faults.push(fault);
};

async function check(): Promise<void> {
  say('Building the release before …');
  const previous = buildPrevious(process.argv[2]);
  const present = process.cwd();
  const directory = temporaryFolder('upgrade-database');
  const database = await startDatabase(directory);
  let members: Member[] = [];
  const balancer = await startBalancer(() => members.map(({ port }) => port));
  const counter = await startCounter();
  const env = {
    MONGODB_URI: database.uri,
    SVC_BASE_URL: `http://localhost:${balancer.port}`,
    SVC_DATA_DIR: '/proc/none',
    SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    SVC_ADMIN_TOKEN: token,
    SVC_DEMO_PORT: 'off',
    SVC_LOG_LEVEL: 'warn',
    SVC_DRAIN_DELAY: '1s',
    SVC_STARTS_PER_MINUTE: 'off',
    SVC_WEBHOOK_RETRY_DELAYS: '2s,5s',
  };

  try {
    members = [await startMember(previous.directory, env), await startMember(previous.directory, env)];
    const [{ adminUrl } = { adminUrl: '' }] = members;
    const headers = { authorization: `Bearer ${token}` };
    const admin = createTRPCClient<AdminRouter>({ links: [httpLink({ url: `${adminUrl}/trpc`, headers })] });
    const load = await startLoad({ admin, baseUrl: env.SVC_BASE_URL }, counter.url);

    const someExchanges = (phase: string) => {
      const from = load.exchanges();
      return until(
        phase,
        () =>
          load.exchanges() >= from + leastExchangesPerPhase || load.problems.length > leastExchangesPerPhase,
      );
    };
    /** Replaces all processes, one after another, under load. */
    async function rollOut(phase: string, build: string): Promise<void> {
      for (const old of members) {
        const fresh = await startMember(build, env);
        members = [...members.filter((each) => each !== old), fresh];
        await someExchanges(`${phase}, side by side`);
        const code = await old.end();
        expectThat(code === 0, `${phase}: a process ended with ${code}: ${old.output()}`);
      }
      await someExchanges(phase);
      say(`${phase}: ${load.exchanges()} exchanges, ${load.problems.length} problems`);
    }
    await someExchanges('the release before');
    await rollOut('upgrade', present);
    await rollOut('back', previous.directory);
    await rollOut('upgrade again', present);

    const cli = { SVCADMIN_URL: members[0]?.adminUrl, SVCADMIN_TOKEN: token };
    const { version } = await svcadmin<{ version: number }>(['schema', 'show'], cli);
    const finished = await svcadmin<{ version: number }>(['schema', 'finish', '--yes'], cli);
    await someExchanges('finished');
    const late = await startMember(previous.directory, env);
    const code = await late.end();
    // A release of the same schema version can always be started again.
    const expectedCode = finished.version > version ? 78 : 0;
    expectThat(
      code === expectedCode,
      `the release before starts after the upgrade was finished: exit ${code}`,
    );
    say(`finished: schema version ${finished.version}; the release before ends with ${code}`);

    await load.stop();
    const audit = await svcadmin<{ findings: unknown[] }[]>(['wallets', 'audit'], cli);
    const findings = audit.flatMap((report) => report.findings);
    expectThat(findings.length === 0, `wallets audit: ${JSON.stringify(findings)}`);
    const show = ['wallets', 'show', load.partnerId, '--mode', 'test'];
    const { balance } = await svcadmin<{ balance: number }>(show, cli);
    const charged = (10_000_000 - balance) / 50;
    expectThat(charged === load.exchanges(), `${charged} charges for ${load.exchanges()} exchanges`);
    // All verifications are of one user, and the first exchange belongs to the enrollment, which has a separate event.
    const expected = [
      ['verification.session.completed', load.verifications()],
      ['enrollment.created', 1],
      ['vae.resolved', load.exchanges() - 1],
    ] as const;
    for (const [type, count] of expected) {
      await until(type, () => counter.count(type) >= count).catch(() => undefined);
      expectThat(counter.count(type) === count, `${counter.count(type)} events ${type} for ${count}`);
    }
    faults.push(...load.problems);
    say(
      `checked: ${load.exchanges()} exchanges, ${charged} charges, ${counter.count('vae.resolved')} events, audit ${findings.length} findings`,
    );
  } finally {
    for (const member of members) await member.end();
    await database.end();
    balancer.close();
    counter.close();
  }
}

await check().catch((error: unknown) => faults.push(error instanceof Error ? error.message : String(error)));
for (const fault of faults) process.stderr.write(`FAIL ${fault}\n`);
say(faults.length === 0 ? 'An upgrade, and the way back, lose nothing.' : `${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
