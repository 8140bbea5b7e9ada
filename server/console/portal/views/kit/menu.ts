import type { Messages } from '../../messages/en.ts';

/** The groups of the menu and their pages (`PageRow.nav`), in the order in which they are shown. One page may stand alone. */
export const menu = [
  { pages: ['overview'] },
  { title: 'menuIntegration', pages: ['clients', 'keys', 'webhooks'] },
  { title: 'menuActivity', pages: ['requests', 'sessions', 'users', 'deliveries'] },
  { title: 'menuCompany', pages: ['wallet', 'warnings', 'members', 'auditLog'] },
  { title: 'menuAccount', pages: ['passkeys', 'devices', 'news'] },
] as const satisfies readonly { title?: keyof Messages; pages: readonly (keyof Messages)[] }[];

/** An entry of the menu. A page whose entry is in no group does not compile. */
export type MenuItem = (typeof menu)[number]['pages'][number];
