import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemberRole } from '../../../contracts/admin/members.ts';
import { identifyingFields, type OwnedKind, scope } from '../../../server/console/portal/calls/scope.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { createParty, type Party } from './party.ts';
import { letters, roles, table } from './scope-table.ts';

const clock = manualClock();
let server: TestServer;
let own: Party;
let other: Party;

beforeAll(async () => {
  server = await startTestServer({ clock, env: { SVC_PORTAL: 'on' } });
  own = await createParty(server, clock);
  clock.advance(60_000);
  other = await createParty(server, clock);
}, within(60_000));
afterAll(() => server.stop());

const procedures = () =>
  server.services.admin.router._def.procedures as unknown as Record<string, { _def: { type: string } }>;
const typeOf = (path: string) =>
  Object.hasOwn(procedures(), path) ? procedures()[path]?._def.type : undefined;
const paths = () => Object.keys(procedures());

let sent = 0;
async function ask({ browser, token }: Party['members'][MemberRole], path: string, input: unknown) {
  sent += 1;
  // Requests are limited per minute.
  if (sent % 200 === 0) clock.advance(60_000);
  const encoded = JSON.stringify(input);
  const url = `${server.publicUrl}/portal/trpc/${path}`;
  const headers = { cookie: browser.cookie(), 'content-type': 'application/json', 'x-csrf-token': token };
  const answer = await (typeOf(path) === 'mutation'
    ? fetch(url, { method: 'POST', headers, body: encoded })
    : fetch(`${url}?input=${encodeURIComponent(encoded)}`, { headers }));
  const text = await answer.text();
  const { error } = JSON.parse(text) as { error?: { message: string; data: { error: string } } };
  return { text, code: error?.data.error ?? 'done', message: error?.message ?? '' };
}

/** Returns the fields of a procedure's input that name a record, including those of its filter, with the record's kind. */
function namingFields(path: string): { field: string; kind: OwnedKind; inputOf: (id: string) => unknown }[] {
  const row = scope[path];
  const { cursorKind } = row ?? {};
  const plain = (row?.fields ?? []).flatMap((field) => {
    const kind = field === 'after' ? cursorKind : identifyingFields.get(field);
    if (!kind) return [];
    return [{ field, kind, inputOf: (id: string) => ({ [field]: field.endsWith('Ids') ? [id] : id }) }];
  });
  if (path !== 'bulk.start') return plain;
  const filters = ['partnerId', 'keyId'].map((field) => ({
    field: `filter.${field}`,
    kind: identifyingFields.get(field) ?? 'partner',
    inputOf: (id: string) => ({ action: 'replay', dryRun: true, filter: { [field]: id } }),
  }));
  return [...plain, ...filters];
}

/** Returns an unknown id of the same kind. */
const madeUp = (id: string) => id.replace(/.{6}$/, 'zzzzzz');

it('each mutation that members may call needs a fresh passkey, or the scope says why a stolen cookie does no harm', () => {
  for (const [path, { needsFreshPasskey, harmless }] of Object.entries(scope)) {
    const isStated = needsFreshPasskey !== (harmless !== undefined);
    if (typeOf(path) === 'mutation') expect([path, isStated]).toEqual([path, true]);
    else expect([path, harmless]).toEqual([path, undefined]);
  }
});

