import { describe, expect, it } from 'vitest';
import { pages } from '../../../server/console/portal/feature.ts';
import { en } from '../../../server/console/portal/messages/en.ts';
import { navigationOf } from '../../../server/console/portal/navigation.ts';
import type { PageRow } from '../../../server/console/portal/views/kit/page.ts';

const menuOf = (role: 'owner' | 'finance', shown: string, query = {}) =>
  navigationOf(pages, pages.find(({ path }) => path === shown) as PageRow, {
    root: '/portal',
    role,
    m: en,
    query,
  });

describe('the menu of the portal', () => {
  it('shows a role its pages only', () => {
    const texts = menuOf('finance', '/').map(({ title, entries }) => [
      title,
      entries.map(({ text }) => text),
    ]);
    expect(texts).toEqual([
      [undefined, ['Overview']],
      ['Integration', ['Clients', 'API keys', 'Webhooks']],
      ['Company', ['Wallet', 'Warnings']],
      ['Account', ['Changelog and status']],
    ]);
  });

  it('leaves out a group whose pages the role may not open', () => {
    expect(menuOf('owner', '/').map(({ title }) => title)).toContain('Activity');
    expect(menuOf('finance', '/').map(({ title }) => title)).not.toContain('Activity');
  });

  it('marks the entry of the shown topic, and keeps the chosen mode', () => {
    const entries = menuOf('owner', '/clients/:client', { mode: 'live' }).flatMap((group) => group.entries);
    expect(entries.filter(({ current }) => current)).toEqual([
      { href: '/portal/clients?mode=live', text: 'Clients', current: true },
    ]);
  });
});
