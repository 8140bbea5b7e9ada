import type { Messages } from '../../messages/en.ts';

interface Group {
  /** Absent for a group of one page, which stands alone. */
  title?: keyof Messages;
  /** The pages, by their entry (`PageRow.nav`). */
  pages: readonly (keyof Messages)[];
}

/** The groups of the menu and their pages, in the order in which they are shown. */
export const menu = [
  { pages: ['overview'] },
  { title: 'menuIntegration', pages: ['clients', 'keys', 'webhooks'] },
  { title: 'menuActivity', pages: ['requests', 'sessions', 'users', 'deliveries'] },
  { title: 'menuCompany', pages: ['wallet', 'warnings', 'members', 'auditLog'] },
  { title: 'menuAccount', pages: ['passkeys', 'devices', 'news'] },
] as const satisfies readonly Group[];

/** An entry of the menu. A page whose entry is in no group does not compile. */
export type MenuItem = (typeof menu)[number]['pages'][number];