describe('the admin API for members of a partner', () => {
  // One role calls, each in turn: bind-input.test.ts asks for all roles.
  const turn = (index: number) => roles[index % roles.length] ?? 'owner';

  it(
    'allows exactly the procedures that the table of this test lists for the role',
    async () => {
      const none = await ask(own.members.owner, 'none.at.all', {});
      for (const [index, path] of paths().entries()) {
        const role = turn(index);
        // No schema has this field, and it is checked last.
        const { code, message } = await ask(own.members[role], path, { none: 1 });
        const mayCall = table[path]?.includes(letters[role]) ? 'bad_input' : 'not_permitted';
        expect([path, role, code]).toEqual([path, role, table[path] ? mayCall : 'route_not_found']);
        if (!table[path]) expect(message).toBe(none.message.replace('none.at.all', path));
      }
      expect(paths()).toEqual(expect.arrayContaining(Object.keys(table)));
    },
    within(60_000),
  );

  it(
    "gives every call with another partner's id the same `not_found` as with an unknown id",
    async () => {
      const faults: string[] = [];
      let asked = 0;
      for (const [index, path] of Object.keys(table).entries()) {
        const allowed = roles.filter((one) => table[path]?.includes(letters[one]));
        const caller = own.members[allowed[index % allowed.length] ?? 'owner'];
        for (const { field, kind, inputOf } of namingFields(path)) {
          const id = other.ids[kind];
          const [foreign, absent] = await Promise.all([
            ask(caller, path, inputOf(id)),
            ask(caller, path, inputOf(madeUp(id))),
          ]);
          const isSame = foreign.text.replaceAll(id, '') === absent.text.replaceAll(madeUp(id), '');
          if (foreign.code !== 'not_found' || !isSame) faults.push(`${path} ${field}: ${foreign.text}`);
          asked += 1;
        }
      }
      expect(faults).toEqual([]);
      expect(asked).toBeGreaterThan(60);
    },
    within(120_000),
  );

  it(
    'allows every query of own records, and no result names a record of another partner',
    async () => {
      const since = new Date(clock.now() - 86_400_000).toISOString();
      const foreign = Object.values(other.ids);
      for (const path of Object.keys(table).filter((one) => typeOf(one) === 'query')) {
        const row = scope[path];
        const required = namingFields(path).filter(
          ({ field }) => field !== 'after' && (row?.fields.length === 1 || field === 'keyId'),
        );
        const ids = Object.assign({}, ...required.map(({ kind, inputOf }) => inputOf(own.ids[kind])));
        const extra: Record<string, unknown> = {
          'members.wishes': { memberId: own.members.owner.id },
          'requests.refused': { since },
          'webhooks.verify': { body: 'e30=', encoding: 'base64', signature: 'x' },
        };
        const { text, code } = await ask(own.members.owner, path, { ...ids, ...(extra[path] as object) });
        expect([path, code]).toEqual([path, 'done']);
        for (const id of foreign) expect(text).not.toContain(id);
      }
    },
    within(60_000),
  );

  it('hides the subject of a user in events, sessions, enrollments and deliveries', async () => {
    const [sub] = (await server.admin.enrollments.list.query({ partnerId: own.shop.partnerId })).map(
      (one) => one.sub,
    );
    const { api } = own.members.owner;
    const { partnerId } = own.shop;
    const shown = JSON.stringify([
      await api.events.list.query({ partnerId }),
      await api.events.show.query({ eventId: own.ids.event }),
      await api.sessions.show.query({ sessionId: own.ids.session }),
      await api.enrollments.list.query({ partnerId }),
      await api.deliveries.show.query({ deliveryId: own.ids.delivery }),
    ]);
    expect(sub?.length).toBeGreaterThan(20);
    expect(shown).not.toContain(sub);
  });

  it('refuses a request limit and sources, which only operators may set, as "Unrecognized key"', async () => {
    const { api } = own.members.owner;
    const clientId = own.ids.client;
    const wanted = { clientId, tokenRequestsPerMinute: 1_000_000 };
    await expect(api.clients.update.mutate(wanted)).rejects.toThrow('Unrecognized key');
    await expect(api.clients.update.mutate({ clientId, sources: ['sandbox'] })).rejects.toThrow(
      'Unrecognized',
    );
    expect(await api.clients.update.mutate({ clientId, name: 'Box' })).toMatchObject({ name: 'Box' });
  });

  it("records a change and a refusal in the audit log with the member's id and role", async () => {
    const { id, api } = own.members.developer;
    const before = await server.admin.auditLog.list.query({ actor: id });
    await api.clients.update.mutate({ clientId: own.ids.client, name: 'Bar' });
    await api.limits.set
      .mutate({ partnerId: own.ids.partner, mode: 'test', perHour: 1 })
      .catch(() => undefined);
    const entries = await server.admin.auditLog.list.query({ actor: id });
    const added = entries.slice(0, entries.length - before.length);
    expect(
      added.map(({ action, outcome, operatorName }) => [action, outcome, operatorName]).toSorted(),
    ).toEqual([
      ['clients.update', 'changed', 'member (developer)'],
      ['limits.set', 'refused', 'member (developer)'],
    ]);
    const acts = await own.members.owner.api.members.acts.query({ partnerId: own.ids.partner, limit: 500 });
    expect(acts.map((one) => one.id)).toEqual(expect.arrayContaining(added.map((one) => one.id)));
    expect(acts.some(({ operatorId }) => operatorId.startsWith('opr_'))).toBe(false);
  });

  it('allows an owner to remove other members, but not to remove itself or change its own role', async () => {
    const { api, id: memberId } = own.members.owner;
    await expect(api.members.remove.mutate({ memberId })).rejects.toThrow('Another owner');
    await expect(api.members.setRole.mutate({ memberId, role: 'viewer' })).rejects.toThrow('Another owner');
    const viewer = { memberId: own.ids.member };
    expect(await api.members.remove.mutate(viewer)).toMatchObject({ status: 'removed', email: null });
    expect((await ask(own.members.viewer, 'partners.show', {})).code).toBe('unauthorized');
  });
});

it('the portal does not exist if SVC_PORTAL is off', async () => {
  const off = await startTestServer();
  for (const path of ['/portal', '/portal/', '/portal/sign-in', '/portal/trpc/partners.show'])
    expect((await fetch(`${off.publicUrl}${path}`)).status).toBe(404);
  await off.stop();
});
