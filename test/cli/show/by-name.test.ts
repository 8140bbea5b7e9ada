import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  const names = ['Acme Cinema', 'Acme Wine', 'Bale & Sons'];
  for (const name of names) await createPartner(server, { name, client: { name: `${name} shop` } });
});
afterAll(() => server.stop());

describe.each([
  ['partners', ''],
  ['clients', ' shop'],
])('svcadmin %s show with a name', (topic, ending) => {
  const show = (text: string) => svcadmin.run([topic, 'show', text]);

  it('shows the only match, and prefers the whole name to a part of it', async () => {
    expect((await show('bale')).stdout).toContain(`Bale & Sons${ending}`);
    expect((await show(`acme wine${ending}`)).stdout).toContain(`Acme Wine${ending}`);
  });

  it('lists several matches with their ids (exit 2)', async () => {
    const several = await show('acme');
    expect(several).toMatchObject({ code: 2, stdout: '' });
    expect(several.stderr).toMatch(/2 \w+ match acme: name one by its id/);
    expect(several.stderr).toMatch(/(ptr|cli)_\w+ {2}Acme Wine/);
  });

  it('suggests the closest name without a match (exit 4)', async () => {
    const none = await show(`Bale & Sonns${ending}`);
    expect(none).toMatchObject({ code: 4, stdout: '' });
    expect(none.stderr).toMatch(/Did you mean Bale & Sons.* \((ptr|cli)_\w+\)\?/);
    expect((await show('nothing like this at all')).stderr).not.toContain('Did you mean');
  });
});

it('svcadmin partners show finds the partner of the e-mail address of a contact', async () => {
  const [partner] = await server.admin.partners.search.query({ text: 'Bale' });
  await server.admin.partners.update.mutate({
    ...{ partnerId: partner?.id ?? '', contacts: ['robin@bale.example'] },
  });
  expect(await svcadmin.json('partners', 'show', 'robin@bale.example')).toMatchObject({ id: partner?.id });
});
